// A file that appears under its name complete or not at all.
#pragma once

#include "runtime/abi/Diagnostic.h"

#include <string>
#include <string_view>

namespace nnterp {

/// Writes to a temporary name beside `path`; `commit` renames. Whatever is not committed is removed. What exists and is
/// no ordinary file (a pipe, /dev/null) is written directly.
class AtomicFile {
public:
  explicit AtomicFile(const std::string &path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(const void *bytes, size_t size);
  /// Errors: NNT0102, for anything that went wrong since opening.
  bool commit(Diagnostics &diags);

private:
  void remember(int reason);

  std::string path, target, temporary;
  int fd = -1;
  int failure = 0; ///< errno of the first thing that went wrong
};

} // namespace nnterp
