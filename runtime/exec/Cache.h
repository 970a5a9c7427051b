// Compiled programs on disk, one folder per key, shared by all processes of a user.
#pragma once

#include "runtime/exec/Artefact.h"

#include <optional>
#include <string>
#include <string_view>

namespace nnterp {

/// `<root>/<key>`, each an artefact without a plan. An entry appears by renaming a complete folder, so readers see
/// all of it or nothing; of two processes that store the same key, the second keeps the first one's. An entry that is
/// damaged or incomplete counts as absent and is replaced.
class ProgramCache {
public:
  explicit ProgramCache(std::string root) : root(std::move(root)) {}
  /// $NNTERP_CACHE_DIR, else $XDG_CACHE_HOME/nnterp, else ~/.cache/nnterp; "" when none of them is set.
  static std::string defaultRoot();

  std::optional<Artefact> find(const std::string &key) const;
  /// Errors: NNT1016 when the cache cannot be written.
  std::optional<Artefact> store(const std::string &key, std::string_view object, const Manifest &manifest,
                                Diagnostics &diags) const;

private:
  std::string root;
};

} // namespace nnterp
