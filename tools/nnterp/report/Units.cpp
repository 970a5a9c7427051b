// Formats numbers and columns for the terminal, and the cost of taps.
#include "tools/nnterp/report/Units.h"

#include <cstdio>

namespace nnterp {

std::string bytesText(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  char text[48];
  bool whole = bytes == double(int64_t(bytes)) || bytes >= 100;
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

std::string flopsText(double flops) {
  const char *units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
  size_t unit = 0;
  while (flops >= 1000 && unit + 1 < std::size(units)) {
    flops /= 1000;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %s", flops, units[unit]);
  return text;
}

std::string secondsText(double seconds) {
  const char *units[] = {"s", "ms", "us", "ns", "ps"};
  size_t unit = 0;
  while (seconds > 0 && seconds < 1 && unit + 1 < std::size(units)) {
    seconds *= 1000;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %s", seconds, units[unit]);
  return text;
}

std::string countText(int64_t count) {
  std::string digits = std::to_string(count);
  size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3; i -= 3)
    digits.insert(i - 3, ",");
  return digits;
}

size_t displayWidth(std::string_view text) {
  size_t width = 0;
  for (char c : text)
    width += (static_cast<unsigned char>(c) & 0xC0) != 0x80; // not a continuation byte of UTF-8
  return width;
}

std::string padded(std::string text, size_t width) {
  size_t used = displayWidth(text);
  if (used < width)
    text.append(width - used, ' ');
  return text;
}

std::string wrapped(std::string_view text, size_t indent, size_t width) {
  std::string result, line(indent, ' ');
  bool empty = true;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(' ', start), text.size());
    std::string_view word = text.substr(start, end - start);
    if (!empty && displayWidth(line) + 1 + displayWidth(word) > width) {
      result += line + "\n";
      line.assign(indent, ' ');
      empty = true;
    }
    if (!empty)
      line += ' ';
    line += word;
    empty = false;
    start = end + 1;
  }
  return result + line + "\n";
}

std::string joined(const std::vector<std::string> &words, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i ? std::string(separator) : "") + words[i];
  return text;
}

DType dtypeOf(const PointInfo &row, DType model) {
  switch (row.type) {
  case ValueType::float32:
    return DType::f32;
  case ValueType::int64:
    return DType::i64;
  case ValueType::boolean:
    return DType::boolean;
  case ValueType::modelDtype:
    break;
  }
  return model;
}

std::string shapeText(const PointInfo &row) {
  std::vector<std::string> dims;
  for (const Dim &dim : row.shape)
    dims.push_back(toString(dim));
  return "[" + joined(dims, ", ") + "]";
}

TapCost tapCost(const PointInfo &row, DType model) {
  TapCost cost{int64_t(byteSize(dtypeOf(row, model))), "run"};
  int tokens = 0;
  bool perRow = false;
  for (const Dim &dim : row.shape)
    switch (dim.kind) {
    case Dim::fixed:
      cost.bytes *= dim.size;
      break;
    case Dim::batch:
      perRow = true;
      break;
    case Dim::seq:
      ++tokens;
      break;
    case Dim::patches:
      cost.unit = "patch";
      break;
    case Dim::imageTokens:
      cost.unit = "image token";
      break;
    case Dim::segment:
      cost.unit = "patch x patch";
      break;
    }
  if (tokens)
    cost.unit = tokens == 1 ? "token" : "token x key";
  else if (perRow)
    cost.unit = "row";
  return cost;
}

} // namespace nnterp
