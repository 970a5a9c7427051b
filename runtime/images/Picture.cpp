// Tells the formats of pictures apart, and checks sizes before anything is allocated.
#include "runtime/images/Decoders.h"
#include "runtime/weights/MappedFile.h"

#include <algorithm>

namespace nnterp {

Picture Picture::make(int64_t width, int64_t height) {
  Picture picture{width, height, nullptr};
  picture.rgb.reset(new uint8_t[picture.rowBytes() * size_t(height)]);
  return picture;
}

bool checkPictureSize(int64_t width, int64_t height, size_t bytes, int64_t pixelsPerByte, const char *format,
                      const PictureErrors &errors) {
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (std::max(width, height) > maxPictureSide || width * height > maxPicturePixels)
    return errors.error("NNT1403", "the picture has " + size + "; expected at most " +
                                       std::to_string(maxPicturePixels) + " pixels in all, and " +
                                       std::to_string(maxPictureSide) + " along a side");
  if (width * height / pixelsPerByte > int64_t(bytes))
    return errors.damaged(format, "its header promises " + size + ", which its " + std::to_string(bytes) +
                                      " bytes cannot hold");
  return true;
}

namespace {

struct Format {
  const char *name;
  size_t offset;
  std::string_view magic;
};

constexpr std::string_view pngMagic("\x89PNG\r\n\x1a\n", 8), jpegMagic("\xff\xd8\xff", 3);

/// Formats that people have pictures in, and that are not decoded here.
constexpr Format others[] = {
    {"a GIF file", 0, "GIF8"},        {"a WebP file", 8, "WEBP"},       {"a BMP file", 0, "BM"},
    {"a TIFF file", 0, {"II*\0", 4}}, {"a TIFF file", 0, {"MM\0*", 4}}, {"an AVIF file", 4, "ftypavif"},
    {"a HEIF file", 4, "ftyphei"},    {"a HEIF file", 4, "ftypmif1"},   {"a JPEG 2000 file", 4, "jP  \r\n"},
    {"a JPEG XL file", 0, "\xff\n"},  {"a JPEG XL file", 4, "JXL "},    {"a PDF file", 0, "%PDF"},
    {"an SVG file", 0, "<svg"},       {"an XML file", 0, "<?xml"},      {"an HTML page", 0, "<!DOCTYPE html"},
};

/// "a GIF file", "an empty file", "bytes 12 34 …": for messages.
std::string describe(std::string_view bytes) {
  if (bytes.empty())
    return "an empty file";
  for (const Format &format : others)
    if (bytes.size() > format.offset && bytes.substr(format.offset, format.magic.size()) == format.magic)
      return format.name;
  std::string text = "a file that begins with the bytes";
  for (const char c : bytes.substr(0, 4))
    for (const char digit : {' ', "0123456789abcdef"[uint8_t(c) >> 4], "0123456789abcdef"[c & 15]})
      text += digit;
  return text;
}

} // namespace

std::optional<Picture> decodePicture(std::string_view bytes, const std::string &file, Diagnostics &diags) {
  const PictureErrors errors{file, diags};
  const bool png = bytes.substr(0, pngMagic.size()) == pngMagic, jpeg = bytes.substr(0, jpegMagic.size()) == jpegMagic;
  if (!png && !jpeg) {
    errors.error("NNT1401", "expected a PNG or JPEG file; found " + describe(bytes));
    return std::nullopt;
  }
  std::optional<StoredPicture> stored = png ? decodePng(bytes, errors) : decodeJpeg(bytes, errors);
  return stored ? std::optional(oriented(std::move(stored->picture), stored->orientation)) : std::nullopt;
}

std::optional<Picture> readPicture(const std::string &path, Diagnostics &diags, const SourceLoc &from) {
  const MappedFile file = mapFile(path, diags, from);
  return file ? decodePicture(file.bytes, path, diags) : std::nullopt;
}

} // namespace nnterp
