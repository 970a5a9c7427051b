// The stack machine of Python's pickles, reduced to plain values.
#include "runtime/weights/PickleMachine.h"

namespace nnterp {

int PickleMachine::run() {
  while (problem.empty() && position < bytes.size()) {
    uint8_t op = uint8_t(bytes[position++]);
    if (op == '.')
      return pop();
    step(op);
  }
  if (problem.empty())
    problem = "it ends before its end mark";
  return -1;
}

void PickleMachine::fail(const char *reason) {
  if (problem.empty())
    problem = reason;
}

uint64_t PickleMachine::number(size_t width) {
  std::string_view raw = take(width);
  uint64_t value = 0;
  for (size_t i = raw.size(); i-- > 0;)
    value = value << 8 | uint8_t(raw[i]);
  return value;
}

std::string_view PickleMachine::take(uint64_t size) {
  if (size > bytes.size() - position) {
    fail("it ends within a value");
    return {};
  }
  position += size;
  return bytes.substr(position - size, size);
}

std::string PickleMachine::line() {
  size_t end = bytes.find('\n', position);
  if (end == std::string_view::npos) {
    fail("it ends within a name");
    return "";
  }
  std::string text(bytes.substr(position, end - position));
  position = end + 1;
  return text;
}

int PickleMachine::make(Kind kind) {
  nodes.emplace_back().kind = kind;
  return int(nodes.size()) - 1;
}

void PickleMachine::pushInteger(int64_t value) {
  push(Kind::integer);
  nodes.back().integer = value;
}

void PickleMachine::pushText(Kind kind, std::string text) {
  push(kind);
  nodes.back().text = std::move(text);
}

int PickleMachine::pop() {
  size_t floor = marks.empty() ? 0 : marks.back();
  if (stack.size() <= floor) {
    fail("it takes a value where there is none");
    return make(Kind::none);
  }
  int top = stack.back();
  stack.pop_back();
  return top;
}

int PickleMachine::top() {
  int node = pop();
  push(node);
  return node;
}

std::vector<int> PickleMachine::popToMark() {
  if (marks.empty()) {
    fail("it asks for a mark where there is none");
    return {};
  }
  std::vector<int> items(stack.begin() + long(marks.back()), stack.end());
  stack.resize(marks.back());
  marks.pop_back();
  return items;
}

void PickleMachine::pushItems(Kind kind, std::vector<int> items) {
  push(kind);
  nodes.back().items = std::move(items);
}

void PickleMachine::pushTuple(size_t count) {
  std::vector<int> items(count);
  for (size_t i = count; i-- > 0;)
    items[i] = pop();
  pushItems(Kind::tuple, std::move(items));
}

/// A signed integer of any width; only those of up to 8 bytes can be a size.
void PickleMachine::readLong() {
  uint64_t width = number(1);
  if (width > 8) {
    take(width);
    return push(Kind::other);
  }
  uint64_t value = number(width);
  if (width > 0 && width < 8 && value >> (8 * width - 1))
    value |= ~uint64_t(0) << 8 * width;
  pushInteger(int64_t(value));
}

/// Adds to the list or dict on the stack; other objects (sets, instances) hold nothing we look for.
void PickleMachine::extend(const std::vector<int> &items) {
  PickleNode &target = nodes[size_t(top())];
  if (target.kind == Kind::dict && items.size() % 2 != 0)
    return fail("it gives a dict a key without a value");
  if (target.kind == Kind::list || target.kind == Kind::dict)
    target.items.insert(target.items.end(), items.begin(), items.end());
}

void PickleMachine::recall(uint64_t slot) {
  auto it = memo.find(slot);
  if (it == memo.end())
    return fail("it recalls a value that was not stored");
  push(it->second);
}

/// ('storage', type, key, place, size): a reference to a record of the archive.
void PickleMachine::resolvePersistentId() {
  int id = pop();
  std::vector<int> parts = nodes[size_t(id)].items;
  push(Kind::storage);
  if (parts.size() < 5 || !is(parts[1], Kind::global) || !is(parts[2], Kind::text))
    return fail("it refers to a storage in an unknown way");
  nodes.back().text = nodes[size_t(parts[2])].text;
  nodes.back().dtype = parts[1];
}

/// Calls we know the meaning of; the result of any other is a value we do not look into.
void PickleMachine::call(int function, int arguments, int depth) {
  const std::string name = is(function, Kind::global) ? nodes[size_t(function)].text : "";
  const std::vector<int> args = nodes[size_t(arguments)].items;
  if (name == "torch._utils _rebuild_tensor" || name == "torch._utils _rebuild_tensor_v2" ||
      name == "torch._utils _rebuild_tensor_v3")
    return rebuildTensor(args, name.back() == '3');
  if ((name == "torch._utils _rebuild_parameter" || name == "torch._utils _rebuild_parameter_with_state") &&
      !args.empty())
    return push(args[0]);
  if (name == "torch._tensor _rebuild_from_type_v2" && args.size() >= 3 && depth < 8)
    return call(args[0], args[2], depth + 1);
  if (name == "collections OrderedDict" || name == "collections defaultdict")
    return push(Kind::dict);
  push(Kind::other);
}

void PickleMachine::rebuildTensor(const std::vector<int> &args, bool typed) {
  push(Kind::tensor);
  if (args.size() < (typed ? 7 : 4) || !is(args[0], Kind::storage) || !is(args[1], Kind::integer) ||
      !is(args[2], Kind::tuple) || !is(args[3], Kind::tuple) || (typed && !is(args[6], Kind::global)))
    return fail("it describes a tensor in an unknown way");
  nodes.back().storage = args[0];
  nodes.back().items = {args[1], args[2], args[3]};
  nodes.back().dtype = typed ? args[6] : nodes[size_t(args[0])].dtype;
}

/// One operation; the letters are those of Python's pickletools, protocols 2 to 5.
void PickleMachine::step(uint8_t op) {
  switch (op) {
  case 0x80: // PROTO
    return void(take(1));
  case 0x95: // FRAME
    return void(take(8));
  case '(':
    return marks.push_back(stack.size());
  case '0': // POP
    return void(pop());
  case '1': // POP_MARK
    return void(popToMark());
  case '2': // DUP
    return push(top());
  case 'N':
    return push(Kind::none);
  case 0x88: // NEWTRUE
  case 0x89: // NEWFALSE
    return push(Kind::other);
  case 'K':
    return pushInteger(int64_t(number(1)));
  case 'M':
    return pushInteger(int64_t(number(2)));
  case 'J':
    return pushInteger(int32_t(number(4)));
  case 0x8a: // LONG1
    return readLong();
  case 0x8b: // LONG4
    take(number(4));
    return push(Kind::other);
  case 'G': // BINFLOAT
    take(8);
    return push(Kind::other);
  case 'X':
    return pushText(Kind::text, std::string(take(number(4))));
  case 0x8c: // SHORT_BINUNICODE
    return pushText(Kind::text, std::string(take(number(1))));
  case 0x8d: // BINUNICODE8
    return pushText(Kind::text, std::string(take(number(8))));
  case 'U': // SHORT_BINSTRING
  case 'C': // SHORT_BINBYTES
    take(number(1));
    return push(Kind::other);
  case 'T': // BINSTRING
  case 'B': // BINBYTES
    take(number(4));
    return push(Kind::other);
  case 0x8e: // BINBYTES8
  case 0x96: // BYTEARRAY8
    take(number(8));
    return push(Kind::other);
  case '}':
    return push(Kind::dict);
  case ']':
    return push(Kind::list);
  case ')':
    return push(Kind::tuple);
  case 0x8f: // EMPTY_SET
    return push(Kind::other);
  case 't':
    return pushItems(Kind::tuple, popToMark());
  case 0x85:
  case 0x86:
  case 0x87:
    return pushTuple(op - 0x84u);
  case 'l':
  case 'd': {
    std::vector<int> items = popToMark();
    push(op == 'l' ? Kind::list : Kind::dict);
    return extend(items);
  }
  case 0x91: // FROZENSET
    popToMark();
    return push(Kind::other);
  case 'a':
    return extend({pop()});
  case 's': {
    int value = pop(), key = pop();
    return extend({key, value});
  }
  case 'e':
  case 'u':
    return extend(popToMark());
  case 0x90: // ADDITEMS
    return void(popToMark());
  case 'c': {
    std::string module = line();
    return pushText(Kind::global, module + " " + line());
  }
  case 0x93: { // STACK_GLOBAL
    int name = pop(), module = pop();
    if (!is(name, Kind::text) || !is(module, Kind::text))
      return fail("it names a class by something other than text");
    return pushText(Kind::global, nodes[size_t(module)].text + " " + nodes[size_t(name)].text);
  }
  case 'Q':
    return resolvePersistentId();
  case 'R': {
    int arguments = pop(), function = pop();
    return call(function, arguments);
  }
  case 0x81: // NEWOBJ
    pop(), pop();
    return push(Kind::other);
  case 0x92: // NEWOBJ_EX
    pop(), pop(), pop();
    return push(Kind::other);
  case 'b': // BUILD: attributes, such as the _metadata of a state dict
    return void(pop());
  case 'q':
    return memoize(number(1));
  case 'r':
    return memoize(number(4));
  case 0x94: // MEMOIZE
    return memoize(memo.size());
  case 'h':
    return recall(number(1));
  case 'j':
    return recall(number(4));
  default:
    return fail("it has an operation that torch.save does not write");
  }
}

} // namespace nnterp
