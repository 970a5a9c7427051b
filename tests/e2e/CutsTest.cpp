// Spec/plan.md 1: how a sequence is cut into calls never changes what a plan means. Under the plain lowering not a bit.
#include "tests/e2e/Runs.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

std::string namesAsJson(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return "[" + list + "]";
}

/// Taps every value of the model.
std::string everything(const std::string &checkpoint, const std::string &edits = "") {
  return R"({"nnterp_plan": 1, "edits": [)" + edits + "], \"taps\": " + namesAsJson(everyName(checkpoint)) + "}";
}

/// Edits that act on every token, prompt and generated alike: what they mean cannot depend on which is which.
const char *const onEveryToken = R"(
  {"at": "layers[0].linear_attn.betas", "select": {"heads": [0, 2]}, "do": {"scale": 0.5}},
  {"at": "layers[1].linear_attn.decays", "select": {"heads": 1}, "do": {"fill": -0.25}},
  {"at": "layers[2].linear_attn.states", "select": {"heads": 0}, "do": {"scale": 0.75}},
  {"at": "layers[3].self_attn.attention_keys", "select": {"heads": 0}, "do": {"scale": -1.5}},
  {"at": "layers[3].self_attn.attention_values", "do": {"add": 0.125}},
  {"at": "layers[4].mlp.expert_weights", "do": {"drop": {"experts": [2, 3]}}},
  {"at": "layers[5].mlp.router_logits", "do": {"reroute": {"experts": [1]}}},
  {"at": "layers[6].layer_output", "do": {"scale": 1.25}})";

/// Edits at tokens of the prompt and of the generated text, through memory and sources.
const char *const atPlaces = R"(
  {"at": "layers[1].linear_attn.conv_state", "select": {"seq": "prompt[-1]", "window": -1}, "do": {"zero": {}}},
  {"at": "layers[1].linear_attn.state_output", "select": {"heads": 0}, "do": {"scale": 0.5}},
  {"at": "layers[2].linear_attn.states", "select": {"seq": ["prompt[0]", "gen[1]"]}, "do": {"scale": 0.5}},
  {"at": "layers[3].self_attn.attention_keys", "select": {"seq": "prompt[0]"}, "do": {"scale": -1}},
  {"at": "layers[3].self_attn.past_values", "select": {"key": "prompt[-1]", "heads": 1}, "do": {"zero": {}}},
  {"at": "layers[4].layer_output", "select": {"seq": ["prompt[-1]", "gen[*]"]}, "do": {"add": 0.25}},
  {"at": "layers[5].layer_output", "select": {"seq": "gen[*]"},
   "do": {"add": {"at": "layers[5].layer_output", "when": "before", "select": {"seq": "prompt[-1]"}, "scale": 0.5}}},
  {"at": "layers[7].self_attn.attention_scores", "select": {"query": "gen[0:2]", "key": "prompt[0]"}, "do": {"mask": {}}})";

/// A state to start from stands before a row's pads, which decay it as the reference's do: it is not for runs that are
/// compared under other padding.
const char *const atStart = R"(,
  {"at": "layers[0].linear_attn.state_input", "select": {"seq": "prompt[0]", "heads": 1}, "do": {"fill": 0.2}})";

/// Whether two tensors agree, named in `different` when not.
void compare(const std::string &what, const Tensor &a, const Tensor &b, std::string &different) {
  if (!agreeAcrossCuts(a, b) && different.size() < 1000)
    different += what + " " + toString(a.shape) + " " + toString(b.shape) + "; ";
}

/// The tokens that every row generated.
Rows tokensOf(const RunResult &result) {
  Rows rows;
  for (const GeneratedRow &row : result.generated)
    rows.push_back(row.tokens);
  return rows;
}

