// Joins pending tokens and prompts.
#include "tools/nnterp/Continuation.h"

#include <algorithm>

namespace nnterp {

/// One input behind one state.
static Batch joined(const SavedSequence &state, const Batch *prompt) {
  const int64_t B = state.rows(), extra = state.pending ? 1 : 0, S = (prompt ? prompt->seq() : 0) + extra;
  Batch batch;
  batch.ids = Tensor::make(DType::i64, {B, S});
  batch.lengths = Tensor::make(DType::i64, {B});
  batch.positions = Tensor::make(DType::i64, {3, B, S});
  batch.ownPositions = true;
  for (int64_t b = 0; b < B; ++b) {
    const Position &next = state.next[size_t(b)];
    const int64_t length = prompt ? prompt->lengths.as<int64_t>()[b] : 0;
    batch.lengths.as<int64_t>()[b] = length + extra;
    int64_t *ids = batch.ids.as<int64_t>() + b * S;
    if (extra)
      ids[0] = state.tokens[size_t(b)].back();
    if (prompt)
      std::copy_n(prompt->ids.as<int64_t>() + b * prompt->seq(), length, ids + extra);
    for (int64_t axis = 0; axis < 3; ++axis) {
      int64_t *positions = batch.positions.as<int64_t>() + (axis * B + b) * S;
      if (extra)
        positions[0] = next[size_t(axis)];
      for (int64_t p = 0; p < length; ++p)
        positions[extra + p] =
            prompt->position(b, p)[size_t(axis)] + (prompt->ownPositions ? 0 : next[size_t(axis)] + extra);
    }
  }
  return batch;
}

static bool sameTokens(const SavedSequence &a, const SavedSequence &b) {
  return a.lengths == b.lengths && a.tokens == b.tokens && a.next == b.next && a.pending == b.pending;
}

std::optional<Batches> continueFrom(const SavedStates &states, const std::vector<PlanWorld> &worlds,
                                    const Batches &inputs, const std::string &file, Diagnostics &diags) {
  Batches batches;
  std::map<std::string, const PlanWorld *> readers; ///< the first world of each input
  bool good = true;
  auto refuse = [&](const char *code, const std::string &message) {
    diags.error(code, {file, 0, 0}, message);
    good = false;
  };
  for (const PlanWorld &world : worlds) {
    const SavedSequence &state = states.at(world.name);
    auto [first, isNew] = readers.emplace(world.input, &world);
    if (!isNew) {
      if (!sameTokens(states.at(first->second->name), state))
        refuse("NNT1211", "the worlds \"" + first->second->name + "\" and \"" + world.name + "\" read the input \"" +
                              world.input +
                              "\", but their saved states hold different tokens; give each world an input of its own");
      continue;
    }
    auto prompt = inputs.find(world.input);
    const Batch *batch = prompt == inputs.end() ? nullptr : &prompt->second;
    if (!batch && !state.pending)
      refuse("NNT1210", "the saved state has no generated token that was not read yet, and the run has no input \"" +
                            world.input + "\"; expected --prompt, --chat, --ids or --input");
    else if (batch && batch->rows() != state.rows())
      refuse("NNT1209", "the saved state has " + std::to_string(state.rows()) + " rows, the input \"" + world.input +
                            "\" has " + std::to_string(batch->rows()));
    else
      batches.emplace(world.input, joined(state, batch));
  }
  return good ? std::optional(std::move(batches)) : std::nullopt;
}

bool checkPositions(const Batches &inputs, int64_t steps, Diagnostics &diags) {
  bool good = true;
  for (const auto &[name, batch] : inputs)
    for (int64_t b = 0; b < batch.rows(); ++b) {
      int64_t last = 0;
      for (int64_t p = 0; p < batch.lengths.as<int64_t>()[b]; ++p)
        for (int64_t axis : batch.position(b, p))
          last = std::max(last, axis);
      if (last + steps < maxPosition)
        continue;
      diags.error("NNT1012", {},
                  "input \"" + name + "\", row " + std::to_string(b) + ": " + std::to_string(steps) +
                      " generated tokens behind position " + std::to_string(last) + " go beyond position " +
                      std::to_string(maxPosition - 1));
      good = false;
    }
  return good;
}

} // namespace nnterp
