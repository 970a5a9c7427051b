// Collects and formats diagnosed errors, and finds the nearest right name for a wrong one.
#include "runtime/abi/Diagnostic.h"

#include <algorithm>
#include <numeric>

namespace nnterp {

Diagnostic &Diagnostics::error(std::string code, SourceLoc loc, std::string message) {
  return list.emplace_back(Diagnostic{std::move(code), std::move(loc), std::move(message), Severity::error, {}});
}

Diagnostic &Diagnostics::note(SourceLoc loc, std::string message) {
  return list.emplace_back(Diagnostic{"", std::move(loc), std::move(message), Severity::note, {}});
}

bool Diagnostics::hasErrors() const {
  return std::any_of(list.begin(), list.end(), [](const Diagnostic &d) { return d.severity == Severity::error; });
}

/// `file:line:col: `, `file: ` or nothing, as far as the place is known.
static std::string prefix(const SourceLoc &loc) {
  if (loc.file.empty())
    return "";
  std::string text = loc.file;
  if (loc.line > 0)
    text += ":" + std::to_string(loc.line);
  if (loc.line > 0 && loc.col > 0)
    text += ":" + std::to_string(loc.col);
  return text + ": ";
}

std::string format(const Diagnostic &diagnostic) {
  static constexpr const char *words[] = {"error", "warning", "note"};
  std::string text = prefix(diagnostic.loc) + words[int(diagnostic.severity)];
  if (!diagnostic.code.empty())
    text += " " + diagnostic.code;
  text += ": " + diagnostic.message + "\n";
  for (const Diagnostic::Note &note : diagnostic.notes)
    text += "  " + prefix(note.loc) + "note: " + note.message + "\n";
  return text;
}

const std::vector<ErrorInfo> &errorTable() {
  static const std::vector<ErrorInfo> table = {
#define NNTERP_ERROR(CODE, TITLE, TEXT) {#CODE, TITLE, TEXT},
#include "runtime/abi/Errors.def"
  };
  return table;
}

std::string_view explain(std::string_view code) {
  for (const ErrorInfo &info : errorTable())
    if (info.code == code)
      return info.text;
  return {};
}

/// Levenshtein distance, with one row of the table at a time. What both begin or end with costs nothing, and is left
/// out first: names of any length share a long beginning with their candidates.
static size_t editDistance(std::string_view a, std::string_view b) {
  const size_t begin = size_t(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  a.remove_prefix(begin), b.remove_prefix(begin);
  const size_t end = size_t(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin());
  a.remove_suffix(end), b.remove_suffix(end);
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string> &candidates, size_t count) {
  std::vector<std::pair<size_t, size_t>> ranked; // distance, index: equal distances keep the order given
  ranked.reserve(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i)
    ranked.emplace_back(editDistance(word, candidates[i]), i);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> result;
  for (size_t i = 0; i < std::min(count, ranked.size()); ++i)
    result.push_back(candidates[ranked[i].second]);
  return result;
}

std::string joinOr(const std::vector<std::string> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += "\"" + words[i] + "\"";
  }
  return text;
}

} // namespace nnterp
