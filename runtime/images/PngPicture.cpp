// Decodes PNG through libpng, which is asked for samples as they are stored: what they mean is decided here, as PIL
// does.
#include "runtime/images/Decoders.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <png.h>
#include <vector>

namespace nnterp {

namespace {

/// DEFLATE makes at most 1032 bytes of one.
constexpr int64_t mostInflation = 1032;

/// libpng reports errors by jumping. So whatever calls it runs inside `guarded`, and owns nothing there.
class PngReader {
public:
  PngReader(std::string_view bytes, const PictureErrors &errors) : left(bytes), size(bytes.size()), errors(errors) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, onError, [](png_structp, png_const_charp) {});
    info = png ? png_create_info_struct(png) : nullptr;
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader &) = delete;

  std::optional<StoredPicture> read();

private:
  static void onError(png_structp png, png_const_charp message) {
    auto *self = static_cast<PngReader *>(png_get_error_ptr(png));
    std::snprintf(self->message, sizeof self->message, "%s", message);
    longjmp(png_jmpbuf(png), 1);
  }
  static void onRead(png_structp png, png_bytep to, size_t count) {
    auto *self = static_cast<PngReader *>(png_get_io_ptr(png));
    if (count > self->left.size())
      png_error(png, "it ends before the picture does");
    std::memcpy(to, self->left.data(), count);
    self->left.remove_prefix(count);
  }
  template <class Body> bool guarded(const Body &body) {
    if (setjmp(png_jmpbuf(png)))
      return false;
    body();
    return true;
  }

  void readHeader();
  void startPixels();
  void readPixels(Picture &picture, uint8_t *line);
  void convert(const uint8_t *samples, int64_t count, uint8_t *out, ptrdiff_t step);
  OrientationSources metadata() const;
  std::nullopt_t damaged() const {
    errors.damaged("PNG", message);
    return std::nullopt;
  }

  std::string_view left;
  const size_t size;
  const PictureErrors &errors;
  png_structp png = nullptr;
  png_infop info = nullptr;
  char message[128] = "";

  png_uint_32 width = 0, height = 0;
  int depth = 0, colours = 0, interlace = 0;
  bool whitened = false;        ///< a sample was cut off
  uint8_t palette[256][3] = {}; ///< indices beyond the file's palette are black
};

void PngReader::readHeader() {
  png_set_read_fn(png, this, onRead);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); // ours are checked next
  png_set_benign_errors(png, 1);
  png_read_info(png, info);
  png_get_IHDR(png, info, &width, &height, &depth, &colours, &interlace, nullptr, nullptr);
}

/// Allocates lines: only after the size has been checked.
void PngReader::startPixels() {
  png_set_packing(png);
  png_read_update_info(png, info);
  png_colorp entries = nullptr;
  int count = 0;
  if (png_get_PLTE(png, info, &entries, &count))
    for (int i = 0; i < std::min(count, 256); ++i) {
      const uint8_t rgb[3] = {entries[i].red, entries[i].green, entries[i].blue};
      std::copy(rgb, rgb + 3, palette[i]);
    }
}

/// Samples of one row, or of its part in one pass, to pixels `step` bytes apart.
void PngReader::convert(const uint8_t *samples, int64_t count, uint8_t *out, ptrdiff_t step) {
  const bool colour = colours & PNG_COLOR_MASK_COLOR, alpha = colours & PNG_COLOR_MASK_ALPHA;
  const int bytes = depth == 16 ? 2 : 1;
  const ptrdiff_t stride = ((colour && colours != PNG_COLOR_TYPE_PALETTE ? 3 : 1) + alpha) * bytes;
  if (colours == PNG_COLOR_TYPE_PALETTE) {
    for (int64_t i = 0; i < count; ++i, out += step)
      std::copy(palette[samples[i]], palette[samples[i]] + 3, out);
  } else if (colour) {
    for (int64_t i = 0; i < count; ++i, samples += stride, out += step)
      for (int c = 0; c < 3; ++c)
        out[c] = samples[c * bytes];
  } else {
    const int scale = depth < 8 ? 255 / ((1 << depth) - 1) : 1;
    const bool cutOff = depth == 16 && !alpha; // PIL reads such a picture as I;16, whose way to RGB cuts off
    for (int64_t i = 0; i < count; ++i, samples += stride, out += step) {
      const bool white = cutOff && samples[0];
      whitened |= white;
      std::fill(out, out + 3, uint8_t(white ? 255 : samples[cutOff] * scale));
    }
  }
}

/// Rows as they come, so that one line of samples is all that is held; of an interlaced picture, pass by pass.
void PngReader::readPixels(Picture &picture, uint8_t *line) {
  const bool passes = interlace == PNG_INTERLACE_ADAM7;
  for (int pass = 0; pass < (passes ? PNG_INTERLACE_ADAM7_PASSES : 1); ++pass) {
    const int64_t columns = passes ? PNG_PASS_COLS(width, pass) : width,
                  rows = passes ? PNG_PASS_ROWS(height, pass) : height;
    const int64_t firstX = passes ? PNG_PASS_START_COL(pass) : 0, firstY = passes ? PNG_PASS_START_ROW(pass) : 0;
    const int64_t stepX = passes ? PNG_PASS_COL_OFFSET(pass) : 1, stepY = passes ? PNG_PASS_ROW_OFFSET(pass) : 1;
    for (int64_t y = 0; columns > 0 && y < rows; ++y) {
      png_read_row(png, line, nullptr);
      convert(line, columns, picture.row(firstY + y * stepY) + firstX * 3, stepX * 3);
    }
  }
  png_read_end(png, info);
}

OrientationSources PngReader::metadata() const {
  OrientationSources sources;
  png_uint_32 count = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(png, info, &count, &exif))
    sources.exif.assign(reinterpret_cast<const char *>(exif), count);
  png_textp texts = nullptr;
  int number = 0;
  png_get_text(png, info, &texts, &number);
  for (int i = 0; i < number; ++i) {
    const std::string_view key = texts[i].key, text = texts[i].text ? texts[i].text : "";
    if (key == "XML:com.adobe.xmp")
      sources.xmp = text;
    else if (key == "Raw profile type exif" && !exif)
      sources.exif = bytesOfRawProfile(text);
  }
  return sources;
}

std::optional<StoredPicture> PngReader::read() {
  if (!info) {
    errors.error("NNT1017", "no memory is left to decode the picture");
    return std::nullopt;
  }
  if (!guarded([&] { readHeader(); }))
    return damaged();
  const int64_t bitsPerPixel = int64_t(png_get_channels(png, info)) * depth;
  if (!checkPictureSize(width, height, size, mostInflation * 8 / bitsPerPixel, "PNG", errors))
    return std::nullopt;
  if (!guarded([&] { startPixels(); }))
    return damaged();
  StoredPicture stored{Picture::make(width, height), Orientation::upright};
  std::vector<uint8_t> line(png_get_rowbytes(png, info));
  if (!guarded([&] { readPixels(stored.picture, line.data()); }))
    return damaged();
  if (whitened)
    errors.diags.note({errors.file, 0, 0},
                      "this picture's grey has 16 bits, and what is above 255 counts as white, as in the "
                      "reference; convert it to 8 bits to have it seen");
  stored.orientation = findOrientation(metadata());
  return stored;
}

} // namespace

std::optional<StoredPicture> decodePng(std::string_view bytes, const PictureErrors &errors) {
  return PngReader(bytes, errors).read();
}

} // namespace nnterp
