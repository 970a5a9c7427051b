// Helpers of the configuration tests.
#pragma once

#include "frontend/Config.h"
#include "frontend/names/PointTable.h"

#include <catch2/catch.hpp>

namespace nnterp::test {

inline std::optional<ModelConfig> configOf(const std::string &text, Diagnostics &diags) {
  auto json = parseJson(text, "config.json", diags);
  return json ? readConfig(*json, diags) : std::nullopt;
}

/// A bare text configuration with `fields` added, e.g. `"hidden_size": 64`.
inline std::string textConfig(const std::string &fields) {
  return "{\"model_type\": \"qwen3_5_moe_text\"" + (fields.empty() ? "" : ",\n " + fields) + "}";
}

/// A configuration that must be good.
inline ModelConfig goodConfig(const std::string &text) {
  Diagnostics diags;
  auto config = configOf(text, diags);
  for (const Diagnostic &d : diags.all())
    if (d.severity == Severity::error)
      INFO(format(d));
  REQUIRE_FALSE(diags.hasErrors());
  REQUIRE(config);
  return *config;
}

inline ModelConfig checkpointConfig(const std::string &folder) {
  Diagnostics diags;
  auto config = loadConfig(NNTERP_TEST_DATA "/" + folder, diags);
  REQUIRE_FALSE(diags.hasErrors());
  REQUIRE(config);
  return *config;
}

inline std::vector<std::string> errorLines(const std::string &text) {
  Diagnostics diags;
  auto config = configOf(text, diags);
  std::vector<std::string> lines;
  for (const Diagnostic &d : diags.all())
    if (d.severity == Severity::error)
      lines.push_back(format(d));
  CHECK(config.has_value() == lines.empty());
  return lines;
}

inline std::vector<std::string> namesOf(const std::vector<PointRef> &points) {
  std::vector<std::string> names;
  for (const PointRef &point : points)
    names.push_back(point.name());
  return names;
}

/// Names that a pattern stands for, or the error as `CODE message | note | note`.
inline std::vector<std::string> expandNames(const PointTable &table, const std::string &pattern, int64_t matched = -1) {
  NameError error;
  auto points = table.expand(pattern, error, matched);
  if (points)
    return namesOf(*points);
  std::string text = error.code + " " + error.message;
  for (const std::string &note : error.notes)
    text += " | " + note;
  return {text};
}

} // namespace nnterp::test
