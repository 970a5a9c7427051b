// The tokens a model would most likely say next, from tapped logits or probabilities.
#pragma once

#include "tools/nnterp/RunModel.h"

#include <string>
#include <vector>

namespace nnterp {

struct NextToken {
  int64_t id;
  double probability;
};

struct NextTokens {
  std::string world;             ///< `main` without worlds
  int64_t row;                   ///< of the batch
  std::vector<NextToken> tokens; ///< most likely first
};

/// The `count` most likely tokens behind the prompt, of every world and row whose last position was tapped over the whole
/// vocabulary, from `next_token_probs` or `logits`.
std::vector<NextTokens> nextTokens(const RunResult &result, size_t count = 5);

} // namespace nnterp
