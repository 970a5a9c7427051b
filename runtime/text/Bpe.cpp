// Looks up vocabulary entries and encodes pieces with a queue of possible merges.
#include "runtime/text/Bpe.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace nnterp {

static uint32_t hashOf(std::string_view text) { return uint32_t(std::hash<std::string_view>()(text)); }

static uint32_t hashOf(uint32_t left, uint32_t right) {
  return uint32_t((uint64_t(left) << 32 | right) * 0x9E3779B97F4A7C15u >> 32); // Fibonacci hashing
}

void Vocabulary::reserve(size_t count) {
  entries.reserve(count);
  byText.reserve(count);
}

void Vocabulary::add(std::string entry, uint32_t id) {
  const uint32_t index = uint32_t(entries.size());
  byText.insert(hashOf(entry), index);
  byId.emplace_back(id, index);
  entries.push_back({std::move(entry), id});
}

std::optional<uint32_t> Vocabulary::finish() {
  std::sort(byId.begin(), byId.end());
  auto twice = std::adjacent_find(byId.begin(), byId.end(), [](auto a, auto b) { return a.first == b.first; });
  return twice == byId.end() ? std::nullopt : std::optional(twice->first);
}

std::optional<uint32_t> Vocabulary::idOf(std::string_view entry) const {
  auto index = byText.find(hashOf(entry), [&](uint32_t i) { return entries[i].text == entry; });
  return index ? std::optional(entries[*index].id) : std::nullopt;
}

const std::string *Vocabulary::entryOf(int64_t id) const {
  auto it = std::lower_bound(byId.begin(), byId.end(), id, [](auto pair, int64_t value) { return pair.first < value; });
  return it == byId.end() || it->first != id ? nullptr : &entries[it->second].text;
}

std::vector<std::string> Vocabulary::all() const {
  std::vector<std::string> texts;
  for (const Entry &entry : entries)
    texts.push_back(entry.text);
  return texts;
}

void Bpe::reserve(size_t merges) {
  rules.reserve(merges);
  byPair.reserve(merges);
}

void Bpe::addMerge(uint32_t left, uint32_t right, uint32_t rank, uint32_t result) {
  if (const Rule *earlier = rule(left, right)) {
    rules[size_t(earlier - rules.data())] = {left, right, rank, result};
    return;
  }
  byPair.insert(hashOf(left, right), uint32_t(rules.size()));
  rules.push_back({left, right, rank, result});
}

const Bpe::Rule *Bpe::rule(uint32_t left, uint32_t right) const {
  auto same = [&](uint32_t i) { return rules[i].left == left && rules[i].right == right; };
  std::optional<uint32_t> index = byPair.find(hashOf(left, right), same);
  return index ? &rules[*index] : nullptr;
}

namespace {

constexpr uint32_t none = UINT32_MAX;

/// A symbol in the list that merging shortens; length 0 marks one that was merged into its left neighbour.
struct Link {
  uint32_t id, length, previous, next;
};

/// A merge that was possible when it was queued.
struct Candidate {
  uint32_t rank, left, result;
  bool operator>(const Candidate &other) const { return std::tie(rank, left) > std::tie(other.rank, other.left); }
};

} // namespace

void Bpe::encode(std::string_view piece, std::vector<Symbol> &out) const {
  std::vector<Link> links;
  links.reserve(piece.size());
  for (char byte : piece)
    if (std::optional<uint32_t> id = bytes[uint8_t(byte)]) {
      const uint32_t index = uint32_t(links.size());
      links.push_back({*id, 1, index == 0 ? none : index - 1, index + 1});
    }
  if (links.empty())
    return;
  links.back().next = none;

  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  auto offer = [&](uint32_t left) {
    if (left == none || links[left].next == none)
      return;
    if (const Rule *found = rule(links[left].id, links[links[left].next].id))
      queue.push({found->rank, left, found->result});
  };
  for (uint32_t i = 0; i < links.size(); ++i)
    offer(i);

  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    Link &left = links[top.left];
    if (left.length == 0 || left.next == none)
      continue;
    Link &right = links[left.next];
    const Rule *now = rule(left.id, right.id); // the neighbours may have changed since the merge was queued
    if (!now || now->result != top.result)
      continue;
    left.id = top.result;
    left.length += right.length;
    right.length = 0;
    left.next = right.next;
    if (left.next != none)
      links[left.next].previous = top.left;
    offer(left.previous);
    offer(top.left);
  }
  for (uint32_t i = 0; i != none; i = links[i].next)
    out.push_back({links[i].id, links[i].length});
}

} // namespace nnterp
