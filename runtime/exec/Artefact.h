// A compiled program as a folder, which needs no compiler to run.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Manifest.h"

#include <optional>
#include <string>
#include <string_view>

namespace nnterp {

/// `program.so`, `manifest.json`, `checksum` of the two, and `plan.json` where the folder is for people to keep: the
/// plan that was compiled, with absolute paths.
struct Artefact {
  std::string folder;
  std::string object; ///< path of program.so
  Manifest manifest;
  std::string plan;   ///< text of plan.json; "" = none

  std::string planPath() const;
};

/// Writes the files into a folder that exists, the checksum last. Errors: NNT0102.
bool writeArtefact(const std::string &folder, std::string_view object, const Manifest &manifest, const std::string &plan,
                   Diagnostics &diags);

/// Errors: NNT1748 (a file is missing or damaged), NNT1015 (of another version of this tool), those of Manifest::fromJson.
std::optional<Artefact> readArtefact(const std::string &folder, Diagnostics &diags);

} // namespace nnterp
