// Collects the tensors that the pickle of a torch.save file describes.
#include "runtime/weights/TorchPickle.h"
#include "runtime/weights/PickleMachine.h"

#include <optional>
#include <unordered_map>

namespace nnterp {

namespace {

using Kind = PickleNode::Kind;

/// "torch FloatStorage" or, for an untyped storage, "torch float8_e4m3fn".
std::optional<DType> dtypeOf(const std::string &global) {
  static const std::unordered_map<std::string, DType> storages = {
      {"torch DoubleStorage", DType::f64},  {"torch FloatStorage", DType::f32},     {"torch HalfStorage", DType::f16},
      {"torch LongStorage", DType::i64},    {"torch BFloat16Storage", DType::bf16}, {"torch IntStorage", DType::i32},
      {"torch ShortStorage", DType::i16},   {"torch CharStorage", DType::i8},       {"torch ByteStorage", DType::u8},
      {"torch BoolStorage", DType::boolean}};
  if (auto it = storages.find(global); it != storages.end())
    return it->second;
  return global.rfind("torch ", 0) == 0 ? fromTorchName(std::string_view(global).substr(6)) : std::nullopt;
}

/// Names the tensors of the value tree.
class Collector {
public:
  Collector(const std::vector<PickleNode> &nodes, const std::string &file, std::vector<PickledTensor> &tensors,
            Diagnostics &diags)
      : nodes(nodes), file(file), tensors(tensors), diags(diags) {}

  bool visit(int index, const std::string &key, int depth = 0) {
    const PickleNode &node = nodes[size_t(index)];
    if (depth > maxDepth || ++visited > maxVisits || key.size() > maxKey) {
      diags.error("NNT0312", {file, 0, 0}, "the pickle in this file is nested or shared without bound");
      return false;
    }
    if (node.kind == Kind::tensor)
      return add(node, key);
    bool dict = node.kind == Kind::dict;
    if (!dict && node.kind != Kind::list && node.kind != Kind::tuple)
      return true;
    for (size_t i = 0; i < node.items.size(); i += dict ? 2 : 1) {
      std::optional<std::string> name = dict ? nameOf(node.items[i]) : std::to_string(i);
      if (name && !visit(node.items[dict ? i + 1 : i], key.empty() ? *name : key + "." + *name, depth + 1))
        return false;
    }
    return true;
  }

private:
  static constexpr int maxDepth = 64, maxVisits = 2'000'000;
  static constexpr size_t maxKey = 4096;

  std::optional<std::string> nameOf(int index) const {
    const PickleNode &node = nodes[size_t(index)];
    if (node.kind == Kind::text)
      return node.text;
    if (node.kind == Kind::integer)
      return std::to_string(node.integer);
    return std::nullopt;
  }

  /// The numbers of a tuple; false when it holds anything else.
  bool integers(int index, Shape &out) const {
    for (int item : nodes[size_t(index)].items) {
      if (nodes[size_t(item)].kind != Kind::integer)
        return false;
      out.push_back(nodes[size_t(item)].integer);
    }
    return true;
  }

  bool add(const PickleNode &node, const std::string &key) {
    PickledTensor tensor;
    tensor.key = key;
    tensor.storage = nodes[size_t(node.storage)].text;
    tensor.offset = nodes[size_t(node.items[0])].integer;
    if (!integers(node.items[1], tensor.shape) || !integers(node.items[2], tensor.strides) ||
        tensor.shape.size() != tensor.strides.size()) {
      diags.error("NNT0312", {file, 0, 0}, "tensor \"" + key + "\": its shape and strides are not lists of numbers");
      return false;
    }
    const std::string &type = nodes[size_t(node.dtype)].text;
    std::optional<DType> dtype = dtypeOf(type);
    if (!dtype) {
      diags.error("NNT0303", {file, 0, 0}, "tensor \"" + key + "\": unknown element type \"" + type + "\"");
      return false;
    }
    tensor.dtype = *dtype;
    tensors.push_back(std::move(tensor));
    return true;
  }

  const std::vector<PickleNode> &nodes;
  const std::string &file;
  std::vector<PickledTensor> &tensors;
  Diagnostics &diags;
  int visited = 0;
};

} // namespace

bool readTorchPickle(std::string_view bytes, const std::string &file, std::vector<PickledTensor> &tensors,
                     Diagnostics &diags) {
  PickleMachine machine(bytes);
  int root = machine.run();
  if (!machine.problem.empty()) {
    diags.error("NNT0312", {file, 0, 0},
                "the pickle in this file cannot be followed beyond byte " + std::to_string(machine.position) + ": " +
                    machine.problem);
    return false;
  }
  return Collector(machine.nodes, file, tensors, diags).visit(root, "");
}

} // namespace nnterp
