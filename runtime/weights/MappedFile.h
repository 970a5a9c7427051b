// A file mapped for reading.
#pragma once

#include "runtime/abi/Diagnostic.h"

#include <memory>
#include <string>
#include <string_view>

namespace nnterp {

/// The bytes of a file; whoever copies `keep` keeps the mapping alive.
struct MappedFile {
  std::shared_ptr<void> keep; ///< null: could not be mapped
  std::string_view bytes;

  explicit operator bool() const { return keep != nullptr; }
};

/// Maps `path`. Errors: NNT0101, at `from` where given, else at the file itself.
MappedFile mapFile(const std::string &path, Diagnostics &diags, const SourceLoc &from = {});

} // namespace nnterp
