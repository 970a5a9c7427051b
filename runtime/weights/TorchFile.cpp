// PyTorch archives as tensor files: the LibTorch module finds the records, the tensors are views of the mapped file.
#include "runtime/weights/MappedFile.h"
#include "runtime/weights/TensorSource.h"
#include "runtime/weights/TorchArchive.h"
#include "runtime/weights/TorchPickle.h"

#include <algorithm>
#include <map>

namespace nnterp {

namespace {

class TorchFile : public TensorSource {
public:
  explicit TorchFile(const std::string &path) : file(path) {}

  bool open(Diagnostics &diags) {
    auto fail = [&](const char *code, std::string message) {
      diags.error(code, {file, 0, 0}, std::move(message));
      return false;
    };
    mapped = mapFile(file, diags);
    if (!mapped)
      return false;
    if (mapped.bytes.substr(0, 2) != "PK")
      return fail("NNT0312", "expected a zip as torch.save writes it since PyTorch 1.6, found another format");
    TorchArchive archive;
    if (!archive.load())
      return fail("NNT0311", "reading \"" + file + "\" needs LibTorch: " + archive.problem);
    std::map<std::string, uint64_t> offsets;
    std::string pickle, order;
    if (!archive.open(file) || !archive.list(offsets) || !archive.read("data.pkl", pickle))
      return fail("NNT0312", "LibTorch cannot read the archive: " + archive.problem);
    if (offsets.count("byteorder") && archive.read("byteorder", order) && order != "little")
      return fail("NNT0312", "expected little-endian data, found \"" + order + "\"");
    if (!readTorchPickle(pickle, file, tensors, diags))
      return false;
    std::string problem = place(offsets);
    return problem.empty() || fail("NNT0312", problem);
  }

  const std::string &path() const override { return file; }
  const std::vector<SafetensorsEntry> &entries() const override { return list; }

  bool inPlace(size_t i) const override {
    return dense[i] && reinterpret_cast<uintptr_t>(start(i)) % byteSize(list[i].dtype) == 0;
  }

  Tensor tensor(size_t i) const override {
    if (inPlace(i)) {
      Tensor view;
      view.dtype = list[i].dtype;
      view.shape = list[i].shape;
      view.data = const_cast<char *>(start(i));
      view.keep = mapped.keep;
      return view;
    }
    Tensor copy = Tensor::make(list[i].dtype, list[i].shape);
    const size_t width = byteSize(copy.dtype);
    const Shape &shape = list[i].shape, &strides = tensors[i].strides;
    Shape at(shape.size(), 0);
    int64_t source = 0; // element under `at`, relative to the first
    for (int64_t n = 0, count = elementCount(shape); n < count; ++n) {
      std::memcpy(copy.as<char>() + size_t(n) * width, start(i) + size_t(source) * width, width);
      for (size_t d = shape.size(); d-- > 0;) {
        source += strides[d];
        if (++at[d] < shape[d])
          break;
        source -= strides[d] * shape[d];
        at[d] = 0;
      }
    }
    return copy;
  }

private:
  const char *start(size_t i) const { return mapped.bytes.data() + list[i].begin; }

  /// Finds each tensor's bytes and checks that they lie within its record; the result says what is wrong.
  std::string place(const std::map<std::string, uint64_t> &offsets) {
    std::map<uint64_t, uint64_t> next; // where a record begins -> where the one after it begins
    for (const auto &record : offsets)
      next[record.second] = mapped.bytes.size();
    for (auto it = next.begin(); it != next.end() && std::next(it) != next.end(); ++it)
      it->second = std::next(it)->first;
    for (const PickledTensor &tensor : tensors) {
      auto record = offsets.find("data/" + tensor.storage);
      if (record == offsets.end())
        return "tensor \"" + tensor.key + "\": the archive has no record \"data/" + tensor.storage + "\"";
      if (!isStored(record->second))
        return "record \"" + record->first + "\" is compressed; expected it stored, as torch.save does";
      uint64_t elements = span(tensor), width = byteSize(tensor.dtype), begin, bytes, end;
      if (elements == UINT64_MAX || __builtin_mul_overflow(uint64_t(tensor.offset), width, &begin) ||
          __builtin_add_overflow(begin, record->second, &begin) || __builtin_mul_overflow(elements, width, &bytes) ||
          __builtin_add_overflow(begin, bytes, &end) || end > next[record->second])
        return "tensor \"" + tensor.key + "\" of shape " + toString(tensor.shape) + " and strides " +
               toString(tensor.strides) + " does not fit into its record \"" + record->first + "\"";
      list.push_back({tensor.key, tensor.dtype, tensor.shape, begin, end});
      dense.push_back(isDense(tensor));
    }
    return "";
  }

  /// How many elements lie between a tensor's first and last one; UINT64_MAX for impossible shapes and strides. The
  /// number of elements may not be much larger either, so that a small file cannot ask for all memory.
  static uint64_t span(const PickledTensor &tensor) {
    constexpr uint64_t bad = UINT64_MAX;
    if (tensor.offset < 0)
      return bad;
    uint64_t last = 0, count = 1;
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      int64_t extent = tensor.shape[d], stride = tensor.strides[d];
      uint64_t reach;
      if (extent < 0 || stride < 0 || __builtin_mul_overflow(count, uint64_t(extent), &count))
        return bad;
      if (extent > 0 && (__builtin_mul_overflow(uint64_t(extent - 1), uint64_t(stride), &reach) ||
                         __builtin_add_overflow(last, reach, &last)))
        return bad;
    }
    constexpr uint64_t maxExpanded = uint64_t(1) << 32;
    if (count == 0)
      return 0;
    return last == bad || (count > last + 1 && count > maxExpanded) ? bad : last + 1;
  }

  static bool isDense(const PickledTensor &tensor) {
    int64_t expected = 1;
    for (size_t d = tensor.shape.size(); d-- > 0;) {
      if (tensor.shape[d] != 1 && tensor.strides[d] != expected)
        return elementCount(tensor.shape) == 0;
      expected *= tensor.shape[d];
    }
    return true;
  }

  /// Whether the zip's local header in front of a record says "stored" (method 0). It is found by its signature,
  /// because the name and an extra field (which aligns the record) stand between it and the bytes.
  bool isStored(uint64_t offset) const {
    constexpr uint64_t fixed = 30, longest = fixed + 2 * 0xffff;
    auto number = [&](uint64_t at) {
      return uint64_t(uint8_t(mapped.bytes[at])) | uint64_t(uint8_t(mapped.bytes[at + 1])) << 8;
    };
    if (offset > mapped.bytes.size())
      return false;
    for (uint64_t back = fixed; back <= std::min(offset, longest); ++back) {
      uint64_t at = offset - back;
      if (mapped.bytes.compare(at, 4, "PK\3\4") == 0 && fixed + number(at + 26) + number(at + 28) == back)
        return number(at + 8) == 0;
    }
    return false;
  }

  std::string file;
  MappedFile mapped;
  std::vector<PickledTensor> tensors;
  std::vector<SafetensorsEntry> list;
  std::vector<bool> dense;
};

} // namespace

std::shared_ptr<TensorSource> openTorchFile(const std::string &path, Diagnostics &diags) {
  auto file = std::make_shared<TorchFile>(path);
  return file->open(diags) ? file : nullptr;
}

} // namespace nnterp
