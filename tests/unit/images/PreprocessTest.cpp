// Sizes, the order of patches, and pictures that are too long or too small.
#include "PictureFiles.h"
#include "runtime/images/Preprocess.h"

#include <catch2/catch.hpp>

namespace nnterp {

/// Settings of the released models.
static ImageRules released() {
  ImageRules rules;
  rules.minPixels = 65536;
  rules.maxPixels = 16777216;
  rules.patchSize = 16;
  rules.mean = rules.std = {0.5, 0.5, 0.5};
  return rules;
}

static std::pair<int64_t, int64_t> sizeOf(int64_t height, int64_t width, const ImageRules &rules) {
  Diagnostics diags;
  const auto size = targetSize(height, width, rules, "p", diags);
  INFO(text(diags));
  REQUIRE(size);
  return *size;
}

TEST_CASE("Target sizes are those of the reference's smart_resize", "[images]") {
  using Size = std::pair<int64_t, int64_t>;
  const ImageRules rules = released();
  CHECK(sizeOf(1, 1, rules) == Size{256, 256});
  CHECK(sizeOf(1, 200, rules) == Size{32, 3648});
  CHECK(sizeOf(256, 256, rules) == Size{256, 256});
  CHECK(sizeOf(272, 304, rules) == Size{256, 320}); // 8.5 to 8, 9.5 to 10
  CHECK(sizeOf(1080, 1920, rules) == Size{1088, 1920});
  CHECK(sizeOf(4096, 4096, rules) == Size{4096, 4096});
  CHECK(sizeOf(5000, 4000, rules) == Size{4576, 3648});
  CHECK(sizeOf(12000, 60, rules) == Size{12000, 64});
}

TEST_CASE("NNT1405: pictures longer than 200 times their width", "[images]") {
  Diagnostics diags;
  CHECK_FALSE(targetSize(3, 20000, released(), "p", diags));
  CHECK_FALSE(targetSize(201, 1, released(), "p", diags));
  CHECK(text(diags) ==
        "p: error NNT1405: the picture has 20000 x 3 pixels; expected one side to be at most 200 times the other\n"
        "p: error NNT1405: the picture has 1 x 201 pixels; expected one side to be at most 200 times the other\n");
}

TEST_CASE("NNT1403: settings that would make a picture too large", "[images]") {
  ImageRules rules = released();
  rules.minPixels = rules.maxPixels = maxPicturePixels;
  Diagnostics diags;
  CHECK_FALSE(targetSize(1, 1, rules, "p", diags));
  CHECK(text(diags) ==
        "p: error NNT1403: the picture of 1 x 1 pixels would be resized to 13408 x 13408; expected at most "
        "178956970 pixels in all\n");
}

TEST_CASE("Patches stand in merge blocks; in a patch channel, frame, row and column", "[images]") {
  const TempDir dir;
  const int64_t width = 96, height = 64;
  const std::vector<int> samples = someNumbers(size_t(width * height * 3), 256);
  writeBytes(dir / "p.png", pngFile({width, height, 8, 2, false, "", ""}, samples));
  ImageRules rules = released();
  rules.minPixels = 1;
  Diagnostics diags;
  const std::optional<ImagePatches> patches = loadImage(dir / "p.png", rules, diags);
  REQUIRE(patches);
  CHECK(patches->grids == std::vector<ImageGrid>{{1, 4, 6}});
  REQUIRE(patches->pixelValues.shape == Shape{24, 1536});
  const float *value = patches->pixelValues.as<float>();
  int64_t wrong = 0;
  for (int64_t n = 0; n < 24; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t frame = 0; frame < 2; ++frame)
        for (int64_t y = 0; y < 16; ++y)
          for (int64_t x = 0; x < 16; ++x, ++value) {
            const int64_t row = 2 * (n / 4 / 3) + n / 2 % 2, col = 2 * (n / 4 % 3) + n % 2;
            const int byte = samples[size_t(((row * 16 + y) * width + col * 16 + x) * 3 + c)];
            wrong += *value != (float(byte) - 127.5f) / 127.5f;
          }
  CHECK(wrong == 0);
}

TEST_CASE("The smallest picture", "[images]") {
  const TempDir dir;
  writeBytes(dir / "p.png", pngFile({1, 1, 8, 2, false, "", ""}, {0, 255, 51}));
  Diagnostics diags;
  const std::optional<ImagePatches> patches = loadImage(dir / "p.png", released(), diags);
  REQUIRE(patches);
  CHECK(patches->grids == std::vector<ImageGrid>{{1, 16, 16}});
  for (int64_t i = 0; i < 256 * 1536; ++i)
    if (patches->pixelValues.as<float>()[i] != std::array<float, 3>{-1, 1, -0.6f}[size_t(i / 512 % 3)])
      FAIL("value " << i);
}

TEST_CASE("Errors of several files come in one go", "[images]") {
  const TempDir dir;
  writeBytes(dir / "long.png", pngFile({603, 3, 1, 0, false, "", ""}, someNumbers(603 * 3, 2)));
  writeBytes(dir / "other.gif", "GIF89a");
  Diagnostics diags;
  CHECK_FALSE(loadImages({dir / "long.png", dir / "other.gif", dir / "none.png"}, released(), diags, {"plan", 1, 2}));
  REQUIRE(diags.all().size() == 3);
  CHECK(diags.all()[0].code == "NNT1405");
  CHECK(diags.all()[1].code == "NNT1401");
  CHECK(diags.all()[2].code == "NNT0101");
  CHECK(diags.all()[2].loc.line == 1);
}

TEST_CASE("No images are no patches", "[images]") {
  Diagnostics diags;
  const std::optional<ImagePatches> none = loadImages({}, released(), diags);
  REQUIRE(none);
  CHECK(none->pixelValues.shape == Shape{0, 1536});
}

} // namespace nnterp
