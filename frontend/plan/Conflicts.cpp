// Conflicts: at one point at most one absolute edit per position, and routing edits with disjoint lists within the
// router's limits.
#include "frontend/plan/Conflicts.h"

#include "frontend/plan/Selection.h"
#include "frontend/plan/Sources.h"

#include <algorithm>
#include <functional>
#include <set>

namespace nnterp {

namespace {

std::string quoted(Op op) { return "\"" + std::string(name(op)) + "\""; }
bool isAbsolute(Op op) { return op != Op::add && !isRouting(op); }

std::optional<int64_t> sharedExpert(const PlanEdit &a, const PlanEdit &b) {
  for (int64_t expert : a.experts)
    if (std::find(b.experts.begin(), b.experts.end(), expert) != b.experts.end())
      return expert;
  return std::nullopt;
}

/// Walks the edits of every point; the two questions that text and run answer differently are asked of the caller.
class ConflictChecker {
public:
  /// Whether the regions of two edits at one point are known to overlap.
  using Overlap = std::function<bool(const EditSpec &, const EditSpec &)>;
  /// The most experts that the given edits are known to list together at one token.
  using Together = std::function<int64_t(const std::vector<const EditSpec *> &)>;

  ConflictChecker(const ResolvedPlan &plan, const ModelConfig &config, Diagnostics &diags, Overlap overlap,
                  Together together)
      : plan(plan), config(config), diags(diags), overlap(std::move(overlap)), together(std::move(together)) {}

  void check() {
    for (const std::vector<const EditSpec *> &edits : sites()) {
      for (size_t a = 0; a < edits.size(); ++a)
        for (size_t b = a + 1; b < edits.size(); ++b)
          checkPair(*edits[a], *edits[b]);
      checkLimit(edits, Op::reroute, config.numExperts - config.expertsPerToken);
      checkLimit(edits, Op::force, config.expertsPerToken);
    }
  }

private:
  /// The edits of each point of each world, once per entry: regions hold the prompt and generated tokens alike.
  std::vector<std::vector<const EditSpec *>> sites() const {
    std::map<std::pair<std::string, std::string>, size_t> known;
    std::vector<std::vector<const EditSpec *>> result;
    for (const EditSpec &edit : plan.edits) {
      auto [site, added] = known.try_emplace({edit.world, edit.point}, result.size());
      if (added)
        result.emplace_back();
      std::vector<const EditSpec *> &edits = result[site->second];
      if (std::none_of(edits.begin(), edits.end(), [&](const EditSpec *other) { return other->entry == edit.entry; }))
        edits.push_back(&edit);
    }
    return result;
  }

  void checkPair(const EditSpec &a, const EditSpec &b) {
    auto [firstEntry, secondEntry] = std::minmax(a.entry, b.entry);
    const PlanEdit &first = plan.plan->edits[firstEntry], &second = plan.plan->edits[secondEntry];
    bool absolute = isAbsolute(a.op) && isAbsolute(b.op);
    std::optional<int64_t> shared = isRouting(a.op) && isRouting(b.op) ? sharedExpert(first, second) : std::nullopt;
    if ((!absolute && !shared) || reported.count({firstEntry, secondEntry}) || !overlap(a, b))
      return;
    reported.insert({firstEntry, secondEntry}); // once, not again at every block
    std::string both =
        label(second) + " (" + quoted(second.op) + ") and " + label(first) + " (" + quoted(first.op) + ")";
    Diagnostic &error =
        absolute ? diags.error("NNT0801", second.loc, both + " both set " + a.point + " where their selections overlap")
                 : diags.error("NNT0802", second.loc,
                               both + " both list expert " + std::to_string(*shared) + " at " + a.point +
                                   " where their selections overlap");
    error.notes.push_back({first.loc, label(first) + " is here"});
  }

