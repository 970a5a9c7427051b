// Decodes JPEG through libjpeg-turbo.
#include "runtime/images/Decoders.h"

#include <csetjmp>
#include <cstdio> // before jpeglib.h, which uses FILE

#include <jpeglib.h> // before jerror.h, whose numbers depend on it

#include <jerror.h>

namespace nnterp {

namespace {

/// Each block of 8 x 8 samples takes a bit at least, unless coded arithmetically.
constexpr int64_t mostPixelsPerByte = 8 * 64;

/// Progressive files have about ten scans. Each costs a walk over the whole picture, so that a small file of very many
/// would take hours.
constexpr int mostScans = 500;

/// libjpeg reports errors by calling back, which must not return. So whatever calls it runs inside `guarded`, and owns
/// nothing there.
class JpegReader {
public:
  JpegReader(std::string_view bytes, const PictureErrors &errors) : bytes(bytes), errors(errors) {
    cinfo.err = jpeg_std_error(&handlers.base);
    handlers.self = this;
    handlers.base.error_exit = onError;
    handlers.base.emit_message = onMessage;
  }
  ~JpegReader() { jpeg_destroy_decompress(&cinfo); } // also right before anything was created
  JpegReader(const JpegReader &) = delete;

  std::optional<StoredPicture> read();

private:
  struct Handlers {
    jpeg_error_mgr base; // first: libjpeg knows only this
    JpegReader *self;
  };
  static JpegReader &of(j_common_ptr cinfo) { return *reinterpret_cast<Handlers *>(cinfo->err)->self; }

  static void onError(j_common_ptr cinfo) {
    JpegReader &self = of(cinfo);
    self.code = cinfo->err->msg_code;
    cinfo->err->format_message(cinfo, self.message);
    longjmp(self.back, 1);
  }
  static void onMessage(j_common_ptr cinfo, int level);
  static void onProgress(j_common_ptr cinfo);
  template <class Body> bool guarded(const Body &body) {
    if (setjmp(back))
      return false;
    body();
    return true;
  }

  void readHeader();
  void readPixels(Picture &picture);
  bool checkKind() const;
  std::nullopt_t failure() const;
  OrientationSources metadata() const;

  std::string_view bytes;
  const PictureErrors &errors;
  jpeg_decompress_struct cinfo = {};
  Handlers handlers = {};
  jpeg_progress_mgr progress = {};
  jmp_buf back;
  int code = 0;
  char message[JMSG_LENGTH_MAX] = "";
};

/// Of the warnings, those are errors here that mean pixels are missing or wrong.
void JpegReader::onMessage(j_common_ptr cinfo, int level) {
  if (level >= 0) // a trace
    return;
  switch (cinfo->err->msg_code) {
  case JWRN_JPEG_EOF:
  case JWRN_HIT_MARKER:
  case JWRN_HUFF_BAD_CODE:
  case JWRN_ARITH_BAD_CODE:
  case JWRN_MUST_RESYNC:
    onError(cinfo);
  }
}

void JpegReader::onProgress(j_common_ptr cinfo) {
  if (reinterpret_cast<j_decompress_ptr>(cinfo)->input_scan_number <= mostScans)
    return;
  JpegReader &self = of(cinfo);
  std::snprintf(self.message, sizeof self.message, "it has more than %d scans", mostScans);
  longjmp(self.back, 1);
}

void JpegReader::readHeader() {
  jpeg_create_decompress(&cinfo);
  progress.progress_monitor = onProgress;
  cinfo.progress = &progress;
  jpeg_mem_src(&cinfo, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
  jpeg_save_markers(&cinfo, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&cinfo, TRUE);
}

void JpegReader::readPixels(Picture &picture) {
  cinfo.out_color_space = JCS_RGB; // grey too
  jpeg_start_decompress(&cinfo);
  while (cinfo.output_scanline < cinfo.output_height) {
    JSAMPROW row = picture.row(cinfo.output_scanline);
    jpeg_read_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_decompress(&cinfo);
}

bool JpegReader::checkKind() const {
  if (cinfo.num_components == 1 || cinfo.num_components == 3)
    return true;
  std::string found = std::to_string(cinfo.num_components) + " components";
  if (cinfo.jpeg_color_space == JCS_CMYK)
    found = "CMYK";
  else if (cinfo.jpeg_color_space == JCS_YCCK)
    found = "CMYK (as YCCK)";
  return errors.error("NNT1404", "the colours of the JPEG file are " + found + "; expected grey, RGB or YCbCr");
}

/// Reports why a guarded call did not end.
std::nullopt_t JpegReader::failure() const {
  switch (code) {
  case JERR_BAD_PRECISION:
  case JERR_SOF_UNSUPPORTED:
  case JERR_ARITH_NOTIMPL:
  case JERR_CONVERSION_NOTIMPL:
    errors.error("NNT1404", "this kind of JPEG is not supported: " + std::string(message));
    break;
  case JERR_IMAGE_TOO_BIG:
    errors.error("NNT1403", "the picture is too large for JPEG: " + std::string(message));
    break;
  case JERR_OUT_OF_MEMORY:
    errors.error("NNT1017", "no memory is left to decode the picture");
    break;
  case JWRN_JPEG_EOF:
  case JERR_INPUT_EOF:
  case JERR_INPUT_EMPTY:
    errors.damaged("JPEG", "it ends before the picture does");
    break;
  default:
    errors.damaged("JPEG", message);
  }
  return std::nullopt;
}

/// As PIL collects it: EXIF in parts makes one whole, the last XMP counts.
OrientationSources JpegReader::metadata() const {
  constexpr std::string_view exif("Exif\0\0", 6), xmp("http://ns.adobe.com/xap/1.0/\0", 29);
  OrientationSources sources;
  for (jpeg_saved_marker_ptr marker = cinfo.marker_list; marker; marker = marker->next) {
    const std::string_view data(reinterpret_cast<const char *>(marker->data), marker->data_length);
    if (data.substr(0, exif.size()) == exif)
      sources.exif += data.substr(sources.exif.empty() ? 0 : exif.size());
    else if (data.substr(0, xmp.size()) == xmp)
      sources.xmp = data.substr(xmp.size());
  }
  return sources;
}

std::optional<StoredPicture> JpegReader::read() {
  if (!guarded([&] { readHeader(); }))
    return failure();
  const int64_t most = cinfo.arith_code ? maxPicturePixels : mostPixelsPerByte;
  if (!checkKind() || !checkPictureSize(cinfo.image_width, cinfo.image_height, bytes.size(), most, "JPEG", errors))
    return std::nullopt;
  StoredPicture stored{Picture::make(cinfo.image_width, cinfo.image_height), findOrientation(metadata())};
  if (!guarded([&] { readPixels(stored.picture); }))
    return failure();
  return stored;
}

} // namespace

std::optional<StoredPicture> decodeJpeg(std::string_view bytes, const PictureErrors &errors) {
  return JpegReader(bytes, errors).read();
}

} // namespace nnterp
