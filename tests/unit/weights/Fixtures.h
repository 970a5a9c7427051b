// What the tests of weights share: folders that vanish, files made by hand, lists of wanted tensors.
#pragma once

#include "runtime/weights/Checkpoint.h"

#include <string>
#include <utility>
#include <vector>

namespace nnterp {

/// A new folder, removed with everything in it at the end of the test.
class TempDir {
public:
  TempDir();
  ~TempDir();
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  /// The names in it, sorted.
  std::vector<std::string> names() const;

  std::string path;
};

void writeBytes(const std::string &path, const std::string &bytes);
std::string readBytes(const std::string &path);

/// The bytes of a safetensors file: length, header, `dataSize` bytes counting up from 0.
std::string safetensorsBytes(const std::string &header, size_t dataSize);

/// All diagnostics as they would be printed.
std::string text(const Diagnostics &diags);

Tensor tensorOf(DType dtype, Shape shape, const std::vector<double> &values);
std::vector<double> valuesOf(const Tensor &tensor);

/// Whether type, shape and every bit agree.
bool same(const Tensor &a, const Tensor &b);

using Tensors = std::vector<std::pair<std::string, Tensor>>;
/// Writes `dir`/`name`; the test fails when it cannot.
void save(const TempDir &dir, const std::string &name, const Tensors &tensors);

/// A path below tests/data.
std::string data(const std::string &name);

/// What a graph would want of a checkpoint with fused experts: its text tensors under standard keys.
std::vector<WantedTensor> wantedOf(const std::vector<std::string> &files);

} // namespace nnterp