  void checkLimit(const std::vector<const EditSpec *> &all, Op op, int64_t limit) {
    std::vector<const EditSpec *> edits;
    std::vector<size_t> entries;
    for (const EditSpec *edit : all)
      if (edit->op == op) {
        edits.push_back(edit);
        entries.push_back(edit->entry);
      }
    if (edits.size() < 2 || !limited.insert(entries).second)
      return;
    int64_t most = together(edits);
    if (most <= limit)
      return;
    std::sort(entries.begin(), entries.end());
    Diagnostic &error = diags.error("NNT0713", plan.plan->edits[entries.back()].doLoc,
                                    quoted(op) + " edits of " + edits[0]->point + " list " + count(most, "expert") +
                                        " together, at most " + std::to_string(limit) + " are possible: of " +
                                        std::to_string(config.numExperts) + " experts each token takes " +
                                        std::to_string(config.expertsPerToken));
    for (size_t i = 0; i + 1 < entries.size(); ++i)
      error.notes.push_back({plan.plan->edits[entries[i]].doLoc, label(plan.plan->edits[entries[i]]) + " is here"});
  }

  const ResolvedPlan &plan;
  const ModelConfig &config;
  Diagnostics &diags;
  Overlap overlap;
  Together together;
  std::set<std::pair<size_t, size_t>> reported;
  std::set<std::vector<size_t>> limited;
};

// -- text --

/// Whether everything that `inner` selects `outer` selects too, as written.
bool covers(const Select *outer, const Select *inner) {
  if (outer)
    for (const auto &[axis, selection] : outer->axes)
      if (!selection.all && !sameSelection(&selection, chosen(inner, axis)))
        return false;
  return true;
}

/// Whether two regions of one point overlap whatever the input is.
bool surelyOverlap(const Select *a, const Select *b, const PointInfo &info, bool steps) {
  if (covers(a, b) || covers(b, a))
    return true; // a region that is empty in every row is an error of its own
  const std::vector<std::string> &names = axes(info.layout);
  for (size_t i = 0; i < names.size(); ++i) {
    const AxisSelection *x = chosen(a, names[i]), *y = chosen(b, names[i]);
    if (isPictureAxis(names[i]) && (pictureOf(a) || pictureOf(b)))
      return false; // a run knows the grids
    static const AxisSelection everything = {{{AxisSelection::Phase::both, Range{}}}, "", true, {}};
    if (!x && !y)
      continue;
    const AxisSelection &left = x ? *x : everything, &right = y ? *y : everything;
    Answer answer = overlap(left, right, steps);
    if (answer != Answer::no && info.shape[i].kind == Dim::fixed && left.rowValue.empty() && right.rowValue.empty()) {
      std::vector<int64_t> in = pick(left, info.shape[i].size).indices, among = pick(right, info.shape[i].size).indices;
      answer = std::any_of(in.begin(), in.end(),
                           [&](int64_t index) { return std::find(among.begin(), among.end(), index) != among.end(); })
                   ? Answer::yes
                   : Answer::no;
    }
    if (answer != Answer::yes)
      return false;
  }
  if (isPlaced(info.layout) && (chosen(a, "seq") || chosen(b, "seq")))
    return false; // a run knows at which places both stand
  // No edit touches a key later than its query: a run decides where both are restricted.
  auto restricted = [&](const char *axis) { return chosen(a, axis) || chosen(b, axis); };
  return info.layout != Layout::Pattern || !restricted("query") || !restricted("key");
}

bool isUnrestricted(const Select *select) { return covers(select, nullptr); }

// -- run --

std::optional<size_t> rankOf(const Region &region, int64_t row) {
  auto found = std::find(region.rows.begin(), region.rows.end(), row);
  return found == region.rows.end() ? std::nullopt : std::optional<size_t>(found - region.rows.begin());
}

std::vector<int64_t> common(std::vector<int64_t> x, std::vector<int64_t> y) {
  std::vector<int64_t> result;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(result));
  return result;
}

/// Whether two regions share a position on one axis in one row.
bool meet(const RegionAxis &a, size_t rankA, const RegionAxis &b, size_t rankB) {
  if (a.listed && b.listed)
    return !common(a.of(rankA), b.of(rankB)).empty();
  return a.listed ? !a.of(rankA).empty() : !b.listed || !b.of(rankB).empty();
}

/// Whether regions of one point meet in one row: on every axis, at a token of the prompt or at a generated one.
bool overlapInRow(const Region &a, size_t rankA, const Region &b, size_t rankB, Layout layout) {
  std::optional<size_t> tokens = tokenAxisOf(layout);
  for (size_t i = a.hasBatch ? 1 : 0; i < a.axes.size(); ++i)
    if (i != tokens && !meet(a.axes[i], rankA, b.axes[i], rankB))
      return false;
  std::vector<int64_t> steps = common(a.steps, b.steps), queries;
  if (tokens)
    queries = common(a.axes[*tokens].of(rankA), b.axes[*tokens].of(rankB));
  else if (a.inPrompt[rankA] && b.inPrompt[rankB])
    return true;
  for (int64_t step : steps)
    queries.push_back(a.length(rankA) + step);
  if (queries.empty() || layout != Layout::Pattern)
    return !queries.empty();
  std::vector<int64_t> keys = common(a.axes[3].of(rankA), b.axes[3].of(rankB)); // not empty: they meet
  return *std::max_element(queries.begin(), queries.end()) >= keys.front();
}

bool overlapInRun(const Region &a, const Region &b, Layout layout) {
  for (size_t rank = 0; rank < a.rows.size(); ++rank)
    if (std::optional<size_t> other = rankOf(b, a.rows[rank]))
      if (overlapInRow(a, rank, b, *other, layout))
        return true;
  return false;
}

} // namespace

