// Constants of nnterp-expand-math: minimax polynomials, lowest coefficient first, and constants cut into parts.
//
// All were computed for this file by a weighted Remez exchange at 240 bits; the error given after each is the largest
// error of the function built on it, relative to that function, with the coefficients rounded to double. Names ending
// in 64 serve float64 results, names ending in 32 float32 results, which are evaluated in float64 and rounded once.
#pragma once

namespace nnterp::expand::coefficients {

/// (exp(r) - 1 - r) / r^2 on |r| <= ln2/2.
/// Degree 10, error 2^-60.2.
inline constexpr double exp64[] = {0x1.0000000000000p-1,  0x1.555555555555bp-3,  0x1.5555555555503p-5,
                                   0x1.111111110ec61p-7,  0x1.6c16c16c301f2p-10, 0x1.a01a01b37c883p-13,
                                   0x1.a01a01372aac3p-16, 0x1.71ddf025aa981p-19, 0x1.27e5b33b4b8bap-22,
                                   0x1.af6bde962d0ffp-26, 0x1.1e3e8594d06f9p-29};

/// The same for float32 results.
/// Degree 7, error 2^-45.8.
inline constexpr double exp32[] = {0x1.fffffffff1433p-2,  0x1.555555558a2b2p-3,  0x1.5555557dec20cp-5,
                                   0x1.1111108dc6b66p-7,  0x1.6c163beae2424p-10, 0x1.a01b745835a1dp-13,
                                   0x1.a16e333614849p-16, 0x1.7100fed09c354p-19};

/// (2 atanh(s)/s - 2) / s^2 in s^2, for s = f/(2+f), 1+f in [sqrt(1/2), sqrt(2)].
/// Degree 6, error 2^-58.9.
inline constexpr double log64[] = {0x1.5555555555592p-1, 0x1.999999997fdb5p-2, 0x1.24924941f14f8p-2,
                                   0x1.c71c52093b69fp-3, 0x1.74663eef03a2cp-3, 0x1.39a1ba16135dap-3,
                                   0x1.2f05698ff90b2p-3};

/// The same for float32 results.
/// Degree 4, error 2^-44.9.
inline constexpr double log32[] = {0x1.555555561e2ddp-1, 0x1.999996a98c34ep-2, 0x1.249411cf5a897p-2,
                                   0x1.c62b1fcc75a39p-3, 0x1.9114dfb12c2f1p-3};

/// (tanh(x)/x - 1) / x^2 in x^2, for |x| <= 0.55.
/// Degree 10, error 2^-58.5.
inline constexpr double tanh64[] = {-0x1.555555555554fp-2,  0x1.111111111079fp-3,  -0x1.ba1ba1b97d88ap-5,
                                    0x1.664f4859708ebp-6,   -0x1.226e2f1477f06p-7, 0x1.d6d29b966fd10p-9,
                                    -0x1.7d8fd3a7e5878p-10, 0x1.3483ae67289a6p-11, -0x1.e96fc46ffc938p-13,
                                    0x1.5d74569888f44p-14,  -0x1.471102fa08caep-16};

/// The same for float32 results and |x| <= 0.25.
/// Degree 5, error 2^-50.4.
inline constexpr double tanh32[] = {-0x1.5555555552707p-2, 0x1.1111110a053eep-3,  -0x1.ba1b964a34227p-5,
                                    0x1.664b01f62e5e2p-6,  -0x1.219e94c0dd40ap-7, 0x1.afbaa303838f7p-9};

/// erf(x)/x - 1 in x^2, for |x| <= 1.
/// Degree 12, error 2^-56.3.
inline constexpr double erf64[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b20p-4,
                                   -0x1.b82ce3128499dp-6,  0x1.565bcd0db02f0p-8,   -0x1.c02db3d8ed418p-11,
                                   0x1.f9a321a120bb2p-14,  -0x1.f4d1df397df6ap-17, 0x1.b9def1a04a694p-20,
                                   -0x1.5f1d36d4ce2f5p-23, 0x1.f7a412e9cb8a4p-27,  -0x1.386ac2e78d88fp-30,
                                   0x1.0579b0299be70p-34};

/// The same for float32 results.
/// Degree 9, error 2^-45.6.
inline constexpr double erf32[] = {0x1.06eba8214d879p-3,  -0x1.812746b025a65p-2,  0x1.ce2f21972280ep-4,
                                   -0x1.b82ce143fb8adp-6, 0x1.565b9e545296cp-8,   -0x1.c02840c21f980p-11,
                                   0x1.f93f7069ad1e4p-14, -0x1.f05e41dc75927p-17, 0x1.9a93f5276dd3bp-20,
                                   -0x1.c0965ae0d307cp-24};

/// exp(x^2) erfc(x) in t = (x - 2.375)/(x + 2), for 1 <= x <= 6; the error is that of erf(x).
/// Degree 13, error 2^-58.3.
inline constexpr double erfc64[] = {0x1.c3987d04d0b97p-3,   -0x1.6ac70cc2d1368p-2,  0x1.7b4c1e39fd2a2p-3,
                                    -0x1.e3528b6ba3ef3p-5,  0x1.2f058065d0ab3p-8,   0x1.0c815fc3e67f0p-8,
                                    -0x1.b2377483b1895p-11, -0x1.fa7932adf5ea3p-12, 0x1.78c30f055763ap-14,
                                    0x1.5a521fa47a764p-14,  -0x1.2af26b3ae31c6p-19, -0x1.0ed3de296de24p-16,
                                    -0x1.77a3444777a41p-18, -0x1.0f86fc8aace60p-21};

/// The same for float32 results.
/// Degree 9, error 2^-48.0.
inline constexpr double erfc32[] = {
    0x1.c3987d04c8b5cp-3, -0x1.6ac70cc2daec2p-2,  0x1.7b4c1e529d101p-3,   -0x1.e35285c71d828p-5, 0x1.2f05f38101d4fp-8,
    0x1.0c7a1944fac1cp-8, -0x1.b45dd36666632p-11, -0x1.0581ccac3f7d2p-11, 0x1.f017f28c0c9dcp-15, 0x1.d9866891ae66ap-15};

/// (sin(x)/x - 1) / x^2 in x^2, for |x| <= pi/4.
/// Degree 5, error 2^-57.4.
inline constexpr double sin64[] = {-0x1.5555555555549p-3, 0x1.111111110f881p-7,   -0x1.a01a019c126a6p-13,
                                   0x1.71de357873c0fp-19, -0x1.ae5e66d46c6ffp-26, 0x1.5d932f2898724p-33};

/// The same for float32 results.
/// Degree 4, error 2^-47.6.
inline constexpr double sin32[] = {-0x1.5555555552404p-3, 0x1.1111110ca33e9p-7, -0x1.a019f95b97a0ap-13,
                                   0x1.71d77d86fc058p-19, -0x1.a96715eba79ecp-26};

/// (cos(x) - 1 + x^2/2) / x^4 in x^2, for |x| <= pi/4.
/// Degree 5, error 2^-59.9.
inline constexpr double cos64[] = {0x1.555555555554cp-5,   -0x1.6c16c16c15184p-10, 0x1.a01a019cb26f0p-16,
                                   -0x1.27e4f80a765ccp-22, 0x1.1ee9ec47b0eb7p-29,  -0x1.8faecf2c7c7a3p-37};

/// The same for float32 results.
/// Degree 4, error 2^-53.5.
inline constexpr double cos32[] = {0x1.5555555553113p-5, -0x1.6c16c1676ba99p-10, 0x1.a019faaa633d1p-16,
                                   -0x1.27e02a8a5be24p-22, 0x1.1bc7c4da2c0abp-29};

/// pi/2 in parts of 33 bits, so that a product with an integer below 2^20 is exact; the last part is the rest, rounded.
inline constexpr double halfPi64[] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e000000p-69,
                                      0x1.b839a252049c1p-104};
inline constexpr double halfPi32[] = {0x1.921fb54400000p+0, 0x1.0b4611a626331p-34};

/// ln 2 in a part of 42 bits, so that a product with an exponent is exact, and the rest.
inline constexpr double ln2High = 0x1.62e42fefa3800p-1, ln2Low = 0x1.ef35793c76730p-45;
inline constexpr double ln2 = 0x1.62e42fefa39efp-1;
inline constexpr double oneOverLn2 = 0x1.71547652b82fep+0;
inline constexpr double twoOverPi = 0x1.45f306dc9c883p-1;

} // namespace nnterp::expand::coefficients