/// One row of a run that read `length` prompt tokens and was fed `steps` more, against a run that read them all as
/// prompt.
void compareCut(const RunResult &cut, const RunResult &whole, int64_t row, int64_t length, int64_t steps,
                std::string &different) {
  const Outputs parts = outputsOf(cut), all = outputsOf(whole);
  for (const auto &[key, together] : all) {
    const TapSpec *tap = whole.tapOf(key);
    if (!tap || tap->gather.layout == Layout::Sizes)
      continue;
    const Layout layout = tap->gather.layout;
    const std::optional<size_t> batch = axisOf(layout, "batch");
    REQUIRE(batch);
    auto rowOf = [&](const Tensor &tensor) { return part(tensor, *batch, row, 1); };
    /// The last `count` entries: rows are right-aligned.
    auto last = [&](const Tensor &tensor, size_t axis, int64_t count) {
      return part(tensor, axis, tensor.shape[axis] - count, count);
    };
    const bool pattern = layout == Layout::Pattern;
    const std::optional<size_t> tokens = axisOf(layout, pattern ? "query" : "seq");
    auto gen = parts.find(key + "@gen");
    if (!tokens) { // a state, a memory or probabilities: what the last token left
      if (gen != parts.end() && tap->gather.point.find("state_input") == std::string::npos) {
        Tensor end = last(rowOf(gen->second), 1, 1);
        end.shape.erase(end.shape.begin() + 1);
        compare(key + " at the end", end, rowOf(together), different);
      }
      continue;
    }
    REQUIRE(parts.count(key));
    REQUIRE(gen != parts.end());
    Tensor before = last(rowOf(parts.at(key)), *tokens, length), after = rowOf(gen->second),
           both = last(rowOf(together), *tokens, length + steps);
    Tensor first = part(both, *tokens, 0, length), second = last(both, *tokens, steps);
    if (pattern) {
      before = last(before, 3, length);
      first = part(last(first, 3, length + steps), 3, 0, length);
      after = last(after, 3, length + steps);
      second = last(second, 3, length + steps);
    }
    compare(key, before, first, different);
    compare(key + "@gen", after, second, different);
  }
}

/// Reads, generates, and reads again what was generated as part of the prompt.
void checkCut(Setup setup, const std::vector<int64_t> &lengths, int64_t steps) {
  setup.rows = someRows(lengths, 320);
  setup.generation = greedily(steps + 1);
  const RunResult cut = run(setup);
  Setup together = setup;
  together.generation = greedily(1);
  for (size_t b = 0; b < lengths.size(); ++b) {
    const std::vector<int64_t> generated = tokensOf(cut)[b];
    together.rows[b].insert(together.rows[b].end(), generated.begin(), generated.end() - 1);
  }
  const RunResult whole = run(together);
  for (size_t b = 0; b < lengths.size(); ++b) {
    std::string different;
    compareCut(cut, whole, int64_t(b), lengths[b], steps, different);
    INFO("row " << b << " of " << lengths[b] << " tokens: " << different);
    CHECK(different.empty());
    CHECK(tokensOf(whole)[b][0] == tokensOf(cut)[b].back());
  }
}

template <class Check> void onModels(const std::vector<const char *> &checkpoints, Check check) {
  for (const char *checkpoint : checkpoints)
    for (DType dtype : {DType::f32, DType::bf16})
      DYNAMIC_SECTION(checkpoint << " in " << name(dtype)) {
        Setup setup;
        setup.checkpoint = checkpoint;
        setup.dtype = dtype;
        check(std::move(setup));
      }
}

void checkSame(const Outputs &a, const Outputs &b) {
  std::string different;
  CHECK(a.size() == b.size());
  for (const auto &[key, tensor] : a) {
    REQUIRE(b.count(key));
    compare(key, tensor, b.at(key), different);
  }
  INFO(different);
  CHECK(different.empty());
}

} // namespace

TEST_CASE("prefill of n then m steps equals prefill of n + m at every name", "[cuts]") {
  onModels({"tiny-text", "toy"}, [](Setup setup) {
    setup.plan = everything(setup.checkpoint);
    for (int64_t n : {1, 2, 3, 4, 63, 64, 65, 70})
      checkCut(setup, {n}, 5);
    checkCut(setup, {9, 4, 1}, 6);
  });
}

TEST_CASE("so it does under edits of keys, values, states, betas, decays and experts", "[cuts]") {
  onModels({"tiny-text"}, [](Setup setup) {
    setup.plan = everything(setup.checkpoint, onEveryToken);
    for (int64_t n : {1, 4, 64, 70})
      checkCut(setup, {n}, 5);
    checkCut(setup, {9, 4, 1}, 6);
  });
}

