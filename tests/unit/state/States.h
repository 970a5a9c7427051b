// Small memories that the tests of states share.
#pragma once

#include "../weights/Fixtures.h"
#include "runtime/state/StateFile.h"

namespace nnterp {

/// One DeltaNet block and one attention block; the second in bfloat16.
inline std::vector<SlotSpec> smallParts() {
  return {{SlotKind::state, "layers[0].linear_attn.state", DType::f32, {-1, 2, 2, 3}},
          {SlotKind::state, "layers[0].linear_attn.conv", DType::bf16, {-1, 4, 2}},
          {SlotKind::state, "layers[1].self_attn.keys", DType::bf16, {-1, 2, -1, 3}},
          {SlotKind::state, "layers[1].self_attn.values", DType::bf16, {-1, 2, -1, 3}}};
}

/// Fills a tensor with bits that differ everywhere, numbers that are none included.
inline void scramble(Tensor &tensor, unsigned seed) {
  unsigned state = seed;
  for (size_t i = 0; i < tensor.bytes(); ++i)
    tensor.as<unsigned char>()[i] = static_cast<unsigned char>((state = state * 1103515245u + 12345u) >> 16);
}

/// Two rows of 3 and 1 tokens.
inline SavedSequence smallState(bool pending, unsigned seed = 1) {
  SavedSequence saved;
  saved.lengths = {3, 1};
  saved.tokens = {{5, 6, 7}, {8}};
  saved.next = {{3, 3, 3}, {11, 12, 13}};
  saved.pending = pending;
  if (pending) {
    saved.tokens[0].push_back(9);
    saved.tokens[1].push_back(4);
  }
  for (const SlotSpec &part : smallParts()) {
    Shape shape = part.dims;
    shape[0] = 2;
    if (isCache(part.name))
      shape[2] = 3;
    Tensor tensor = Tensor::make(part.dtype, shape);
    scramble(tensor, ++seed);
    saved.parts[part.name] = tensor;
  }
  return saved;
}

inline bool sameState(const SavedSequence &a, const SavedSequence &b) {
  bool equal = a.lengths == b.lengths && a.tokens == b.tokens && a.next == b.next && a.pending == b.pending &&
               a.parts.size() == b.parts.size();
  for (const auto &[name, tensor] : a.parts)
    equal = equal && b.parts.count(name) && same(tensor, b.parts.at(name));
  return equal;
}

inline StateIdentity smallIdentity() { return {"c0ffee", DType::bf16, "0.1.0", smallParts(), 100}; }

} // namespace nnterp
