// Pictures: PNG and JPEG files as red, green and blue.
#pragma once

#include "runtime/abi/Diagnostic.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace nnterp {

/// Rows from the top, pixels from the left, three bytes each.
struct Picture {
  int64_t width = 0, height = 0;
  std::unique_ptr<uint8_t[]> rgb;

  static Picture make(int64_t width, int64_t height); ///< not zeroed, so that untouched memory is never paid for
  size_t rowBytes() const { return size_t(width) * 3; }
  uint8_t *row(int64_t y) { return rgb.get() + size_t(y) * rowBytes(); }
  const uint8_t *row(int64_t y) const { return rgb.get() + size_t(y) * rowBytes(); }
};

/// Larger pictures are refused before anything is allocated, as PIL refuses them. Decoding takes 3 bytes per pixel, as much
/// again where the picture is turned, and for progressive JPEG up to 6 more: at most about 1.5 GiB.
constexpr int64_t maxPicturePixels = 178956970, maxPictureSide = 1000000;

/// What transformers' load_image (PIL's exif_transpose, then convert("RGB")) makes of the bytes of a file, named `file` in messages:
/// alpha is dropped, colour profiles and gamma are ignored, of 16 bits the upper 8 count, but grey of 16 bits is cut off at 255
/// (with a note).
/// Damaged data is an error, also where PIL would show grey for what is missing.
/// Errors: NNT1401 to NNT1404.
std::optional<Picture> decodePicture(std::string_view bytes, const std::string &file, Diagnostics &diags);

/// Reads a file. Errors: NNT0101 (at `from` where given), NNT1401 to NNT1404.
std::optional<Picture> readPicture(const std::string &path, Diagnostics &diags, const SourceLoc &from = {});

} // namespace nnterp
