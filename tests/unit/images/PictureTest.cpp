// What files decode to: every kind of PNG, and files that PIL has decoded.
#include "PictureFiles.h"
#include "runtime/weights/Safetensors.h"

#include <catch2/catch.hpp>

namespace nnterp {

TEST_CASE("Files of many kinds decode as PIL's exif_transpose and convert(\"RGB\") do", "[images]") {
  Diagnostics diags;
  const std::optional<Safetensors> expected = Safetensors::open(data("images/decoding/expected.safetensors"), diags);
  REQUIRE(expected);
  CHECK(expected->entries().size() == 21);
  for (const SafetensorsEntry &entry : expected->entries()) {
    INFO(entry.key);
    const std::optional<Picture> picture = readPicture(data("images/decoding/" + entry.key), diags);
    REQUIRE(picture);
    REQUIRE(entry.shape == Shape{picture->height, picture->width, 3});
    CHECK(std::memcmp(picture->rgb.get(), expected->tensor(entry).data,
                      picture->rowBytes() * size_t(picture->height)) == 0);
  }
}

/// What PIL makes of one pixel's samples.
static std::vector<int> rgbOf(const PngKind &kind, const int *samples, const std::vector<int> &palette) {
  auto grey = [](int value) { return std::vector<int>{value, value, value}; };
  if (kind.colours == 3) {
    std::vector<int> rgb;
    for (size_t at = size_t(samples[0]) * 3; rgb.size() < 3; ++at)
      rgb.push_back(at < palette.size() ? palette[at] : 0);
    return rgb;
  }
  if (kind.colours == 0)
    return grey(kind.depth == 16 ? std::min(samples[0], 255) : samples[0] * 255 / ((1 << std::min(kind.depth, 8)) - 1));
  const int shift = kind.depth - 8;
  return kind.colours == 4 ? grey(samples[0] >> shift)
                           : std::vector<int>{samples[0] >> shift, samples[1] >> shift, samples[2] >> shift};
}

TEST_CASE("PNG of every colour type, depth and size, interlaced or not", "[images]") {
  const std::vector<std::pair<int, std::vector<int>>> kinds = {
      {0, {1, 2, 4, 8, 16}}, {2, {8, 16}}, {3, {1, 2, 4, 8}}, {4, {8, 16}}, {6, {8, 16}}};
  const std::vector<int> palette = someNumbers(3 * 11, 256); // shorter than indices reach, for depths 4 and 8
  for (const auto &[colours, depths] : kinds)
    for (const int depth : depths)
      for (const bool interlaced : {false, true})
        for (const auto &[width, height] :
             std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 2}, {7, 9}, {33, 17}, {1, 6}, {5, 1}}) {
          INFO("colours " << colours << ", depth " << depth << ", interlaced " << interlaced << ", " << width << " x "
                          << height);
          PngKind kind{width, height, depth, colours, interlaced, "", ""};
          std::vector<int> used = palette;
          used.resize(std::min(used.size(), size_t(3) << depth));
          if (colours == 3)
            kind.before = pngChunk("PLTE", std::string(used.begin(), used.end())) + pngChunk("tRNS", "\x40");
          const std::vector<int> samples = someNumbers(size_t(width * height * samplesPerPixel(kind)),
                                                       depth == 16 && colours == 0 ? 600 : 1 << depth);
          std::vector<int> expected;
          for (size_t i = 0; i < samples.size(); i += size_t(samplesPerPixel(kind)))
            for (const int value : rgbOf(kind, &samples[i], used))
              expected.push_back(value);
          const Decoded result = decoded(pngFile(kind, samples));
          REQUIRE(result.errors.find("error") == std::string::npos);
          CHECK(result.picture->width == width);
          CHECK(result.picture->height == height);
          CHECK(samplesOf(*result.picture) == expected);
        }
}

TEST_CASE("Gamma, transparency and profiles change no pixel", "[images]") {
  PngKind kind{2, 1, 8, 2, false, "", ""};
  const std::vector<int> samples = {1, 2, 3, 250, 128, 0};
  kind.before = pngChunk("gAMA", std::string("\0\0\x40\0", 4)) + pngChunk("sRGB", std::string(1, '\0')) +
                pngChunk("tRNS", std::string("\0\1\0\2\0\3", 6));
  CHECK(samplesOf(*decoded(pngFile(kind, samples)).picture) == samples);
}

TEST_CASE("Grey of 16 bits that is cut off gets a note", "[images]") {
  const PngKind kind{3, 1, 16, 0, false, "", ""};
  CHECK(decoded(pngFile(kind, {0, 7, 255})).errors == "");
  const Decoded cut = decoded(pngFile(kind, {0, 256, 65535}));
  CHECK(samplesOf(*cut.picture) == std::vector<int>{0, 0, 0, 255, 255, 255, 255, 255, 255});
  CHECK(cut.errors == "p: note: this picture's grey has 16 bits, and what is above 255 counts as white, as in the "
                      "reference; convert it to 8 bits to have it seen\n");
}

TEST_CASE("A damaged chunk of metadata is skipped", "[images]") {
  PngKind kind{2, 1, 8, 2, false, "", ""};
  const std::vector<int> samples = {1, 2, 3, 250, 128, 0};
  kind.before = pngChunk("eXIf", exifWith(6));
  kind.before.back() ^= 1; // its checksum
  const Decoded result = decoded(pngFile(kind, samples));
  CHECK(result.errors == "");
  CHECK(samplesOf(*result.picture) == samples);
}

TEST_CASE("Bytes behind the end of a JPEG file do not matter", "[images]") {
  const std::string file = jpegFile({20, 10});
  CHECK(samplesOf(*decoded(file + "trailer").picture) == samplesOf(*decoded(file).picture));
}

} // namespace nnterp
