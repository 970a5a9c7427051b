// Orientations: where they stand in metadata, and what they do.
#include "PictureFiles.h"
#include "runtime/images/Orientation.h"

#include <catch2/catch.hpp>

namespace nnterp {

static int of(const std::string &exif, const std::string &xmp = "") { return int(findOrientation({exif, xmp})); }

TEST_CASE("EXIF's orientation in both byte orders", "[images]") {
  for (int number = 1; number <= 8; ++number)
    for (const bool big : {false, true}) {
      CHECK(of(exifWith(number, big)) == number);
      CHECK(of(exifWith(number, big, 4)) == number);
      CHECK(of(std::string("Exif\0\0", 6) + exifWith(number, big)) == number);
    }
}

TEST_CASE("XMP counts where EXIF has no orientation", "[images]") {
  const std::string attribute = "<x tiff:Orientation=\"6\"/>", element = "<tiff:Orientation>8</tiff:Orientation>";
  CHECK(of("", attribute) == 6);
  CHECK(of("", element) == 8);
  CHECK(of("", "tiff:Orientation=\"x\" " + element) == 8);
  CHECK(of(exifWith(3), attribute) == 3);
  CHECK(of(exifWith(0), attribute) == 1);           // there, without meaning
  CHECK(of(exifWith(6, true, 1), element) == 1);    // there, of another type
  CHECK(of(exifWith(6, true, 3, 0), element) == 8); // nothing there
  CHECK(of("", "tiff:Orientation=\"9\"") == 1);
  CHECK(of("", "tiff:Orientation") == 1);
}

TEST_CASE("Damaged metadata is upright", "[images]") {
  CHECK(of("") == 1);
  CHECK(of("junkjunkjunk") == 1);
  CHECK(of(exifWith(9)) == 1);
  const std::string whole = exifWith(6);
  for (size_t size = 0; size < 32; ++size)
    CHECK(of(whole.substr(0, size)) == 1);
  std::string astray = whole;
  astray.replace(4, 4, "\xff\xff\xff\xff");
  CHECK(of(astray) == 1);
  CHECK(of(exifWith(6, true, 4, 2)) == 1); // two values, said to stand behind the end
}

TEST_CASE("Raw profiles", "[images]") {
  CHECK(bytesOfRawProfile("\nexif\n  4\n4d4D00\n2a\n") == std::string("MM\0*", 4));
  CHECK(bytesOfRawProfile("exif") == "");
  CHECK(bytesOfRawProfile("\nexif\n 1\nxy\n") == "");
}

TEST_CASE("Each orientation turns as EXIF says", "[images]") {
  // The stored picture:  0 1 2     What is to be shown, by orientation:
  //                      3 4 5
  const std::vector<std::vector<std::vector<int>>> shown = {
      {{0, 1, 2}, {3, 4, 5}},   {{2, 1, 0}, {5, 4, 3}},   {{5, 4, 3}, {2, 1, 0}},   {{3, 4, 5}, {0, 1, 2}},
      {{0, 3}, {1, 4}, {2, 5}}, {{3, 0}, {4, 1}, {5, 2}}, {{5, 2}, {4, 1}, {3, 0}}, {{2, 5}, {1, 4}, {0, 3}}};
  for (int number = 1; number <= 8; ++number) {
    INFO(number);
    Picture stored = Picture::make(3, 2);
    for (int i = 0; i < 18; ++i)
      stored.rgb[size_t(i)] = uint8_t(i / 3 * 10 + i % 3);
    const Picture picture = oriented(std::move(stored), Orientation(number));
    const auto &expected = shown[size_t(number - 1)];
    REQUIRE(picture.height == int64_t(expected.size()));
    REQUIRE(picture.width == int64_t(expected[0].size()));
    for (int64_t y = 0; y < picture.height; ++y)
      for (int64_t x = 0; x < picture.width; ++x)
        for (int c = 0; c < 3; ++c)
          CHECK(picture.row(y)[x * 3 + c] == expected[size_t(y)][size_t(x)] * 10 + c);
  }
}

} // namespace nnterp
