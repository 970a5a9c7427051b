// Checks on a plan's JSON that all its readers share, and the refusal of what the format knows but this version does
// not do.
#pragma once

#include "frontend/plan/Plan.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// Names of worlds, inputs, values, ids, aliases and sweep variables: [A-Za-z_][A-Za-z0-9_-]*
bool isPlanName(std::string_view text);
/// A whole decimal integer that fits int64: "-3".
std::optional<int64_t> toInteger(std::string_view text);
/// A half-open range with Python meaning: "2:5", "-2:", ":".
std::optional<Range> toRange(std::string_view text);
/// The operations of an edit that this version does: all but `call`. In the order of enum Op.
const std::vector<std::string> &operationNames();

/// `; the nearest are "a", "b" or "c"`, or nothing when there are no candidates.
std::string suggest(std::string_view word, const std::vector<std::string> &candidates);
/// A value in a message: scalars as they stand, lists and objects by kind.
std::string shown(const Json &json);

/// What the format knows and this version does not do; each has its code NNT09xx.
enum class Later { sweep, edge, call };

/// Base of the plan reader. A check that returns nothing has reported why; `what` names the checked thing in messages.
class PlanChecks {
public:
  explicit PlanChecks(Diagnostics &diags) : diags(diags) {}

protected:
  void error(const char *code, const SourceLoc &loc, std::string message) {
    diags.error(code, loc, std::move(message));
  }
  /// Refuses a feature: one error per feature, further places are its notes.
  void later(Later feature, const SourceLoc &loc);

  bool is(const Json &json, Json::Kind kind, std::string_view what);
  /// Reports every key of an object that is not known.
  void checkKeys(const Json &object, std::string_view what, const std::vector<std::string> &known);
  /// The member called `key`, which must be there.
  const Json *need(const Json &object, std::string_view key, std::string_view what);

  std::optional<std::string> text(const Json &json, std::string_view what);
  /// A string that is a name of the plan.
  std::optional<std::string> planName(const Json &json, std::string_view what);
  bool checkName(const std::string &name, const SourceLoc &loc, std::string_view what);
  /// A number of the plan, rounded to float32. A sweep variable is refused.
  std::optional<double> number(const Json &json, std::string_view what);
  /// An integer not below `least`. A sweep variable is refused.
  std::optional<int64_t> integer(const Json &json, std::string_view what, int64_t least);
  /// One of the words; `code` is used for any other string.
  std::optional<std::string> word(const Json &json, std::string_view what, const std::vector<std::string> &words);
  /// A value's name where one is used: it must be defined.
  std::optional<std::string> valueName(const Json &json, std::string_view what);
  /// Whether a text holds a sweep variable `$NAME`; if so it is checked and refused.
  bool mentionsSweep(std::string_view text, const SourceLoc &loc);

  Diagnostics &diags;
  std::vector<std::string> valueNames;                ///< what `values` defines, sound or not
  std::optional<std::vector<std::string>> sweepNames; ///< what `sweep` declares; nothing without `sweep`

private:
  std::map<Later, size_t> refused; ///< feature -> its diagnostic
};

} // namespace nnterp
