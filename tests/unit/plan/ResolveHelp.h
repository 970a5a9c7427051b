// What the tests of resolving and filling share: plans as text against the tiny model, tables as lists, errors as
// printed.
#pragma once

#include "frontend/plan/Resolved.h"

#include <algorithm>
#include <string>
#include <vector>

namespace nnterp {

using Row = std::vector<int64_t>;
using Rows = std::vector<Row>;

/// tiny-text: 8 blocks (3 and 7 full attention), hidden 48, vocab 320, 4 heads on 2 of 32, delta heads 6 of 16 by 24,
/// 12 experts, 3 per token.
struct TinyModel {
  ModelConfig config;
  PointTable points;
};
inline const TinyModel &model(const std::string &checkpoint = "tiny-text") {
  static std::map<std::string, TinyModel> known;
  auto found = known.find(checkpoint);
  if (found == known.end()) {
    Diagnostics diags;
    ModelConfig config = *loadConfig(std::string(NNTERP_TEST_DATA "/checkpoints/") + checkpoint, diags);
    PointTable points = qwen35MoePoints(config);
    found = known.emplace(checkpoint, TinyModel{std::move(config), std::move(points)}).first;
  }
  return found->second;
}

/// A plan resolved and, with lengths, filled. Lines of `messages` are as printed, without the last newline.
struct Run {
  std::optional<ResolvedPlan> plan;
  std::optional<std::map<std::string, Tensor>> buffers;
  std::vector<std::string> messages;
  BatchInfo batch;
  const TinyModel *of = nullptr;

  bool has(const std::string &name) const { return buffers->count(name); }
  const Tensor &operator[](const std::string &name) const { return buffers->at(name); }
  /// A 1-D table.
  Row row(const std::string &name) const {
    const Tensor &t = buffers->at(name);
    return {t.as<int64_t>(), t.as<int64_t>() + elementCount(t.shape)};
  }
  /// A 2-D table.
  Rows rows(const std::string &name) const {
    const Tensor &t = buffers->at(name);
    Rows result;
    for (int64_t r = 0; r < t.shape.at(0); ++r)
      result.emplace_back(t.as<int64_t>() + r * t.shape.at(1), t.as<int64_t>() + (r + 1) * t.shape.at(1));
    return result;
  }
  std::vector<float> floats(const std::string &name) const {
    const Tensor &t = buffers->at(name);
    return {t.as<float>(), t.as<float>() + elementCount(t.shape)};
  }
  Shape tap(size_t index) const { return tapShape(plan->taps[index], of->points, *buffers, batch); }
};

/// Resolves a plan's text, whose file is called `p` in places; fills its buffers for these lengths, if any.
inline Run run(const std::string &text, std::vector<int64_t> lengths = {}, int64_t seq = 0,
               const TinyModel &on = model()) {
  Diagnostics diags;
  Run result;
  result.of = &on;
  std::optional<Json> json = parseJson(text, "p", diags);
  std::optional<Plan> plan = json ? readPlan(*json, "", diags) : std::nullopt;
  if (plan)
    result.plan = resolvePlan(std::make_shared<const Plan>(std::move(*plan)), on.points, on.config, diags);
  if (result.plan && !lengths.empty()) {
    result.batch = {std::max(seq, *std::max_element(lengths.begin(), lengths.end())), lengths};
    result.buffers = fillBuffers(*result.plan, on.points, on.config, result.batch, diags);
  }
  for (const Diagnostic &diagnostic : diags.all()) {
    result.messages.push_back(format(diagnostic));
    result.messages.back().pop_back();
  }
  return result;
}

/// Entries stand on lines of their own, so that places in messages are easy to tell: edits begin in line 2, the rest
/// follows.
inline std::string members(const std::vector<std::string> &edits, const std::string &rest = "\"taps\":[]") {
  std::string text = "{\"nnterp_plan\":1,\"edits\":[";
  for (size_t i = 0; i < edits.size(); ++i)
    text += (i ? ",\n" : "\n") + edits[i];
  return text + "],\n" + rest + "}";
}
inline std::string taps(const std::string &list) { return "{\"nnterp_plan\":1,\"taps\":[\n" + list + "]}"; }

using Messages = std::vector<std::string>;

} // namespace nnterp
