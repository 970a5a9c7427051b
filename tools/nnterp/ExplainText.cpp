// Writes explanations for people and for scripts.
#include "tools/nnterp/Explain.h"

#include "tools/nnterp/report/Units.h"

namespace nnterp {

namespace {

std::string line(const std::string &head, const std::string &text) { return padded(head, 12) + text + "\n"; }

std::string kernelsText(const std::string &what, const EntryReport &entry) {
  std::string kinds;
  for (const auto &[kind, count] : entry.kinds)
    kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + kind.substr(kind.find('.') + 1);
  return what + ": " + std::to_string(entry.kernels) + " kernels (" + kinds + ")";
}

/// What a world computes for itself.
std::string sharingText(const WorldReport &world, int64_t blocks, bool first) {
  if (world.ops == 0)
    return "computes nothing of its own: all is shared with worlds before it";
  if (first)
    return "computed whole";
  if (world.firstOwnBlock < 0)
    return "shares nothing";
  if (world.firstOwnBlock == 0)
    return "shares the embedding with a world before it, its own from block 0 on";
  const std::string shared =
      world.firstOwnBlock == 1 ? "block 0" : "blocks 0-" + std::to_string(world.firstOwnBlock - 1);
  return "shares " + shared + " with a world before it" +
         (world.firstOwnBlock >= blocks ? ", and all blocks: only what follows them is its own"
                                        : ", its own from block " + std::to_string(world.firstOwnBlock) + " on");
}

} // namespace

std::string explanationText(const Explanation &e) {
  const ResolvedPlan &plan = e.prepared.resolved;
  std::string text = line("programs", kernelsText("prompt", e.report.prompt));
  if (plan.shape.images)
    text += line("", kernelsText("images", e.report.images));
  if (plan.shape.steps)
    text += line("", kernelsText("generated tokens", e.report.step));
  if (plan.declaresWorlds) {
    size_t width = 0;
    for (const WorldSpec &world : plan.worlds)
      width = std::max(width, displayWidth(world.name));
    for (size_t i = 0; i < plan.worlds.size(); ++i) {
      const WorldReport shared =
          i < e.report.prompt.worlds.size() ? e.report.prompt.worlds[i] : WorldReport{e.report.blocks, 0};
      text += line(i == 0 ? "worlds" : "", padded(plan.worlds[i].name, width + 2) + "input " + plan.worlds[i].input +
                                               ": " + sharingText(shared, e.report.blocks, i == 0));
    }
  }
  for (const CallCost &call : e.calls)
    text += line(&call == &e.calls.front() ? "work" : "", call.what + ": " + flopsText(call.flops) + ", weights read " +
                                                              bytesText(call.weightBytes + call.expertBytes) + " (" +
                                                              bytesText(call.expertBytes) + " of experts)");
  text += line("taps", std::to_string(e.tapTensors) + (e.tapTensors == 1 ? " tensor, " : " tensors, ") +
                           bytesText(double(e.tapBytes)));
  if (plan.shape.memory)
    text += line("state",
                 bytesText(double(e.stateBytes)) + " per sequence of " + std::to_string(e.stateTokens) + " tokens");
  text += line("memory", e.memory.text());
  if (e.memory.mapped)
    text += line("", "besides, " + bytesText(double(e.memory.mapped)) + " of weights are read in place");
  if (!e.hasWeights)
    text += line("", "(a configuration alone: weights count as stored in its dtype)");
  if (e.launches)
    text += launchesText(*e.launches);
  return text;
}

std::string explanationJson(const Explanation &e) {
  const ResolvedPlan &plan = e.prepared.resolved;
  auto entry = [](const EntryReport &report) {
    Json kinds = Json::dict();
    for (const auto &[kind, count] : report.kinds)
      kinds.add(kind, Json::of(count));
    return Json::dict().add("kernels", Json::of(report.kernels)).add("kinds", kinds);
  };
  Json programs = Json::dict();
  programs.add("prompt", entry(e.report.prompt));
  if (plan.shape.images)
    programs.add("images", entry(e.report.images));
  if (plan.shape.steps)
    programs.add("step", entry(e.report.step));
  std::vector<Json> worlds, calls;
  for (size_t i = 0; i < plan.worlds.size(); ++i) {
    const WorldReport shared =
        i < e.report.prompt.worlds.size() ? e.report.prompt.worlds[i] : WorldReport{e.report.blocks, 0};
    worlds.push_back(Json::dict()
                         .add("name", Json::of(plan.worlds[i].name))
                         .add("input", Json::of(plan.worlds[i].input))
                         .add("first_own_block", Json::of(shared.firstOwnBlock))
                         .add("own_ops", Json::of(shared.ops)));
  }
  for (const CallCost &call : e.calls)
    calls.push_back(Json::dict()
                        .add("what", Json::of(call.what))
                        .add("flops", Json::of(call.flops))
                        .add("weight_bytes", Json::of(call.weightBytes))
                        .add("expert_bytes", Json::of(call.expertBytes)));
  Json memory = Json::dict();
  memory.add("mapped_weights", Json::of(int64_t(e.memory.mapped)))
      .add("copied_weights", Json::of(int64_t(e.memory.copied)))
      .add("uploaded_weights", Json::of(int64_t(e.memory.uploaded)))
      .add("state", Json::of(int64_t(e.memory.state)))
      .add("outputs", Json::of(int64_t(e.memory.outputs)))
      .add("activations", Json::of(int64_t(e.memory.activations)))
      .add("peak", Json::of(int64_t(e.memory.total())));
  Json json = Json::dict();
  json.add("programs", programs)
      .add("blocks", Json::of(e.report.blocks))
      .add("worlds", Json::list(std::move(worlds)))
      .add("calls", Json::list(std::move(calls)))
      .add("taps", Json::dict().add("tensors", Json::of(e.tapTensors)).add("bytes", Json::of(int64_t(e.tapBytes))))
      .add("state", Json::dict()
                        .add("bytes_per_sequence", Json::of(int64_t(e.stateBytes)))
                        .add("tokens", Json::of(e.stateTokens)))
      .add("memory", memory);
  if (e.launches)
    json.add("device", launchesJson(*e.launches));
  return json.dump(1) + "\n";
}

} // namespace nnterp
