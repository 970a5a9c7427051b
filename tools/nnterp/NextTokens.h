// The tokens a model would most likely say next, from tapped logits or probabilities.
#pragma once

#include "tools/nnterp/RunModel.h"

#include <vector>

namespace nnterp {

struct NextToken {
  int64_t id;
  double probability;
};

struct NextTokens {
  int64_t row;                   ///< of the batch
  std::vector<NextToken> tokens; ///< most likely first
};

/// The `count` most likely next tokens of every row whose last position was tapped, over the whole vocabulary. Empty
/// when neither `next_token_probs` nor `logits` was tapped so.
std::vector<NextTokens> nextTokens(const RunResult &result, size_t count = 5);

} // namespace nnterp
