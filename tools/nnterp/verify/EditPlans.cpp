// Writes plans as JSON text.
#include "tools/nnterp/verify/EditPlans.h"

#include <algorithm>

namespace nnterp::verify {

namespace {

/// `layers[0,3].`, for the blocks that `wanted` accepts; "" when there is none.
template <class Wanted> std::string scope(const std::vector<int64_t> &blocks, Wanted wanted) {
  std::string list;
  for (int64_t block : blocks)
    if (wanted(block))
      list += (list.empty() ? "" : ",") + std::to_string(block);
  return list.empty() ? "" : "layers[" + list + "].";
}

std::string everyScope(const std::vector<int64_t> &blocks) {
  return scope(blocks, [](int64_t) { return true; });
}

/// The entries of a plan, one text per entry.
struct PlanText {
  std::vector<std::string> edits, taps;

  void edit(const std::string &world, const std::string &at, const std::string &what, const std::string &select = "") {
    edits.push_back(R"({"world": ")" + world + R"(", "at": ")" + at + "\"" +
                    (select.empty() ? "" : R"(, "select": )" + select) + R"(, "do": )" + what + "}");
  }
  void tap(const std::string &world, const std::string &at, bool before = false) {
    taps.push_back(R"({"world": ")" + world + R"(", "at": ")" + at + "\"" + (before ? R"(, "when": "before")" : "") +
                   "}");
  }
  std::string json(const std::string &worlds) const {
    auto list = [](const std::vector<std::string> &entries) {
      std::string text;
      for (const std::string &entry : entries)
        text += (text.empty() ? "" : ",\n  ") + entry;
      return "[" + text + "]";
    };
    return R"({"nnterp_plan": 1, "worlds": )" + worlds + ", \"edits\": " + list(edits) + ", \"taps\": " + list(taps) +
           "}";
  }
};

std::string heads(int64_t head) { return R"({"heads": [)" + std::to_string(head) + "]}"; }

constexpr const char *zero = R"({"zero": {}})", *one = R"({"fill": 1})";

} // namespace

EditTargets editTargets(const ModelConfig &config, std::vector<int64_t> experts) {
  return {std::move(experts), config.numKvHeads - 1, std::min<int64_t>(1, config.linearValueHeads - 1)};
}

std::vector<std::string> allNames(const PointTable &points, const std::vector<int64_t> &blocks) {
  std::vector<std::string> names;
  for (const PointRef &point : points.points())
    if (point.info->presence != Presence::image &&
        (!point.info->inBlock() || std::binary_search(blocks.begin(), blocks.end(), point.layer)))
      names.push_back(point.name());
  return names;
}

std::string tapPlan(const std::vector<std::string> &names) {
  Json taps = Json::list();
  for (const std::string &name : names)
    taps.array.push_back(Json::of(name));
  return Json::dict().add("nnterp_plan", Json::of(int64_t(1))).add("taps", std::move(taps)).dump();
}

std::vector<std::string> namesBackwards(const std::vector<int64_t> &blocks) {
  std::vector<std::string> names{"logits"};
  for (size_t i = blocks.size(); i-- > 0;)
    for (const char *name :
         {"layer_output", "mlp.router_logits", "mlp.shared_experts.output", "layer_mid", "layer_input"})
      names.push_back("layers[" + std::to_string(blocks[i]) + "]." + name);
  return names;
}

std::string editedPlan(const ModelConfig &config, const std::vector<int64_t> &blocks, const EditTargets &targets) {
  PlanText plan;
  const std::string all = everyScope(blocks), full = scope(blocks, [&](int64_t i) { return config.isFull(i); }),
                    linear = scope(blocks, [&](int64_t i) { return !config.isFull(i); });
  for (const char *entry : {"layer_input", "layer_mid"})
    plan.edit("edited", all + entry, R"({"replace": {"world": "base"}})");
  if (!full.empty()) {
    for (const char *name : {"self_attn.attention_keys", "self_attn.attention_values"})
      plan.edit("edited", full + name, zero, heads(targets.keyValueHead));
    plan.edit("edited", full + "self_attn.attention_head_outputs", one);
    plan.tap("base", full + "self_attn.q_proj.output");
    plan.tap("base", full + "self_attn.attention_head_outputs");
    plan.tap("edited", full + "self_attn.attention_head_outputs", true);
    for (const char *name : {"self_attn.attention_scores", "self_attn.attention_premix"})
      plan.tap("*", full + name);
  }
  if (!linear.empty()) {
    plan.edit("edited", linear + "linear_attn.attention_keys", zero, heads(targets.copiedHead));
    for (const char *name : {"linear_attn.attention_head_outputs", "linear_attn.state_output"})
      plan.tap("*", linear + name);
  }
  plan.edit("edited", all + "mlp.shared_experts.mlp_output", one);
  plan.edit("edited", all + "mlp.shared_expert_output", zero);
  for (size_t i = 0; i < blocks.size(); ++i)
    plan.edit("edited", "layers[" + std::to_string(blocks[i]) + "].mlp.expert_weights",
              R"({"drop": {"experts": [)" + std::to_string(targets.experts[i]) + "]}}");
  for (const char *name : {"mlp.shared_expert_gate.output", "mlp.shared_experts.mlp_output"})
    plan.tap("base", all + name);
  plan.tap("edited", all + "mlp.shared_expert_output", true);
  for (const char *name : {"mlp.shared_expert_output", "mlp.expert_indices", "mlp.expert_weights", "mlp.expert_outputs",
                           "mlp.routed_output", "mlp.mlp_output"})
    plan.tap("*", all + name);
  return plan.json(R"({"base": {"input": "main"}, "edited": {"input": "main"}})");
}

std::string reroutedPlan(const std::vector<int64_t> &blocks, const EditTargets &targets) {
  PlanText plan;
  const std::string all = everyScope(blocks);
  for (size_t i = 0; i < blocks.size(); ++i)
    plan.edit("main", "layers[" + std::to_string(blocks[i]) + "].mlp.router_logits",
              R"({"reroute": {"experts": [)" + std::to_string(targets.experts[i]) + "]}}");
  plan.tap("main", all + "mlp.router_logits", true);
  for (const char *name :
       {"mlp.router_logits", "mlp.expert_indices", "mlp.expert_weights", "mlp.expert_outputs", "mlp.routed_output"})
    plan.tap("main", all + name);
  return plan.json(R"({"main": {"input": "main"}})");
}

} // namespace nnterp::verify