TEST_CASE("a prompt in chunks, of pads only included, is one prompt", "[cuts]") {
  onModels({"tiny-text", "toy"}, [](Setup setup) {
    const std::string edits = setup.checkpoint == "tiny-text" ? std::string(atPlaces) + atStart : "";
    for (const std::string &plan : {everything(setup.checkpoint), everything(setup.checkpoint, edits)}) {
      setup.plan = plan;
      setup.rows = someRows({9, 2, 1}, 320);
      setup.extraPads = 3;
      setup.generation = greedily(4);
      setup.chunk = 12;
      const Outputs whole = outputs(setup);
      for (int64_t chunk : {1, 2, 4, 5, 11}) {
        setup.chunk = chunk;
        checkSame(whole, outputs(setup));
      }
      setup.chunk = 0;
      checkSame(whole, outputs(setup));
    }
  });
}

TEST_CASE("a row generates in a batch and under padding as it does alone", "[cuts]") {
  onModels({"tiny-text"}, [](Setup setup) {
    for (const char *edits : {"", onEveryToken, atPlaces}) {
      setup.plan = everything(setup.checkpoint, edits);
      setup.rows = someRows({6, 2, 1, 9}, 320);
      setup.generation = greedily(5);
      const RunResult batch = run(setup);
      const Outputs together = outputsOf(batch);
      for (size_t b = 0; b < setup.rows.size(); ++b) {
        Setup single = setup;
        single.rows = {setup.rows[b]};
        single.extraPads = b % 2 ? 3 : 0;
        const RunResult alone = run(single);
        std::string different;
        for (const auto &[key, tensor] : outputsOf(alone)) {
          const TapSpec *tap = alone.tapOf(key);
          if (!tap || tap->gather.layout == Layout::Sizes)
            continue;
          Tensor row = part(together.at(key), *axisOf(tap->gather.layout, "batch"), int64_t(b), 1), own = tensor;
          for (size_t axis = 1; axis < row.shape.size(); ++axis) { // right-aligned: the last entries are the row's
            const int64_t least = std::min(row.shape[axis], own.shape[axis]);
            row = part(row, axis, row.shape[axis] - least, least);
            own = part(own, axis, own.shape[axis] - least, least);
          }
          compare(key, row, own, different);
        }
        INFO("row " << b << ": " << different);
        CHECK(different.empty());
        CHECK(tokensOf(alone)[0] == tokensOf(batch)[b]);
      }
    }
  });
}

TEST_CASE("rows end on their own", "[cuts]") {
  Setup setup;
  setup.plan = everything("tiny-text");
  setup.rows = someRows({6, 2, 9}, 320);
  setup.generation = greedily(8);
  const RunResult endless = run(setup);
  const Rows tokens = tokensOf(endless);
  setup.generation.eos = {tokens[0][2]};
  setup.generation.pad = 7;
  const RunResult ended = run(setup);
  const Outputs without = outputsOf(endless), with = outputsOf(ended);
  for (size_t b = 0; b < 3; ++b) {
    const auto end = std::find(tokens[b].begin(), tokens[b].end(), tokens[0][2]);
    const int64_t fed = std::min<int64_t>(end - tokens[b].begin(), 7);
    std::string different;
    for (const auto &[key, tensor] : with) {
      const TapSpec *tap = ended.tapOf(key);
      if (!tap || tap->phase != Phase::gen || tap->gather.layout == Layout::Sizes)
        continue;
      const size_t axis = axisOf(tap->gather.layout, "query").value_or(axisOf(tap->gather.layout, "seq").value_or(1));
      const size_t batch = *axisOf(tap->gather.layout, "batch");
      const Tensor row = part(tensor, batch, int64_t(b), 1), full = part(without.at(key), batch, int64_t(b), 1);
      compare(key, part(row, axis, 0, fed), part(full, axis, 0, fed), different);
      const Tensor rest = part(row, axis, fed, 7 - fed);
      compare(key + " behind the end", rest, Tensor::make(rest.dtype, rest.shape), different);
    }
    INFO("row " << b << ": " << different);
    CHECK(different.empty());
  }
  const Tensor &written = with.at("tokens");
  for (int64_t k = 0; k < 8; ++k)
    CHECK(written.at(k) == (k <= 2 ? double(tokens[0][size_t(k)]) : 7));
}
