// Results of a run for people and for scripts.
#pragma once

#include "runtime/text/Tokenizer.h"
#include "tools/nnterp/NextTokens.h"

#include <string>

namespace nnterp {

/// What the table says about one tensor. Mask values (the dtype's lowest finite number) count in none of the numbers.
struct TensorSummary {
  double min = 0, max = 0, mean = 0;
  int64_t counted = 0; ///< elements that are not mask values; 0: the numbers above mean nothing
  int64_t masked = 0;
};
TensorSummary summarize(const Tensor &tensor);
bool isMaskValue(double value, DType dtype);

/// Aligned columns: name, shape, dtype, min, max, mean, first values.
std::string tapTable(const RunResult &result);
/// The most likely next tokens of each row; text only with a tokenizer (may be null).
std::string nextTokenTable(const std::vector<NextTokens> &rows, const Tokenizer *tokenizer);
/// Of the tokens that were fed back; 0 when none was.
double tokensPerSecond(const RunResult &result);
/// Everything as one JSON object; `file` is where the tensors went, "" = nowhere.
std::string runJson(const RunResult &result, const std::vector<NextTokens> &rows, const Tokenizer *tokenizer,
                    const std::string &file, const Diagnostics &diags);

} // namespace nnterp
