// Numbers as people read them, and text in columns of a terminal.
#pragma once

#include "frontend/names/PointTable.h"
#include "runtime/abi/Tensor.h"

#include <string>
#include <vector>

namespace nnterp {

/// "512 B", "8 KiB", "1.5 MiB", "67.4 GiB".
std::string bytesText(double bytes);
/// "12.3 GFLOP".
std::string flopsText(double flops);
/// "1.25 s", "3.4 ms", "870 us", "12 ns".
std::string secondsText(double seconds);
/// "35,107,207,168": for the terminal only.
std::string countText(int64_t count);
/// Width on a terminal: code points, not bytes.
size_t displayWidth(std::string_view text);
std::string padded(std::string text, size_t width);
/// Breaks text at blanks into lines of at most `width`, each after `indent` blanks and ending in a newline.
std::string wrapped(std::string_view text, size_t indent, size_t width);
std::string joined(const std::vector<std::string> &words, std::string_view separator);

/// Type of a row's values when the model runs in `model`.
DType dtypeOf(const PointInfo &row, DType model);
/// "[B, S, 2048]"
std::string shapeText(const PointInfo &row);

/// What one tap of a row writes. `unit` is what it grows with: "token", "token x key", "row" (of the batch), "patch",
/// "image token", "patch x patch" or "run".
struct TapCost {
  int64_t bytes = 0;
  std::string unit;
};
TapCost tapCost(const PointInfo &row, DType model);

} // namespace nnterp
