// Names of integer types, and what is known of each: no standard templates in files of a tier.
#pragma once

#include "runtime/gpu/emulator/tier/Lanes.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

template <class T> struct Widths;
template <> struct Widths<u16> { using Unsigned = u16; using Wide = u32; };
template <> struct Widths<s16> { using Unsigned = u16; using Wide = s32; };
template <> struct Widths<u32> { using Unsigned = u32; using Wide = u64; };
template <> struct Widths<s32> { using Unsigned = u32; using Wide = s64; };
template <> struct Widths<u64> { using Unsigned = u64; using Wide = unsigned __int128; };
template <> struct Widths<s64> { using Unsigned = u64; using Wide = __int128; };
template <class T> using Unsigned = typename Widths<T>::Unsigned;
template <class T> using Wide = typename Widths<T>::Wide;
template <class T> constexpr int bits = 8 * int(sizeof(T));
template <class T> constexpr bool isSigned = T(-1) < T(0);
template <class T> constexpr T lowest = isSigned<T> ? T(Unsigned<T>(1) << (bits<T> - 1)) : T(0);
template <class T> constexpr T highest = T(~lowest<T>);

} // namespace nnterp::gpu::emulator::NNTERP_TIER

#define SIGNED(key, F, Op) {key ".s16", F<Op, s16>}, {key ".s32", F<Op, s32>}, {key ".s64", F<Op, s64>}
#define UNSIGNED(key, F, Op) {key ".u16", F<Op, u16>}, {key ".u32", F<Op, u32>}, {key ".u64", F<Op, u64>}
#define BITS(key, F, Op) {key ".b16", F<Op, u16>}, {key ".b32", F<Op, u32>}, {key ".b64", F<Op, u64>}
#define WHOLE(key, F, Op) SIGNED(key, F, Op), UNSIGNED(key, F, Op)
