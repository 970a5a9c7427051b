// Taps: which tensors of the output file an entry stands for, and their keys (spec/plan.md 7).
#include "frontend/plan/Resolve.h"

#include "frontend/plan/Selection.h"

namespace nnterp {

std::string Resolver::keyOf(const PlanTap &tap, const std::string &world, const std::string &value, bool alone) const {
  std::string key = result.prefix(world) + (tap.as.empty() ? value : alone ? tap.as : tap.as + "/" + value);
  return tap.when == When::before ? key + "@before" : key;
}

bool Resolver::claimKey(const std::string &key, size_t entry, const PointRef &point) {
  auto [known, added] = keys.try_emplace(key, KeyOwner{entry, point});
  if (added)
    return true;
  const PlanTap &tap = plan.taps[entry], &other = plan.taps[known->second.entry];
  bool same = known->second.point == point && other.when == tap.when &&
              sameSelection(pointerTo(other.select), pointerTo(tap.select));
  if (!same)
    diags.error("NNT0804", tap.loc, "two different taps write the key \"" + key + "\"; name one of them with \"as\"")
        .notes.push_back({other.loc, "the other tap"});
  return false;
}

void Resolver::resolveTap(size_t entry) {
  const PlanTap &tap = plan.taps[entry];
  const Select *select = pointerTo(tap.select);
  if (tap.at == "tokens" && result.shape.next)
    return resolveTokens(entry);
  std::optional<std::vector<PointRef>> matched = expand(tap.at, tap.atLoc);
  if (!matched)
    return;
  const PointInfo &info = *matched->front().info;
  bool sound = checkSelect(select, matched->front(), false);
  sound &= checkOneToken(tap.at, select, tap.atLoc);
  if (!sound)
    return;
  Phases phases = phasesOf(select, info);
  if (phases.gen && !phases.prompt && !result.shape.steps) {
    const AxisSelection *tokens =
        chosen(select, isPlaced(info.layout) ? "seq" : axes(info.layout)[*tokenAxisOf(info.layout)]);
    if (hasGenIndex(*tokens)) // ranges clip, indices do not
      checkFed(select, info, tap.atLoc);
    else
      diags.note(tap.loc, "this tap of " + matched->front().name() + " selects nothing in any row and is not written");
    return;
  }

  TapSpec spec;
  spec.entry = entry;
  spec.gather.layout = info.layout;
  spec.gather.when = tap.when;
  for (const std::string &name : tap.worlds)
    for (const PointRef &point : *matched)
      for (Phase phase : {Phase::images, Phase::prompt, Phase::gen}) {
        if (!phases.has(phase) || (phase == Phase::gen && !result.shape.steps))
          continue;
        spec.phase = spec.gather.phase = phase;
        spec.key = keyOf(tap, name, point.name(), matched->size() == 1) + (phase == Phase::gen ? "@gen" : "");
        if (!claimKey(spec.key, entry, point))
          continue;
        spec.gather.world = name;
        spec.gather.point = point.name();
        spec.gather.tables = gatherTables({"t" + std::to_string(entry), phase, &world(name)}, "", info.layout, select);
        result.taps.push_back(spec);
      }
}

/// `tokens`: what the run itself writes, whole and once per world.
void Resolver::resolveTokens(size_t entry) {
  const PlanTap &tap = plan.taps[entry];
  if (tap.select)
    for (const auto &[axis, selection] : tap.select->axes)
      if (!selection.all) {
        diags.error("NNT0721", selection.loc, "tokens is written whole, it takes no \"" + axis + "\" in \"select\"");
        return;
      }
  for (const std::string &name : tap.worlds) {
    std::string key = keyOf(tap, name, "tokens", true);
    auto [known, added] = tokenTaps.try_emplace(name, entry);
    if (added)
      result.tokenKeys[name] = key;
    else if (result.tokenKeys[name] != key)
      diags
          .error("NNT0721", tap.loc,
                 "tokens is written once, but two taps call it \"" + result.tokenKeys[name] + "\" and \"" + key + "\"")
          .notes.push_back({plan.taps[known->second].loc, "the other tap"});
  }
}

/// Every world of a run that generates writes its tokens, under a key that no other tap may have.
void Resolver::nameTokens() {
  for (const WorldSpec &world : result.worlds) {
    if (!result.shape.next)
      return;
    const std::string &key =
        result.tokenKeys.try_emplace(world.name, result.prefix(world.name) + "tokens").first->second;
    auto taken = keys.find(key);
    if (taken == keys.end())
      continue;
    Diagnostic &error =
        diags.error("NNT0804", plan.taps[taken->second.entry].loc,
                    "this tap writes the key \"" + key + "\", under which the generated tokens are written");
    if (auto tap = tokenTaps.find(world.name); tap != tokenTaps.end())
      error.notes.push_back({plan.taps[tap->second].loc, "the tap of the tokens"});
  }
}

} // namespace nnterp
