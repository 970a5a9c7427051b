// Diagnosed errors: a stable code, a place in the user's text, what was expected and what was found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// A place in text that came from the user. `line` and `col` are 1-based; 0 means unknown (then only `file` is
/// printed).
struct SourceLoc {
  std::string file;
  int line = 0;
  int col = 0;
};

/// Severity of a diagnostic; notes inform and do not stop a run.
enum class Severity { error, warning, note };

/// One error (or warning) with the notes that explain it. `code` is a stable `NNT####` of Errors.def.
struct Diagnostic {
  std::string code;
  SourceLoc loc;
  std::string message;
  Severity severity = Severity::error;
  struct Note {
    SourceLoc loc;
    std::string message;
  };
  std::vector<Note> notes;
};

/// Collects diagnostics; library code reports here and never prints or exits.
class Diagnostics {
public:
  /// Adds an error and returns it, so that notes can be attached.
  Diagnostic &error(std::string code, SourceLoc loc, std::string message);
  /// Adds a remark that does not stop anything (for example, how many tokens a routing edit touched).
  Diagnostic &note(SourceLoc loc, std::string message);

  bool hasErrors() const;
  const std::vector<Diagnostic> &all() const { return list; }
  std::vector<Diagnostic> &all() { return list; }

private:
  std::vector<Diagnostic> list;
};

/// `file:line:col: error NNT0601: message` followed by indented notes, one per line, each ending in a newline.
std::string format(const Diagnostic &diagnostic);

/// One row of Errors.def: the code, a short title, and a sentence on what it means.
struct ErrorInfo {
  std::string_view code, title, text;
};

/// All rows of Errors.def, in its order.
const std::vector<ErrorInfo> &errorTable();

/// What an error code is about, from Errors.def; empty for an unknown code.
std::string_view explain(std::string_view code);

/// The up to `count` candidates nearest to `word` by edit distance, nearest first.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string> &candidates, size_t count = 3);

/// `"a", "b" or "c"`: a list for messages.
std::string joinOr(const std::vector<std::string> &words);

} // namespace nnterp
