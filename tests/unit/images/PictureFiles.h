// Makes image files for the tests: PNG of any kind by hand, JPEG through libjpeg.
#pragma once

#include "../weights/Fixtures.h"
#include "runtime/images/Picture.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nnterp {

/// A PNG file's kind. Colours as the format numbers them: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA.
struct PngKind {
  int64_t width = 0, height = 0;
  int depth = 8, colours = 2;
  bool interlaced = false;
  std::string before, after; ///< chunks before and after the pixels
};

std::string pngChunk(const std::string &type, const std::string &data);
std::string pngHeader(const PngKind &kind);
/// Samples row by row, pixel by pixel.
std::string pngFile(const PngKind &kind, const std::vector<int> &samples);
int samplesPerPixel(const PngKind &kind);

struct JpegKind {
  int64_t width = 0, height = 0;
  int components = 3; ///< 1 grey, 3 RGB, 4 CMYK
  bool progressive = false;
};
/// A JPEG file of pixels that no two runs make differently.
std::string jpegFile(const JpegKind &kind);

/// A TIFF directory with an orientation, as EXIF has it.
std::string exifWith(int orientation, bool bigEndian = true, int type = 3, uint32_t count = 1);

/// The same numbers in every run, from 0 to `below` - 1.
std::vector<int> someNumbers(size_t count, int below);

/// The picture, or all errors.
struct Decoded {
  std::optional<Picture> picture;
  std::string errors;
};
Decoded decoded(const std::string &bytes);
std::vector<int> samplesOf(const Picture &picture);

} // namespace nnterp
