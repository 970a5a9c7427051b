// Writes safetensors files, atomically.
#include "runtime/abi/Json.h"
#include "runtime/weights/AtomicFile.h"
#include "runtime/weights/Safetensors.h"

#include <algorithm>
#include <numeric>

namespace nnterp {

bool writeSafetensors(const std::string &path, const std::vector<std::pair<std::string, Tensor>> &tensors,
                      const std::map<std::string, std::string> &metadata, Diagnostics &diags) {
  // The header lists tensors in the order given; the data lie by falling element size, so that, with the header padded
  // to 8 bytes, each tensor is aligned to its type without gaps (which the format forbids).
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return byteSize(tensors[a].second.dtype) > byteSize(tensors[b].second.dtype);
  });
  std::vector<uint64_t> begin(tensors.size());
  uint64_t end = 0;
  for (size_t i : order) {
    begin[i] = end;
    end += tensors[i].second.bytes();
  }

  Json header = Json::dict();
  if (!metadata.empty()) {
    Json map = Json::dict();
    for (const auto &[key, value] : metadata)
      map.add(key, Json::of(value));
    header.add("__metadata__", std::move(map));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &tensor = tensors[i].second;
    Json shape = Json::list();
    for (int64_t extent : tensor.shape)
      shape.array.push_back(Json::of(extent));
    Json entry = Json::dict();
    entry.set("dtype", Json::of(std::string(safetensorsName(tensor.dtype))));
    entry.set("shape", std::move(shape));
    entry.set("data_offsets", Json::list({Json::of(int64_t(begin[i])), Json::of(int64_t(begin[i] + tensor.bytes()))}));
    header.add(tensors[i].first, std::move(entry));
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');

  AtomicFile file(path);
  unsigned char length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = uint8_t(uint64_t(text.size()) >> 8 * i);
  file.write(length, sizeof length);
  file.write(text.data(), text.size());
  for (size_t i : order)
    file.write(tensors[i].second.data, tensors[i].second.bytes());
  return file.commit(diags);
}

} // namespace nnterp
