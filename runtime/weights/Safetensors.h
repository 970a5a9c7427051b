// Reads safetensors files by mmap and writes them atomically.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Tensor.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnterp {

/// One tensor of a file's header. `begin`/`end` are byte offsets within the data section.
struct SafetensorsEntry {
  std::string key;
  DType dtype;
  Shape shape;
  uint64_t begin = 0, end = 0;
};

/// A mapped safetensors file. Tensors are views: they keep the mapping alive.
class Safetensors {
public:
  /// Maps `path` and checks its header whole: length within the file, offsets ordered, not overlapping, within the file,
  /// sizes equal to shape × dtype, known dtypes, unique keys. Errors: NNT0101, NNT03xx.
  static std::optional<Safetensors> open(const std::string &path, Diagnostics &diags);
  /// The same check on bytes in memory (used by fuzzing); `file` names them in messages.
  static bool parseHeader(std::string_view bytes, const std::string &file, std::vector<SafetensorsEntry> &entries,
                          std::map<std::string, std::string> &metadata, uint64_t &dataStart, Diagnostics &diags);

  const std::string &path() const { return file; }
  const std::vector<SafetensorsEntry> &entries() const { return list; }
  const std::map<std::string, std::string> &metadata() const { return meta; }
  const SafetensorsEntry *find(std::string_view key) const;
  std::optional<Tensor> tensor(std::string_view key) const;
  /// The tensor of one of `entries()`: a view, unless it is not aligned for its type in this file (then a copy).
  Tensor tensor(const SafetensorsEntry &entry) const;
  bool inPlace(const SafetensorsEntry &entry) const;

private:
  std::string file;
  std::vector<SafetensorsEntry> list;
  std::map<std::string, std::string> meta;
  std::map<std::string, size_t, std::less<>> index;
  std::shared_ptr<void> mapping;
  uint64_t dataStart = 0;
};

/// Writes tensors in the given order to a temporary name beside `path`, then renames. Errors: NNT0102 (nothing left behind).
bool writeSafetensors(const std::string &path, const std::vector<std::pair<std::string, Tensor>> &tensors,
                      const std::map<std::string, std::string> &metadata, Diagnostics &diags);

/// Writes text to a temporary name beside `path`, then renames. Errors: NNT0102.
bool writeFileAtomically(const std::string &path, std::string_view bytes, Diagnostics &diags);

/// Reads one tensor of a value file: safetensors, or `.pt`/`.pth`/`.bin` through LibTorch (loaded only then).
std::optional<Tensor> readTensorFile(const std::string &path, const std::string &key, SourceLoc loc, Diagnostics &diags);

/// Keys, dtypes and shapes of a value file, without copying data.
std::optional<std::vector<SafetensorsEntry>> listTensorFile(const std::string &path, SourceLoc loc, Diagnostics &diags);

} // namespace nnterp
