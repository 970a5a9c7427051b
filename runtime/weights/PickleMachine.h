// The stack machine of Python's pickles, reduced to plain values: nothing is imported or called.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nnterp {

/// A value of the pickle. Values refer to one another by index, because pickles share them (and may build cycles).
struct PickleNode {
  enum class Kind { none, integer, text, global, tuple, list, dict, storage, tensor, other };
  Kind kind = Kind::other;
  int64_t integer = 0;
  std::string text;       ///< of text; "module name" of global; key of storage
  std::vector<int> items; ///< of tuple and list; of dict: key, value, key, value, …
  int dtype = -1;         ///< of storage and tensor: index of the node (a global) that names its type
  int storage = -1;       ///< of tensor: and items are offset, shape, strides
};

/// Follows a pickle; every value it makes is one of `nodes`.
class PickleMachine {
public:
  explicit PickleMachine(std::string_view bytes) : bytes(bytes) {}

  std::vector<PickleNode> nodes;
  size_t position = 0; ///< the byte reached
  std::string problem; ///< why `run` failed

  /// Follows the program to its end; the result is the index of the value it leaves, or -1.
  int run();

private:
  using Kind = PickleNode::Kind;

  void step(uint8_t operation);
  void fail(const char *reason);

  uint64_t number(size_t width); ///< little endian, unsigned
  std::string_view take(uint64_t size);
  std::string line();
  void readLong();

  int make(Kind kind);
  void push(int node) { stack.push_back(node); }
  void push(Kind kind) { push(make(kind)); }
  void pushInteger(int64_t value);
  void pushText(Kind kind, std::string text);
  void pushItems(Kind kind, std::vector<int> items);
  void pushTuple(size_t count);
  int pop();
  int top();
  std::vector<int> popToMark(); ///< the values pushed since the last mark
  bool is(int node, Kind kind) const { return nodes[size_t(node)].kind == kind; }

  void extend(const std::vector<int> &items);
  void memoize(uint64_t slot) { memo[slot] = top(); }
  void recall(uint64_t slot);
  void resolvePersistentId();
  void call(int function, int arguments, int depth = 0);
  void rebuildTensor(const std::vector<int> &arguments, bool typed);

  std::string_view bytes;
  std::vector<int> stack;
  std::vector<size_t> marks; ///< heights of the stack
  std::unordered_map<uint64_t, int> memo;
};

} // namespace nnterp
