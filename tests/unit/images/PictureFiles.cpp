// Writes image files for the tests.
#include "PictureFiles.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <jpeglib.h>
#include <zlib.h>

namespace nnterp {

namespace {

std::string bigEndian(uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i)
    text += char(value >> (8 * i));
  return text;
}

/// One row of samples, or every `step`th pixel of it from `first` on, with the filter byte of an unfiltered row.
std::string packedRow(const PngKind &kind, const int *row, int64_t first, int64_t step) {
  std::string out(1, '\0');
  const int perPixel = samplesPerPixel(kind);
  int bits = 0, value = 0;
  for (int64_t x = first; x < kind.width; x += step)
    for (int c = 0; c < perPixel; ++c) {
      const int sample = row[x * perPixel + c];
      if (kind.depth >= 8) {
        out += bigEndian(uint32_t(sample), kind.depth / 8);
        continue;
      }
      value = value << kind.depth | sample;
      if ((bits += kind.depth) == 8) {
        out += char(value);
        bits = value = 0;
      }
    }
  return bits ? out + char(value << (8 - bits)) : out;
}

std::string deflated(const std::string &raw) {
  uLongf size = compressBound(uLong(raw.size()));
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef *>(out.data()), &size, reinterpret_cast<const Bytef *>(raw.data()),
            uLong(raw.size()), 9);
  out.resize(size);
  return out;
}

} // namespace

std::string pngChunk(const std::string &type, const std::string &data) {
  const std::string body = type + data;
  return bigEndian(uint32_t(data.size()), 4) + body +
         bigEndian(uint32_t(crc32(0, reinterpret_cast<const Bytef *>(body.data()), uInt(body.size()))), 4);
}

std::string pngHeader(const PngKind &kind) {
  std::string data = bigEndian(uint32_t(kind.width), 4) + bigEndian(uint32_t(kind.height), 4);
  for (const int byte : {kind.depth, kind.colours, 0, 0, int(kind.interlaced)})
    data += char(byte);
  return "\x89PNG\r\n\x1a\n" + pngChunk("IHDR", data);
}

int samplesPerPixel(const PngKind &kind) {
  return (kind.colours == 2 || kind.colours == 6 ? 3 : 1) + (kind.colours >= 4);
}

std::string pngFile(const PngKind &kind, const std::vector<int> &samples) {
  // First column and row of each pass, and the steps between.
  const int64_t adam7[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                               {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  const int64_t whole[1][4] = {{0, 0, 1, 1}};
  std::string raw;
  for (int pass = 0; pass < (kind.interlaced ? 7 : 1); ++pass) {
    const int64_t *at = kind.interlaced ? adam7[pass] : whole[0];
    for (int64_t y = at[1]; at[0] < kind.width && y < kind.height; y += at[3])
      raw += packedRow(kind, samples.data() + y * kind.width * samplesPerPixel(kind), at[0], at[2]);
  }
  return pngHeader(kind) + kind.before + pngChunk("IDAT", deflated(raw)) + kind.after + pngChunk("IEND", "");
}

std::string jpegFile(const JpegKind &kind) {
  jpeg_compress_struct cinfo;
  jpeg_error_mgr handler;
  cinfo.err = jpeg_std_error(&handler);
  jpeg_create_compress(&cinfo);
  unsigned char *memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&cinfo, &memory, &size);
  cinfo.image_width = JDIMENSION(kind.width);
  cinfo.image_height = JDIMENSION(kind.height);
  cinfo.input_components = kind.components;
  cinfo.in_color_space = kind.components == 1 ? JCS_GRAYSCALE : kind.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&cinfo);
  if (kind.progressive)
    jpeg_simple_progression(&cinfo);
  jpeg_start_compress(&cinfo, TRUE);
  const std::vector<int> samples = someNumbers(size_t(kind.width * kind.height * kind.components), 256);
  std::vector<JSAMPLE> row(size_t(kind.width * kind.components));
  while (cinfo.next_scanline < cinfo.image_height) {
    const int *from = samples.data() + size_t(cinfo.next_scanline) * row.size();
    std::copy(from, from + row.size(), row.begin());
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&cinfo, rows, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  std::string bytes(reinterpret_cast<char *>(memory), size);
  std::free(memory);
  return bytes;
}

std::string exifWith(int orientation, bool big, int type, uint32_t count) {
  auto number = [&](uint32_t value, int bytes) {
    std::string text = bigEndian(value, bytes);
    return big ? text : std::string(text.rbegin(), text.rend());
  };
  std::string tiff = big ? std::string("MM\0*", 4) : std::string("II*\0", 4);
  tiff += number(8, 4) + number(2, 2);                                                // one directory of two entries
  tiff += number(0x010f, 2) + number(2, 2) + number(2, 4) + std::string("ab\0\0", 4); // the maker
  tiff += number(0x0112, 2) + number(uint32_t(type), 2) + number(count, 4);
  tiff += type == 3 ? number(uint32_t(orientation), 2) + number(0, 2) : number(uint32_t(orientation), 4);
  return tiff + number(0, 4);
}

std::vector<int> someNumbers(size_t count, int below) {
  std::vector<int> numbers(count);
  uint32_t state = 12345;
  for (int &number : numbers) {
    state = state * 1664525 + 1013904223;
    number = int(state >> 8) % below;
  }
  return numbers;
}

Decoded decoded(const std::string &bytes) {
  Diagnostics diags;
  Decoded result;
  result.picture = decodePicture(bytes, "p", diags);
  result.errors = text(diags);
  return result;
}

std::vector<int> samplesOf(const Picture &picture) {
  return {picture.rgb.get(), picture.rgb.get() + picture.rowBytes() * size_t(picture.height)};
}

} // namespace nnterp