void checkConflictsInText(const ResolvedPlan &plan, const PointTable &points, const ModelConfig &config,
                          Diagnostics &diags) {
  auto selectOf = [&](const EditSpec &edit) { return pointerTo(plan.plan->edits[edit.entry].select); };
  auto overlap = [&](const EditSpec &a, const EditSpec &b) {
    NameError error;
    std::optional<std::vector<PointRef>> point = points.expand(a.point, error);
    return point && surelyOverlap(selectOf(a), selectOf(b), *point->front().info, plan.shape.steps);
  };
  auto together = [&](const std::vector<const EditSpec *> &edits) {
    // Edits of every token meet at each token that any other one selects.
    int64_t everywhere = 0, largest = 0;
    for (const EditSpec *edit : edits) {
      int64_t listed = int64_t(plan.plan->edits[edit->entry].experts.size());
      if (isUnrestricted(selectOf(*edit)))
        everywhere += listed;
      else
        largest = std::max(largest, listed);
    }
    return everywhere + largest;
  };
  ConflictChecker(plan, config, diags, overlap, together).check();
}

void checkConflictsInRun(const ResolvedPlan &plan, const EditRegions &regions, const ModelConfig &config,
                         Diagnostics &diags) {
  std::map<std::string, std::string> inputs;
  for (const WorldSpec &world : plan.worlds)
    inputs[world.name] = world.input;
  auto regionOf = [&](const EditSpec &edit) -> const Region & { return regions.at({edit.entry, inputs[edit.world]}); };
  auto overlap = [&](const EditSpec &a, const EditSpec &b) { return overlapInRun(regionOf(a), regionOf(b), a.layout); };
  auto together = [&](const std::vector<const EditSpec *> &edits) {
    std::map<std::pair<int64_t, int64_t>, int64_t> listed; // (row, token) -> experts
    for (const EditSpec *edit : edits) {
      const Region &region = regionOf(*edit);
      int64_t experts = int64_t(plan.plan->edits[edit->entry].experts.size());
      for (size_t rank = 0; rank < region.rows.size(); ++rank) {
        for (int64_t token : region.axes[1].of(rank))
          listed[{region.rows[rank], token}] += experts;
        for (int64_t step : region.steps)
          listed[{region.rows[rank], region.length(rank) + step}] += experts;
      }
    }
    int64_t most = 0;
    for (const auto &[token, experts] : listed)
      most = std::max(most, experts);
    return most;
  };
  ConflictChecker(plan, config, diags, overlap, together).check();
}

} // namespace nnterp
