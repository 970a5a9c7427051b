// What the tests of the plan reader share: a plan's text read, and its errors as they are printed.
#pragma once

#include "frontend/plan/Plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

struct Reading {
  std::optional<Plan> plan;
  std::vector<std::string> errors; ///< formatted, without the last newline
  std::vector<std::string> codes;  ///< sorted, each once

  void collect(const Diagnostics &diags) {
    for (const Diagnostic &diagnostic : diags.all()) {
      errors.push_back(format(diagnostic));
      errors.back().pop_back();
      codes.push_back(diagnostic.code);
    }
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  }
};

/// Reads a plan's text, whose file is called `p` in places.
inline Reading readText(const std::string &text, const std::string &directory = "") {
  Diagnostics diags;
  Reading reading;
  if (std::optional<Json> json = parseJson(text, "p", diags))
    reading.plan = readPlan(*json, directory, diags);
  reading.collect(diags);
  return reading;
}

/// A plan with these members after `nnterp_plan`. The first member begins in column 18.
inline Reading readMembers(const std::string &members) { return readText("{\"nnterp_plan\":1," + members + "}"); }

/// A plan with one edit at `x` that does this.
inline Reading readDo(const std::string &action) {
  return readMembers("\n\"values\":{\"vector\":{\"data\":[1,2]}},\"edits\":[{\"at\":\"x\",\"do\":\n" + action + "}]");
}

/// A plan with one tap at `x` that selects this.
inline Reading readSelect(const std::string &select) {
  return readMembers("\n\"values\":{\"where\":{\"data\":[1,2]}},\"taps\":[{\"at\":\"x\",\"select\":\n" + select + "}]");
}

} // namespace nnterp
