// Reads orientations from metadata, and turns pictures.
#include "runtime/images/Orientation.h"

#include <algorithm>
#include <optional>

namespace nnterp {

namespace {

/// Unsigned numbers of a TIFF file, in its byte order; nothing beyond its end.
class TiffBytes {
public:
  explicit TiffBytes(std::string_view bytes) : bytes(bytes), bigEndian(bytes.substr(0, 2) == "MM") {}

  std::optional<uint64_t> number(uint64_t offset, int size) const {
    if (offset + uint64_t(size) > bytes.size())
      return std::nullopt;
    uint64_t value = 0;
    for (int i = 0; i < size; ++i)
      value = value << 8 | uint8_t(bytes[offset + uint64_t(bigEndian ? i : size - 1 - i)]);
    return value;
  }

private:
  std::string_view bytes;
  bool bigEndian;
};

/// The orientation tag of the first directory; 0 where its value is none that PIL takes.
std::optional<uint64_t> exifTag(std::string_view exif) {
  constexpr std::string_view prefix("Exif\0\0", 6);
  for (int times = 0; times < 2 && exif.substr(0, prefix.size()) == prefix; ++times)
    exif.remove_prefix(prefix.size());
  const std::string_view magic = exif.substr(0, 4);
  if (magic != std::string_view("MM\0*", 4) && magic != std::string_view("II*\0", 4))
    return std::nullopt;

  const TiffBytes tiff(exif);
  const std::optional<uint64_t> directory = tiff.number(4, 4);
  const std::optional<uint64_t> count = directory ? tiff.number(*directory, 2) : std::nullopt;
  for (uint64_t i = 0; count && i < *count; ++i) {
    const uint64_t entry = *directory + 2 + 12 * i;
    const std::optional<uint64_t> tag = tiff.number(entry, 2), type = tiff.number(entry + 2, 2),
                                  values = tiff.number(entry + 4, 4);
    if (!values)
      return std::nullopt;
    if (tag != 0x0112 || values == 0)
      continue;
    const bool isShort = type == 3 || type == 8, isLong = type == 4 || type == 9;
    if (!isShort && !isLong)
      return 0;
    // Only one belongs there; of several the first counts, and they stand elsewhere when the entry is too small for
    // them.
    const int bytes = isShort ? 2 : 4;
    const std::optional<uint64_t> at = *values * uint64_t(bytes) > 4 ? tiff.number(entry + 8, 4) : entry + 8;
    return at ? tiff.number(*at, bytes) : std::nullopt;
  }
  return std::nullopt;
}

/// The digit after `tiff:Orientation="` or `tiff:Orientation>`.
std::optional<uint64_t> xmpTag(std::string_view xmp) {
  constexpr std::string_view name = "tiff:Orientation";
  for (size_t at = xmp.find(name); at != std::string_view::npos; at = xmp.find(name, at + 1)) {
    std::string_view rest = xmp.substr(at + name.size());
    rest.remove_prefix(rest.substr(0, 2) == "=\"" ? 2 : rest.substr(0, 1) == ">" ? 1 : rest.size());
    if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9')
      return uint64_t(rest[0] - '0');
  }
  return std::nullopt;
}

} // namespace

Orientation findOrientation(const OrientationSources &sources) {
  std::optional<uint64_t> tag = exifTag(sources.exif);
  if (!tag)
    tag = xmpTag(sources.xmp);
  return tag && *tag >= 1 && *tag <= 8 ? Orientation(*tag) : Orientation::upright;
}

std::string bytesOfRawProfile(std::string_view text) {
  for (int line = 0; line < 3; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos)
      return {};
    text.remove_prefix(end + 1);
  }
  std::string bytes;
  int half = -1;
  for (const char c : text) {
    const size_t digit = std::string_view("0123456789abcdef").find(char(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
    if (c == '\n' || c == ' ')
      continue;
    if (digit == std::string_view::npos)
      return {};
    if (half < 0) {
      half = int(digit);
    } else {
      bytes += char(half << 4 | int(digit));
      half = -1;
    }
  }
  return bytes;
}

Picture oriented(Picture stored, Orientation orientation) {
  if (orientation == Orientation::upright)
    return stored;
  const bool sideways = orientation >= Orientation::transpose;
  const int64_t w = stored.width, h = stored.height;
  Picture shown = Picture::make(sideways ? h : w, sideways ? w : h);
  const bool fromRight = orientation == Orientation::mirror || orientation == Orientation::turnHalf ||
                         orientation == Orientation::transverse || orientation == Orientation::turnLeft;
  const bool fromBottom = orientation == Orientation::turnHalf || orientation == Orientation::flip ||
                          orientation == Orientation::turnRight || orientation == Orientation::transverse;
  // The shown pixel [y, x] is the stored one [y, x], or [x, y] when sideways, counted from the far edges where said.
  const auto pixels = ptrdiff_t(w);
  const ptrdiff_t right = fromRight ? -1 : 1, down = fromBottom ? -pixels : pixels;
  const ptrdiff_t first = (fromRight ? pixels - 1 : 0) + (fromBottom ? ptrdiff_t(h - 1) * pixels : 0);
  const ptrdiff_t alongX = sideways ? down : right, alongY = sideways ? right : down;
  uint8_t *out = shown.rgb.get();
  for (int64_t y = 0; y < shown.height; ++y) {
    const uint8_t *in = stored.rgb.get() + (first + ptrdiff_t(y) * alongY) * 3;
    for (int64_t x = 0; x < shown.width; ++x, in += alongX * 3, out += 3)
      std::copy(in, in + 3, out);
  }
  return shown;
}

} // namespace nnterp
