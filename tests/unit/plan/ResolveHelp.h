// What the tests of resolving and filling share: plans as text against the tiny model, tables as lists, errors as
// printed.
#pragma once

#include "frontend/plan/RunBuffers.h"

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

/// What a run is given besides its plan.
struct Given {
  std::map<std::string, BatchInfo> inputs; ///< none: the plan is only resolved
  int64_t generate = 0, chunk = 0;
  std::map<std::string, std::vector<int64_t>> loaded; ///< by world

  RunShape shape() const {
    bool steps = generate > 1, resume = chunk > 0 || !loaded.empty();
    bool images = std::any_of(inputs.begin(), inputs.end(), [](const auto &input) { return !input.second.grids.empty(); });
    return {generate > 0, steps, steps || resume, resume, false, images};
  }
};
/// Rows of these lengths, padded to `seq` where that is more.
inline BatchInfo rowsOf(std::vector<int64_t> lengths, int64_t seq = 0) {
  return {std::max(seq, *std::max_element(lengths.begin(), lengths.end())), lengths};
}
/// The same with images of h by w patches.
inline BatchInfo picturesOf(std::vector<std::array<int64_t, 2>> sizes, std::vector<int64_t> lengths = {20}) {
  BatchInfo batch = rowsOf(std::move(lengths));
  for (auto [height, width] : sizes)
    batch.grids.push_back({1, height, width});
  return batch;
}
inline Given mainRows(std::vector<int64_t> lengths, int64_t generate = 0, int64_t chunk = 0) {
  return {{{"main", rowsOf(std::move(lengths))}}, generate, chunk, {}};
}

/// A plan resolved and, with inputs, its buffers. Lines of `messages` are as printed, without the last newline.
struct Run {
  std::optional<ResolvedPlan> plan;
  std::optional<RunBuffers> buffers;
  BufferMap filled; ///< what is common to all calls, and the last call that was entered: at first that on the prompt
  std::vector<std::string> messages;

  void chunk(size_t index) { buffers->fill(buffers->promptCalls().at(index), {}, filled); }
  void step(int64_t step, const std::map<std::string, std::vector<bool>> &ended = {}) {
    Call call;
    call.phase = Phase::gen;
    call.step = step;
    buffers->fill(call, ended, filled);
  }

  bool has(const std::string &name) const { return filled.count(name); }
  const Tensor &operator[](const std::string &name) const { return filled.at(name); }
  /// A 1-D table.
  Row row(const std::string &name) const {
    const Tensor &t = filled.at(name);
    return {t.as<int64_t>(), t.as<int64_t>() + elementCount(t.shape)};
  }
  /// A 2-D table.
  Rows rows(const std::string &name) const {
    const Tensor &t = filled.at(name);
    Rows result;
    for (int64_t r = 0; r < t.shape.at(0); ++r)
      result.emplace_back(t.as<int64_t>() + r * t.shape.at(1), t.as<int64_t>() + (r + 1) * t.shape.at(1));
    return result;
  }
  std::vector<float> floats(const std::string &name) const {
    const Tensor &t = filled.at(name);
    return {t.as<float>(), t.as<float>() + elementCount(t.shape)};
  }
  Shape tap(size_t index) const { return buffers->taps().at(index).shape; }
  const TapLayout &tap(const std::string &key) const {
    return *std::find_if(buffers->taps().begin(), buffers->taps().end(),
                         [&](const TapLayout &layout) { return layout.key == key; });
  }
  /// The edit of an entry in one program of one world.
  const EditSpec &edit(size_t entry, Phase phase = Phase::prompt, const std::string &world = "main") const {
    return *std::find_if(plan->edits.begin(), plan->edits.end(), [&](const EditSpec &edit) {
      return edit.entry == entry && edit.phase == phase && edit.world == world;
    });
  }
};

/// Resolves a plan's text, whose file is called `p` in places; makes its buffers for these inputs, if any.
inline Run run(const std::string &text, const Given &given, const TinyModel &on = model()) {
  Diagnostics diags;
  Run result;
  std::optional<Json> json = parseJson(text, "p", diags);
  std::optional<Plan> plan = json ? readPlan(*json, "", diags) : std::nullopt;
  if (plan)
    result.plan =
        resolvePlan(std::make_shared<const Plan>(std::move(*plan)), on.points, on.config, given.shape(), diags);
  if (result.plan && !given.inputs.empty()) {
    RunInfo info{given.inputs, given.generate, given.chunk, given.loaded};
    result.buffers = RunBuffers::make(*result.plan, on.points, on.config, info, diags);
  }
  if (result.buffers) {
    result.filled = result.buffers->common();
    result.chunk(0);
  }
  for (const Diagnostic &diagnostic : diags.all()) {
    result.messages.push_back(format(diagnostic));
    result.messages.back().pop_back();
  }
  return result;
}
inline Run run(const std::string &text, std::vector<int64_t> lengths = {}, int64_t seq = 0) {
  return run(text, lengths.empty() ? Given() : Given{{{"main", rowsOf(std::move(lengths), seq)}}, 0, 0, {}});
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
