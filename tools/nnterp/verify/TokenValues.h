// Tapped values by row and token of the sequence, wherever a run put them: under a key or its `@gen`, behind pads, in any layout.
#pragma once

#include "tools/nnterp/RunModel.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace nnterp::verify {

/// What a value has at one token: `outer` pieces of `inner` neighbouring elements each, `stride` apart. Heads come before what is
/// in a head, in every layout.
struct TokenSlice {
  const Tensor *tensor = nullptr;
  int64_t base = 0, outer = 0, stride = 0, inner = 0;

  int64_t count() const { return outer * inner; }
  /// Not a number behind the end, so that a value that is missing differs from every other.
  double at(int64_t i) const {
    return i < count() ? tensor->at(base + i / inner * stride + i % inner) : std::numeric_limits<double>::quiet_NaN();
  }
  float f(int64_t i) const { return float(at(i)); }
  /// Part `part` of `parts` equal ones, such as one head.
  TokenSlice part(int64_t part, int64_t parts) const;
};

/// Whether two slices hold the same bytes.
bool sameBits(const TokenSlice &a, const TokenSlice &b);
/// The largest magnitude in a slice, or 1 where that is larger; masked scores, the lowest numbers of their type, do not count.
double scaleOf(const TokenSlice &slice);

/// One world of a run, and where its tokens stand in their sequences.
class RunView {
public:
  /// `first`: tokens of each row that a loaded state held before the run; empty: none.
  explicit RunView(const RunResult &result, std::vector<int64_t> first = {}, const std::string &world = "");

  int64_t rows() const { return int64_t(prompt.size()); }
  int64_t first(int64_t row) const { return before[size_t(row)]; }
  int64_t promptEnd(int64_t row) const { return first(row) + prompt[size_t(row)]; }
  /// Behind the last generated token that was fed back.
  int64_t end(int64_t row) const { return promptEnd(row) + fedBack; }
  int64_t steps() const { return fedBack; }

  /// The output `name` of this world; null when the run did not write it.
  const Tensor *tensor(const std::string &name) const;
  /// The tap of that output.
  const TapSpec *tap(const std::string &name) const { return result->tapOf(prefix + name); }
  const PointTable &points() const { return result->prepared.points; }
  /// Names of the outputs that have tokens, without world and `@gen`.
  std::vector<std::string> names() const;

  template <class Visit> void eachToken(Visit visit) const {
    for (int64_t row = 0; row < rows(); ++row)
      for (int64_t token = first(row); token < end(row); ++token)
        visit(row, token);
  }

private:
  const RunResult *result;
  std::vector<int64_t> before, prompt;
  int64_t fedBack = 0;
  std::string prefix;
};

/// One value of a run. Token t of a row is counted from the beginning of its sequence.
class TokenValues {
public:
  /// `name` may end in `@before`.
  TokenValues(const RunView &run, const std::string &name);

  /// Whether the run wrote the value at this token: placed values exist at some tokens alone.
  bool has(int64_t row, int64_t token) const { return operator()(row, token).count() > 0; }
  /// Empty where there is none. On a Pattern the keys up to the token.
  TokenSlice operator()(int64_t row, int64_t token) const;
  /// On a Pattern: the keys behind the token.
  TokenSlice laterKeys(int64_t row, int64_t token) const;
  /// The first token at which the value may be there: 0 for past keys and values.
  int64_t begin(int64_t row) const { return layout == Layout::Memory ? 0 : run.first(row); }

  const std::string name;

private:
  struct Where {
    const Tensor *tensor = nullptr;
    int64_t index = -1; ///< on the axis of tokens; -1: it has none
    int64_t keys = 0;   ///< of the row, on the axis of keys
  };
  Where find(int64_t row, int64_t token) const;
  TokenSlice slice(int64_t row, int64_t token, bool later) const;

  RunView run;
  const Tensor *onPrompt, *generated;
  Layout layout = Layout::Residual;
  Place place = Place::none;
};

} // namespace nnterp::verify
