// What the two decoders share: the errors of a picture, and the check of its size.
#pragma once

#include "runtime/images/Orientation.h"
#include "runtime/images/Picture.h"

namespace nnterp {

/// Reports errors of one file.
struct PictureErrors {
  const std::string &file;
  Diagnostics &diags;

  bool error(const char *code, const std::string &message) const {
    diags.error(code, {file, 0, 0}, message);
    return false;
  }
  /// NNT1402; `format`: "PNG" or "JPEG".
  bool damaged(const char *format, const std::string &reason) const {
    return error("NNT1402", std::string("the ") + format + " file is damaged: " + reason);
  }
};

/// Whether a picture of this size may be allocated: at most maxPicturePixels, and `bytes` of file can hold it at all, given how many
/// pixels a byte holds at most. Errors: NNT1402, NNT1403.
bool checkPictureSize(int64_t width, int64_t height, size_t bytes, int64_t pixelsPerByte, const char *format,
                      const PictureErrors &errors);

/// A picture as it stands in the file, and which way up that is.
struct StoredPicture {
  Picture picture;
  Orientation orientation;
};

std::optional<StoredPicture> decodePng(std::string_view bytes, const PictureErrors &errors);
std::optional<StoredPicture> decodeJpeg(std::string_view bytes, const PictureErrors &errors);

} // namespace nnterp
