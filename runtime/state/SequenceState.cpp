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

/// The first `tokens` places of a cache [B,NK,places,D], in one with room for `room`.
static Tensor resized(const Tensor &cache, int64_t tokens, int64_t room) {
  Shape shape = cache.shape;
  const int64_t blocks = shape[0] * shape[1], places = shape[2];
  shape[2] = room;
  Tensor result = Tensor::make(cache.dtype, shape);
  const size_t place = size_t(shape[3]) * byteSize(cache.dtype), bytes = size_t(tokens) * place;
  for (int64_t i = 0; bytes > 0 && i < blocks; ++i)
    std::memcpy(result.as<char>() + size_t(i * room) * place, cache.as<char>() + size_t(i * places) * place, bytes);
  return result;
}

SequenceState::SequenceState(const std::vector<SlotSpec> &slots, const std::string &prefix, int64_t rows)
    : past(size_t(rows), 0), history(size_t(rows)), positions(size_t(rows), Position{0, 0, 0}) {
  for (const SlotSpec &slot : slots) {
    if (slot.kind != SlotKind::state || slot.name.compare(0, prefix.size(), prefix) != 0)
      continue;
    Shape shape = slot.dims;
    shape[0] = rows;
    if (isCache(slot.name))
      shape[2] = 0;
    memory[slot.name.substr(prefix.size())] = Tensor::make(slot.dtype, shape);
  }
}

void SequenceState::reserve(int64_t tokens) {
  const int64_t wanted = grownCapacity(room, tokens);
  if (wanted == room)
    return;
  const int64_t used = past.empty() ? 0 : *std::max_element(past.begin(), past.end());
  for (auto &[name, tensor] : memory)
    if (isCache(name))
      tensor = resized(tensor, used, wanted);
  for (std::vector<int64_t> &row : history)
    row.reserve(size_t(wanted) + 1); // so that noting a token allocates nothing either
  room = wanted;
  ++grown;
}

bool SequenceState::restore(const SavedSequence &saved, Diagnostics &diags) {
  assert(saved.rows() == rows());
  const int64_t longest = *std::max_element(saved.lengths.begin(), saved.lengths.end());
  past.assign(past.size(), 0);
  reserve(longest);
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
    } else if (isCache(name)) {
      tensor = resized(found->second, longest, room);
    } else {
      tensor = found->second.to(tensor.dtype); // a copy: the program writes it in place
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

SavedSequence SequenceState::snapshot() const {
  SavedSequence saved;
  saved.lengths = past;
  saved.tokens = history;
  saved.next = positions;
  const int64_t longest = past.empty() ? 0 : *std::max_element(past.begin(), past.end());
  for (const auto &[name, tensor] : memory)
    saved.parts[name] = isCache(name) ? resized(tensor, longest, longest) : tensor.to(tensor.dtype);
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
