// The outcome of checks for people and for scripts.
#include "tools/nnterp/report/Units.h"
#include "tools/nnterp/verify/Verify.h"

#include <algorithm>
#include <cstdio>

namespace nnterp::verify {

namespace {

const char *resultWord(const Findings &f) {
  if (!f.skipped.empty())
    return "skipped";
  if (!f.passed())
    return "FAILS";
  return f.limit > 0 ? "close" : "exact";
}

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string lengths(const VerifyReport &report) {
  std::string text;
  for (const auto &row : report.rows)
    text += (text.empty() ? "" : ", ") + std::to_string(row.size());
  return text;
}

/// Lines of cells, each column as wide as its widest cell; the last is not padded.
std::string table(const std::vector<std::vector<std::string>> &lines) {
  std::vector<size_t> widths(lines.front().size(), 0);
  for (const auto &line : lines)
    for (size_t i = 0; i + 1 < line.size(); ++i)
      widths[i] = std::max(widths[i], displayWidth(line[i]));
  std::string text;
  for (const auto &line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i)
      text += padded(line[i], widths[i]) + "  ";
    text += line.back() + "\n";
  }
  return text;
}

} // namespace

std::string reportText(const VerifyReport &report) {
  std::vector<std::vector<std::string>> lines{{"check", "blocks", "result", "largest difference", "what holds"}};
  for (const Outcome &o : report.outcomes) {
    const Findings &f = o.findings;
    lines.push_back(
        {o.check->name, o.blocks.empty() ? "-" : indexList(o.blocks), resultWord(f),
         !f.skipped.empty() ? "-" : shortNumber(f.largest) + (f.limit > 0 ? " of " + shortNumber(f.limit) : ""),
         f.skipped.empty() ? o.check->promise : f.skipped});
  }
  std::string text = table(lines);
  const size_t failures = report.failures(),
               skipped = size_t(std::count_if(report.outcomes.begin(), report.outcomes.end(),
                                              [](const Outcome &o) { return !o.findings.skipped.empty(); }));
  const size_t held = report.outcomes.size() - failures - skipped;
  return text + "\n" + std::to_string(held) + " of " + std::to_string(report.outcomes.size() - skipped) +
         " checks hold" + (skipped ? ", " + std::to_string(skipped) + " skipped" : "") + ": " +
         std::string(name(report.dtype)) + ", " +
         (report.rows.size() == 1 ? "1 row of " : std::to_string(report.rows.size()) + " rows of ") + lengths(report) +
         " tokens, " + std::to_string(report.generate) + " generated\n";
}

std::string reportJson(const VerifyReport &report) {
  Json list = Json::list();
  for (const Outcome &o : report.outcomes) {
    const Findings &f = o.findings;
    Json blocks = Json::list();
    for (int64_t block : o.blocks)
      blocks.array.push_back(Json::of(block));
    Json entry = Json::dict();
    entry.add("check", Json::of(o.check->name))
        .add("promise", Json::of(o.check->promise))
        .add("blocks", std::move(blocks))
        .add("result", Json::of(!f.skipped.empty() ? "skipped"
                                : f.passed()       ? "holds"
                                                   : "fails"))
        .add("exact", Json::of(f.limit == 0))
        .add("compared", Json::of(f.compared))
        .add("different", Json::of(f.different))
        .add("largest_difference", std::isfinite(f.largest) ? Json::of(f.largest) : Json())
        .add("limit", Json::of(f.limit));
    if (!f.passed())
      entry.add("first", Json::of(f.first));
    if (!f.skipped.empty())
      entry.add("why", Json::of(f.skipped));
    list.array.push_back(std::move(entry));
  }
  Json rows = Json::list();
  for (const auto &row : report.rows) {
    Json ids = Json::list();
    for (int64_t id : row)
      ids.array.push_back(Json::of(id));
    rows.array.push_back(std::move(ids));
  }
  return Json::dict()
             .add("checkpoint", Json::of(report.checkpoint))
             .add("dtype", Json::of(std::string(name(report.dtype))))
             .add("ids", std::move(rows))
             .add("generate", Json::of(report.generate))
             .add("holds", Json::of(report.failures() == 0))
             .add("milliseconds", Json::of(report.milliseconds))
             .add("checks", std::move(list))
             .dump(1) +
         "\n";
}

std::string checkList() {
  std::vector<std::vector<std::string>> lines;
  for (const Check &check : checks())
    lines.push_back({check.name, check.promise});
  return table(lines);
}

} // namespace nnterp::verify
