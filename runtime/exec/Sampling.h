// Chooses next tokens from logits.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Tensor.h"

#include <cstdint>
#include <vector>

namespace nnterp {

/// How tokens are chosen: greedily (the largest logit), or at random after, in this order, division by `temperature`, a cut to the
/// `topK` largest logits (0: no cut; equals of the last one stay), and a cut to the likeliest tokens that together have a
/// probability of at least `topP`.
struct SamplingSettings {
  bool sample = false;
  double temperature = 1;
  int64_t topK = 0;
  double topP = 1;
  uint64_t seed = 0;
};

/// Errors: NNT1302.
bool checkSampling(const SamplingSettings &settings, const SourceLoc &loc, Diagnostics &diags);

/// A fingerprint of a row's tokens, extended token by token.
class TokenHash {
public:
  void add(int64_t token);
  uint64_t value() const { return state; }

private:
  uint64_t state = 0x9e3779b97f4a7c15u;
};

/// A number in [0,1) that only the seed and the tokens before it decide: the same for any batch, and however a sequence was cut.
double uniform(uint64_t seed, const TokenHash &before);

/// The index of the largest value, the first of equals; values that are no numbers are never the largest.
int64_t largest(const Tensor &logits, int64_t row);

/// Draws tokens. It keeps its working memory, so that a second draw allocates nothing.
class Sampler {
public:
  explicit Sampler(const SamplingSettings &settings) : settings(settings) {}
  /// The next token of row `row` of `logits` [B,V], behind the tokens hashed in `before`.
  int64_t choose(const Tensor &logits, int64_t row, const TokenHash &before);

private:
  struct Candidate {
    int64_t id;
    double weight; ///< logit, then probability up to a factor
  };
  void keepTopK();
  void keepTopP();
  double total() const;

  SamplingSettings settings;
  std::vector<Candidate> candidates;
  std::vector<double> scratch;
};

} // namespace nnterp
