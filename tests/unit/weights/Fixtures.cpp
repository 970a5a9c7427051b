// What the tests of weights share.
#include "Fixtures.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace nnterp {

TempDir::TempDir() {
  std::string pattern = std::filesystem::temp_directory_path().string() + "/nnterp-test-XXXXXX";
  REQUIRE(mkdtemp(pattern.data()));
  path = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::vector<std::string> TempDir::names() const {
  std::vector<std::string> result;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    result.push_back(entry.path().filename().string());
  std::sort(result.begin(), result.end());
  return result;
}

void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  REQUIRE(file.good());
}

std::string readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string safetensorsBytes(const std::string &header, size_t dataSize) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += char(uint64_t(header.size()) >> 8 * i);
  bytes += header;
  for (size_t i = 0; i < dataSize; ++i)
    bytes += char(i);
  return bytes;
}

std::string text(const Diagnostics &diags) {
  std::string all;
  for (const Diagnostic &d : diags.all())
    all += format(d);
  return all;
}

Tensor tensorOf(DType dtype, Shape shape, const std::vector<double> &values) {
  Tensor wide = Tensor::make(DType::f64, std::move(shape));
  REQUIRE(elementCount(wide.shape) == int64_t(values.size()));
  std::copy(values.begin(), values.end(), wide.as<double>());
  return wide.to(dtype);
}

std::vector<double> valuesOf(const Tensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < elementCount(tensor.shape); ++i)
    values.push_back(tensor.at(i));
  return values;
}

bool same(const Tensor &a, const Tensor &b) {
  return a.dtype == b.dtype && a.shape == b.shape && std::memcmp(a.data, b.data, a.bytes()) == 0;
}

void save(const TempDir &dir, const std::string &name, const Tensors &tensors) {
  Diagnostics diags;
  writeSafetensors(dir / name, tensors, {}, diags);
  REQUIRE(text(diags) == "");
}

std::string data(const std::string &name) { return std::string(NNTERP_TEST_DATA) + "/" + name; }

std::vector<WantedTensor> wantedOf(const std::vector<std::string> &files) {
  std::vector<WantedTensor> wanted;
  for (const std::string &file : files) {
    Diagnostics diags;
    std::optional<Safetensors> source = Safetensors::open(data("checkpoints/" + file), diags);
    REQUIRE(source);
    for (const SafetensorsEntry &entry : source->entries()) {
      WantedTensor tensor{entry.key, entry.shape, {}};
      if (tensor.key.find("model.visual.") == 0)
        continue;
      if (size_t at = tensor.key.find("language_model."); at != std::string::npos)
        tensor.key.erase(at, std::string("language_model.").size());
      if (tensor.key.find("experts.gate_up_proj") != std::string::npos)
        tensor.expertParts = {"gate_proj", "up_proj"};
      if (tensor.key.find("experts.down_proj") != std::string::npos)
        tensor.expertParts = {"down_proj"};
      wanted.push_back(tensor);
    }
  }
  return wanted;
}

} // namespace nnterp
