// Conflicts: at one point at most one absolute edit per position, and routing edits with disjoint lists within the
// router's limits.
#include "frontend/plan/Conflicts.h"

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
    for (auto begin = plan.edits.begin(); begin != plan.edits.end();) {
      auto end =
          std::find_if(begin, plan.edits.end(), [&](const EditSpec &edit) { return edit.point != begin->point; });
      for (auto a = begin; a != end; ++a)
        for (auto b = std::next(a); b != end; ++b)
          checkPair(*a, *b);
      checkLimit(begin, end, Op::reroute, config.numExperts - config.expertsPerToken);
      checkLimit(begin, end, Op::force, config.expertsPerToken);
      begin = end;
    }
  }

private:
  using Iterator = std::vector<EditSpec>::const_iterator;
  const PlanEdit &entry(const EditSpec &edit) const { return plan.plan->edits[edit.entry]; }

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

  void checkLimit(Iterator begin, Iterator end, Op op, int64_t limit) {
    std::vector<const EditSpec *> edits;
    std::vector<size_t> entries;
    for (; begin != end; ++begin)
      if (begin->op == op) {
        edits.push_back(&*begin);
        entries.push_back(begin->entry);
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
bool surelyOverlap(const Select *a, const Select *b, const PointInfo &info) {
  if (covers(a, b) || covers(b, a))
    return true; // a region that is empty in every row is an error of its own
  const std::vector<std::string> &names = axes(info.layout);
  for (size_t i = 0; i < names.size(); ++i) {
    const AxisSelection *x = chosen(a, names[i]), *y = chosen(b, names[i]);
    static const AxisSelection everything = {{{AxisSelection::Phase::both, Range{}}}, "", true, {}};
    if (!x && !y)
      continue;
    const AxisSelection &left = x ? *x : everything, &right = y ? *y : everything;
    Answer answer = overlap(left, right);
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

/// The positions two regions share on one axis in one row; nothing where both mean every entry.
std::optional<std::vector<int64_t>> shared(const RegionAxis &a, size_t rankA, const RegionAxis &b, size_t rankB) {
  if (!a.listed && !b.listed)
    return std::nullopt;
  if (!a.listed || !b.listed)
    return a.listed ? a.of(rankA) : b.of(rankB);
  std::vector<int64_t> x = a.of(rankA), y = b.of(rankB), result;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(result));
  return result;
}

bool overlapInRow(const Region &a, size_t rankA, const Region &b, size_t rankB, Layout layout) {
  std::vector<std::optional<std::vector<int64_t>>> common;
  for (size_t i = 0; i < a.axes.size(); ++i) {
    common.push_back(i == 0 && a.hasBatch ? std::nullopt : shared(a.axes[i], rankA, b.axes[i], rankB));
    if (common.back() && common.back()->empty())
      return false;
  }
  if (layout != Layout::Pattern)
    return true;
  const std::vector<int64_t> &queries = *common[2], &keys = *common[3]; // token axes: always listed
  return *std::max_element(queries.begin(), queries.end()) >= *std::min_element(keys.begin(), keys.end());
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
    return point && surelyOverlap(selectOf(a), selectOf(b), *point->front().info);
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

void checkConflictsInRun(const ResolvedPlan &plan, const std::map<size_t, Region> &regions, const ModelConfig &config,
                         Diagnostics &diags) {
  auto overlap = [&](const EditSpec &a, const EditSpec &b) {
    return overlapInRun(regions.at(a.entry), regions.at(b.entry), a.layout);
  };
  auto together = [&](const std::vector<const EditSpec *> &edits) {
    std::map<std::pair<int64_t, int64_t>, int64_t> listed; // (row, token) -> experts
    for (const EditSpec *edit : edits) {
      const Region &region = regions.at(edit->entry);
      for (size_t rank = 0; rank < region.rows.size(); ++rank)
        for (int64_t token : region.axes[1].of(rank))
          listed[{region.rows[rank], token}] += int64_t(plan.plan->edits[edit->entry].experts.size());
    }
    int64_t most = 0;
    for (const auto &[token, experts] : listed)
      most = std::max(most, experts);
    return most;
  };
  ConflictChecker(plan, config, diags, overlap, together).check();
}

} // namespace nnterp
