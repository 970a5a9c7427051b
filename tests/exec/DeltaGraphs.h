// Graphs of one gated delta rule, and data for them.
#pragma once

#include "tests/exec/DeviceKernels.h"

namespace nnterp::test {

constexpr int64_t heads = 3;

struct Dims {
  int64_t depth, width; ///< DK, DV
};

/// A text whose names, each between two `$`, are filled in.
std::string filled(std::string text, const std::map<std::string, std::string> &names);
/// Types of a rule's values, by name.
std::map<std::string, std::string> types(DType model, Dims dims);

/// What stands between a rule's tokens, and what it needs.
struct Region {
  std::string inputs, body;
  bool inPlace = false; ///< the state is memory that the call moves on
};

/// `y, z` and, where asked for, `t`: the states after each token; with a region `t0` too: those before it.
Graph rule(DType model, Dims dims, bool states, const Region &region = {});
/// Whether a program has kernels of all these kinds.
bool has(const Graph &graph, const std::vector<std::string> &kinds);

Values given(DType model, Dims dims, int64_t rows, int64_t tokens, const std::vector<int64_t> &lengths);
Shapes shapes(const Values &in, bool states);
/// Tokens `from` to `to` of a tensor [1,S,...].
Tensor tokens(const Tensor &t, int64_t from, int64_t to);
/// Data of one row with tokens `from` to `to` alone; `names`: what has an axis of tokens.
Values cut(Values in, const std::vector<std::string> &names, int64_t from, int64_t to);

} // namespace nnterp::test
