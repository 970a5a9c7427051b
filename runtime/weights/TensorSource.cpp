// Opens files of tensors by their kind, and reads single tensors of value files.
#include "runtime/weights/TensorSource.h"

#include <algorithm>

namespace nnterp {

namespace {

class SafetensorsSource : public TensorSource {
public:
  explicit SafetensorsSource(Safetensors file) : file(std::move(file)) {}
  const std::string &path() const override { return file.path(); }
  const std::vector<SafetensorsEntry> &entries() const override { return file.entries(); }
  bool inPlace(size_t i) const override { return file.inPlace(file.entries()[i]); }
  Tensor tensor(size_t i) const override { return file.tensor(file.entries()[i]); }

private:
  Safetensors file;
};

bool endsWith(const std::string &text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// Opens a value file on behalf of the text at `loc`: errors are shown there and name the file.
std::shared_ptr<TensorSource> openFor(const std::string &path, const SourceLoc &loc, Diagnostics &diags) {
  Diagnostics inner;
  std::shared_ptr<TensorSource> source = openTensorSource(path, inner);
  for (Diagnostic &d : inner.all()) {
    if (!loc.file.empty()) {
      if (d.message.find(path) == std::string::npos)
        d.message = "in \"" + path + "\": " + d.message;
      d.loc = loc;
    }
    diags.all().push_back(std::move(d));
  }
  return source;
}

} // namespace

bool isTorchName(const std::string &path) {
  return endsWith(path, ".pt") || endsWith(path, ".pth") || endsWith(path, ".bin");
}

std::shared_ptr<TensorSource> openTensorSource(const std::string &path, Diagnostics &diags) {
  if (isTorchName(path))
    return openTorchFile(path, diags);
  std::optional<Safetensors> file = Safetensors::open(path, diags);
  return file ? std::make_shared<SafetensorsSource>(std::move(*file)) : nullptr;
}

std::optional<Tensor> readTensorFile(const std::string &path, const std::string &key, SourceLoc loc,
                                     Diagnostics &diags) {
  std::shared_ptr<TensorSource> source = openFor(path, loc, diags);
  if (!source)
    return std::nullopt;
  const std::vector<SafetensorsEntry> &entries = source->entries();
  if (key.empty() && entries.size() == 1)
    return source->tensor(0);
  std::vector<std::string> keys;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].key == key)
      return source->tensor(i);
    keys.push_back(entries[i].key);
  }
  std::string found = keys.empty() ? "it holds no tensors" : "it has " + joinOr(nearest(key, keys));
  if (keys.size() > 3)
    found += " (of " + std::to_string(keys.size()) + ")";
  std::string wanted = key.empty() ? "a key is needed to choose a tensor of \"" + path + "\"; "
                                   : "no tensor \"" + key + "\" in \"" + path + "\"; ";
  diags.error("NNT0313", loc.file.empty() ? SourceLoc{path, 0, 0} : loc, wanted + found);
  return std::nullopt;
}

std::optional<std::vector<SafetensorsEntry>> listTensorFile(const std::string &path, SourceLoc loc,
                                                            Diagnostics &diags) {
  std::shared_ptr<TensorSource> source = openFor(path, loc, diags);
  if (!source)
    return std::nullopt;
  return source->entries();
}

} // namespace nnterp
