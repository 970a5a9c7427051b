// Reads parts of tokenizer.json: what is there must be known, and have a value this version can act on.
#pragma once

#include "runtime/abi/Json.h"

#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// A member that a part may have.
struct PartOption {
  std::string_view key;
  /// JSON texts of the values that are read; empty where the value is read elsewhere.
  std::vector<std::string_view> allowed = {};
  bool optional = false;
};

/// Checks parts and remembers whether all was well. A part is named by its path in the file; the whole file has "".
class PartReader {
public:
  explicit PartReader(Diagnostics &diags) : diags(diags) {}

  bool good() const { return !failed; }
  Diagnostic &error(std::string code, const SourceLoc &loc, std::string message);

  /// Checks kind, members and values of an object. Errors: NNT0104, NNT0402, NNT0408.
  bool check(const Json &part, const std::string &path, const std::vector<PartOption> &options);
  /// The member of an object if it has the kind asked for. Errors: NNT0104, NNT0408.
  const Json *member(const Json &part, const std::string &path, std::string_view key, Json::Kind kind);
  bool hasKind(const Json &value, const std::string &path, Json::Kind kind);

private:
  void missing(const Json &part, const std::string &path, std::string_view key, const std::string &expected);

  Diagnostics &diags;
  bool failed = false;
};

/// "a.b"
std::string join(const std::string &path, std::string_view key);

/// A JSON string for messages: quoted and escaped.
std::string quoted(std::string_view text);

} // namespace nnterp
