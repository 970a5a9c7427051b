// Errors of decoding: other formats, damaged files, sizes that would fill the memory.
#include "PictureFiles.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace nnterp {

static std::string errorsOf(const std::string &bytes) {
  const Decoded result = decoded(bytes);
  CHECK(result.picture.has_value() == result.errors.empty());
  return result.errors;
}

static bool startsWith(const std::string &text, const std::string &start) {
  return text.substr(0, start.size()) == start;
}

TEST_CASE("NNT1401: other formats are named", "[images]") {
  const std::string expected = "p: error NNT1401: expected a PNG or JPEG file; found ";
  CHECK(errorsOf("") == expected + "an empty file\n");
  CHECK(errorsOf("GIF89a....") == expected + "a GIF file\n");
  CHECK(errorsOf("RIFF....WEBPVP8 ") == expected + "a WebP file\n");
  CHECK(errorsOf(std::string("II*\0\10\0\0\0", 8)) == expected + "a TIFF file\n");
  CHECK(errorsOf("....ftypheic") == expected + "a HEIF file\n");
  CHECK(errorsOf("\x89PNX\r\n\x1a\n") == expected + "a file that begins with the bytes 89 50 4e 58\n");
  CHECK(errorsOf("a") == expected + "a file that begins with the bytes 61\n");
}

TEST_CASE("NNT0101: a picture that is not there", "[images]") {
  Diagnostics diags;
  CHECK_FALSE(readPicture("/nowhere/a.png", diags, {"plan.json", 3, 4}));
  CHECK(text(diags) == "plan.json:3:4: error NNT0101: cannot read \"/nowhere/a.png\": No such file or directory\n");
}

TEST_CASE("NNT1402: a PNG file cut at any byte", "[images]") {
  for (const bool interlaced : {false, true}) {
    const std::string whole =
        pngFile({23, 9, 8, 2, interlaced, "", pngChunk("eXIf", exifWith(6))}, someNumbers(23 * 9 * 3, 256));
    REQUIRE(errorsOf(whole) == "");
    for (size_t size = 8; size < whole.size(); ++size)
      CHECK(errorsOf(whole.substr(0, size)) ==
            "p: error NNT1402: the PNG file is damaged: it ends before the picture does\n");
  }
}

TEST_CASE("NNT1402: a JPEG file cut at any byte", "[images]") {
  for (const bool progressive : {false, true}) {
    const std::string whole = jpegFile({23, 19, 3, progressive});
    REQUIRE(errorsOf(whole) == "");
    for (size_t size = 3; size < whole.size(); ++size) {
      INFO(size);
      CHECK(errorsOf(whole.substr(0, size)) ==
            "p: error NNT1402: the JPEG file is damaged: it ends before the picture does\n");
    }
  }
}

TEST_CASE("NNT1402: damaged PNG files", "[images]") {
  const PngKind kind{5, 4, 8, 0, false, "", ""};
  const std::vector<int> samples = someNumbers(20, 256);
  const std::string whole = pngFile(kind, samples), damaged = "p: error NNT1402: the PNG file is damaged: ";
  std::string wrong = whole;
  wrong[wrong.find("IDAT") + 8] ^= 0x10;
  CHECK(startsWith(errorsOf(wrong), damaged + "IDAT: "));
  CHECK(errorsOf(pngHeader({0, 4, 8, 0, false, "", ""})) == damaged + "Invalid IHDR data\n");
  CHECK(errorsOf(pngHeader({5, 4, 7, 0, false, "", ""})) == damaged + "Invalid IHDR data\n");
  CHECK(errorsOf(pngFile({5, 4, 8, 3, false, "", ""}, samples)) == damaged + "IDAT: Missing PLTE before IDAT\n");
  CHECK(startsWith(errorsOf(pngFile({5, 3, 8, 0, false, "", ""}, samples).replace(8, 25, pngHeader(kind).substr(8))),
                   damaged));
}

TEST_CASE("NNT1402: damaged JPEG files", "[images]") {
  const std::string whole = jpegFile({40, 40}), damaged = "p: error NNT1402: the JPEG file is damaged: ";
  std::string wrong = whole;
  wrong.replace(wrong.size() / 2, 2, "\xff\xd9"); // the end, in the middle of the pixels
  CHECK(startsWith(errorsOf(wrong), damaged + "Corrupt JPEG data: premature end of data segment"));
  const size_t table = whole.find("\xff\xc4");
  wrong = whole;
  wrong[table + 4] = char(0x7f);
  CHECK(startsWith(errorsOf(wrong), damaged + "Bogus DHT index"));
  CHECK(startsWith(errorsOf("\xff\xd8\xff\xd9"), damaged));
}

