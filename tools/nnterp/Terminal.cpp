// The progress line, diagnostics and results.
#include "tools/nnterp/Terminal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace nnterp {

ProgressBar::ProgressBar(bool wanted) : enabled(wanted && isatty(STDERR_FILENO)) {}

void ProgressBar::show(std::string_view phase, double fraction) {
  if (!enabled)
    return;
  constexpr int width = 40;
  fraction = std::clamp(fraction, 0.0, 1.0);
  const int full = int(fraction * width);
  char percent[8];
  std::snprintf(percent, sizeof percent, "%3d %%", int(fraction * 100));
  std::string line(phase);
  line.resize(std::max<size_t>(line.size() + 1, 9), ' ');
  line += "[" + std::string(size_t(full), '#') + std::string(size_t(width - full), '.') + "] " + percent;
  if (line == drawn)
    return;
  drawn = std::move(line);
  std::fprintf(stderr, "\r%s\033[K", drawn.c_str());
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (drawn.empty())
    return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn.clear();
}

void ProgressBar::stop() {
  clear();
  enabled = false;
}

int report(const Diagnostics &diags, bool quiet) {
  for (const Diagnostic &diagnostic : diags.all())
    if (diagnostic.severity != Severity::note || !quiet)
      std::fputs(format(diagnostic).c_str(), stderr);
  return diags.hasErrors() ? exitDiagnosed : exitSuccess;
}

static Json place(const SourceLoc &loc) {
  Json json = Json::dict();
  json.add("file", Json::of(loc.file)).add("line", Json::of(int64_t(loc.line))).add("col", Json::of(int64_t(loc.col)));
  return json;
}

Json toJson(const Diagnostics &diags) {
  std::vector<Json> list;
  for (const Diagnostic &diagnostic : diags.all()) {
    Json json = place(diagnostic.loc);
    const char *severity = diagnostic.severity == Severity::error     ? "error"
                           : diagnostic.severity == Severity::warning ? "warning"
                                                                      : "note";
    std::vector<Json> notes;
    for (const Diagnostic::Note &note : diagnostic.notes) {
      Json noteJson = place(note.loc);
      notes.push_back(noteJson.add("message", Json::of(note.message)));
    }
    json.add("code", Json::of(diagnostic.code))
        .add("severity", Json::of(severity))
        .add("message", Json::of(diagnostic.message))
        .add("notes", Json::list(std::move(notes)));
    list.push_back(std::move(json));
  }
  return Json::list(std::move(list));
}

int print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return exitSuccess;
  Diagnostics diags;
  diags.error("NNT0102", {"standard output", 0, 0},
              std::string("the result cannot be written: ") + std::strerror(errno));
  return report(diags);
}

} // namespace nnterp
