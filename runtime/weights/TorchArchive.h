// The LibTorch module as seen from here: loaded on the first use, one archive per object.
#pragma once

#include <cstdint>
#include <map>
#include <string>

struct NnterpTorchApi;

namespace nnterp {

/// Functions return false and say in `problem` why.
class TorchArchive {
public:
  TorchArchive() = default;
  ~TorchArchive();
  TorchArchive(const TorchArchive &) = delete;
  TorchArchive &operator=(const TorchArchive &) = delete;

  /// Loads the module (which stays loaded).
  bool load();
  bool open(const std::string &path);
  /// The records and where in the file their bytes begin.
  bool list(std::map<std::string, uint64_t> &offsets);
  bool read(const char *name, std::string &bytes);

  std::string problem;

private:
  const NnterpTorchApi *api = nullptr;
  void *handle = nullptr;
};

} // namespace nnterp
