// Owns and grows the memory of sequences.
#include "runtime/state/SequenceState.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace nnterp {

/// Tokens that caches have room for at first.
static constexpr int64_t block = 64;

static bool endsWith(const std::string &text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

bool isCache(const std::string &name) { return endsWith(name, ".keys") || endsWith(name, ".values"); }

int64_t grownCapacity(int64_t capacity, int64_t tokens) {
  while (capacity < tokens)
    capacity = std::max(block, 2 * capacity);
  return capacity;
}

/// The first `tokens` places of a cache [B,NK,places,D], in one with room for `room`; both in the space.
static bool resize(const Tensor &cache, int64_t tokens, int64_t room, Tensor &result, MemorySpace &space,
                   Diagnostics &diags) {
  Shape shape = cache.shape;
  const int64_t blocks = shape[0] * shape[1], places = shape[2];
  shape[2] = room;
  if (!space.make(result, cache.dtype, shape, diags))
    return false;
  const uint64_t place = uint64_t(shape[3]) * byteSize(cache.dtype), bytes = uint64_t(tokens) * place;
  for (int64_t i = 0; bytes > 0 && i < blocks; ++i)
    if (!space.copy(cache, uint64_t(i * places) * place, result, uint64_t(i * room) * place, bytes, diags))
      return false;
  return true;
}

SequenceState::SequenceState(MemorySpace &space, int64_t rows)
    : space(&space), past(size_t(rows), 0), history(size_t(rows)), positions(size_t(rows), Position{0, 0, 0}) {}

std::optional<SequenceState> SequenceState::make(const std::vector<SlotSpec> &slots, const std::string &prefix,
                                                 int64_t rows, Diagnostics &diags, MemorySpace &space) {
  SequenceState state(space, rows);
  for (const SlotSpec &slot : slots) {
    if (slot.kind != SlotKind::state || slot.name.compare(0, prefix.size(), prefix) != 0)
      continue;
    Shape shape = slot.dims;
    shape[0] = rows;
    if (isCache(slot.name))
      shape[2] = 0;
    if (!space.make(state.memory[slot.name.substr(prefix.size())], slot.dtype, shape, diags))
      return std::nullopt;
  }
  return state;
}

bool SequenceState::reserve(int64_t tokens, Diagnostics &diags) {
  const int64_t wanted = grownCapacity(room, tokens);
  if (wanted == room)
    return true;
  const int64_t used = past.empty() ? 0 : *std::max_element(past.begin(), past.end());
  for (auto &[name, tensor] : memory) {
    Tensor larger;
    if (!isCache(name))
      continue;
    if (!resize(tensor, used, wanted, larger, *space, diags))
      return false;
    tensor = std::move(larger);
  }
  for (std::vector<int64_t> &row : history)
    row.reserve(size_t(wanted) + 1); // so that noting a token allocates nothing either
  room = wanted;
  ++grown;
  return true;
}

bool SequenceState::restore(const SavedSequence &saved, Diagnostics &diags) {
  assert(saved.rows() == rows());
  const int64_t longest = *std::max_element(saved.lengths.begin(), saved.lengths.end());
  past.assign(past.size(), 0);
  if (!reserve(longest, diags))
    return false;
  bool good = true;
  for (auto &[name, tensor] : memory) {
    auto found = saved.parts.find(name);
    Shape expected = tensor.shape;
    if (isCache(name))
      expected[2] = longest;
    if (found == saved.parts.end() || found->second.dtype != tensor.dtype || found->second.shape != expected) {
      diags.error("NNT1206", {},
                  "the program keeps \"" + name + "\" as " + std::string(nnterp::name(tensor.dtype)) + " " +
                      toString(expected) + ", but the saved state has " +
                      (found == saved.parts.end()
                           ? "no such part"
                           : std::string(nnterp::name(found->second.dtype)) + " " + toString(found->second.shape)));
      good = false;
    } else if (Tensor cache; isCache(name)) {
      if (!resize(found->second, longest, room, cache, hostSpace(), diags) || !space->put(cache, tensor, diags))
        return false;
    } else if (!space->put(found->second, tensor, diags)) {
      return false;
    }
  }
  past = saved.lengths;
  for (size_t b = 0; b < past.size(); ++b)
    history[b].assign(saved.tokens[b].begin(), saved.tokens[b].end());
  positions = saved.next;
  return good;
}

void SequenceState::publish(const std::string &prefix, TensorMap &into) const {
  for (const auto &[name, tensor] : memory)
    into[prefix + name] = tensor;
}

std::optional<SavedSequence> SequenceState::snapshot(Diagnostics &diags) const {
  SavedSequence saved;
  saved.lengths = past;
  saved.tokens = history;
  saved.next = positions;
  const int64_t longest = past.empty() ? 0 : *std::max_element(past.begin(), past.end());
  for (const auto &[name, tensor] : memory) {
    Tensor cut = tensor;
    if (isCache(name) && !resize(tensor, longest, longest, cut, *space, diags))
      return std::nullopt;
    Tensor &copy = saved.parts[name] = Tensor::make(cut.dtype, cut.shape);
    if (!space->fetch(cut, copy, diags))
      return std::nullopt;
  }
  for (size_t b = 0; b < past.size(); ++b)
    saved.pending |= int64_t(history[b].size()) > past[b];
  return saved;
}

static void follow(Position &next, const Position &position) {
  for (size_t axis = 0; axis < next.size(); ++axis)
    next[axis] = std::max(next[axis], position[axis] + 1);
}

void SequenceState::fed(int64_t row, int64_t token, const Position &position) {
  if (int64_t(history[size_t(row)].size()) == past[size_t(row)]) // else it is the pending one, noted already
    history[size_t(row)].push_back(token);
  ++past[size_t(row)];
  follow(positions[size_t(row)], position);
}

void SequenceState::generated(int64_t row, int64_t token) { history[size_t(row)].push_back(token); }

void SequenceState::fedBack(int64_t row) {
  Position &next = positions[size_t(row)];
  follow(next, next);
  ++past[size_t(row)];
}

} // namespace nnterp