TEST_CASE("NNT1402: a small JPEG file of very many scans", "[images]") {
  const std::string whole = jpegFile({16, 16, 1, true});
  const size_t first = whole.find("\xff\xda"), second = whole.find("\xff\xda", first + 2);
  const std::string tables = whole.substr(first, second - first); // the first scan, and the tables of the second
  std::string many = whole.substr(0, second);
  for (int i = 0; i < 600; ++i)
    many += tables;
  CHECK(errorsOf(many + "\xff\xd9") == "p: error NNT1402: the JPEG file is damaged: it has more than 500 scans\n");
}

TEST_CASE("NNT1403, NNT1402: sizes that no file should have", "[images]") {
  auto png = [](int64_t width, int64_t height, int depth, int colours) {
    return pngHeader({width, height, depth, colours, false, "", ""}) + pngChunk("IDAT", "");
  };
  const std::string most = " pixels; expected at most 178956970 pixels in all, and 1000000 along a side\n";
  const std::string start = "p: error NNT1403: the picture has ";
  CHECK(errorsOf(png(20000, 10000, 1, 0)) == start + "20000 x 10000" + most);
  CHECK(errorsOf(png(1000001, 1, 1, 0)) == start + "1000001 x 1" + most);
  CHECK(errorsOf(png(2147483647, 2147483647, 16, 6)) == start + "2147483647 x 2147483647" + most);
  const std::string damaged = "p: error NNT1402: the PNG file is damaged: ";
  CHECK(errorsOf(png(13000, 13000, 16, 6)) ==
        damaged + "its header promises 13000 x 13000 pixels, which its 45 bytes cannot hold\n");

  auto jpeg = [](const std::string &heightAndWidth) {
    std::string bytes = jpegFile({20, 10});
    return bytes.replace(bytes.find("\xff\xc0") + 5, 4, heightAndWidth);
  };
  CHECK(errorsOf(jpeg("\x80\x80\x80\x80")) == start + "32896 x 32896" + most);
  CHECK(errorsOf(jpeg("\xff\xff\xff\xff")) ==
        "p: error NNT1403: the picture is too large for JPEG: Maximum supported image dimension is "
        "65500 pixels\n");
  CHECK(startsWith(errorsOf(jpeg("\x20\x20\x20\x20")),
                   "p: error NNT1402: the JPEG file is damaged: its header promises 8224 x 8224 pixels, which its "));
}

TEST_CASE("NNT1404: colours and kinds that are not decoded", "[images]") {
  const std::string start = "p: error NNT1404: ";
  CHECK(errorsOf(jpegFile({9, 9, 4})) ==
        start + "the colours of the JPEG file are CMYK; expected grey, RGB or YCbCr\n");
  CHECK(startsWith(errorsOf(readBytes(data("images/decoding/cmyk.jpg"))),
                   start + "the colours of the JPEG file are CMYK"));
  std::string lossless = jpegFile({9, 9});
  lossless[lossless.find("\xff\xc0") + 1] = char(0xc3);
  CHECK(errorsOf(lossless) == start + "this kind of JPEG is not supported: Unsupported JPEG process: SOF type 0xc3\n");
  std::string twelve = jpegFile({9, 9});
  twelve[twelve.find("\xff\xc0") + 4] = 12;
  CHECK(errorsOf(twelve) == start + "this kind of JPEG is not supported: Unsupported JPEG data precision 12\n");
}

TEST_CASE("Files changed anywhere decode or end in one error", "[images]") {
  const std::string files[] = {
      pngFile({23, 9, 4, 3, true, pngChunk("PLTE", "abcdefghi"), pngChunk("eXIf", exifWith(7))},
              someNumbers(23 * 9, 16)),
      pngFile({23, 9, 16, 6, false, "", ""}, someNumbers(23 * 9 * 4, 65536)), jpegFile({33, 20}),
      jpegFile({33, 20, 3, true})};
  int decodes = 0;
  for (const std::string &whole : files)
    for (size_t at = 0; at < whole.size(); ++at)
      for (const int value : {0x00, 0xff, whole[at] ^ 1}) {
        std::string wrong = whole;
        wrong[at] = char(value);
        const Decoded result = decoded(wrong);
        REQUIRE(result.picture.has_value() == result.errors.empty());
        decodes += result.picture.has_value();
      }
  CHECK(decodes > 100);
}

} // namespace nnterp
