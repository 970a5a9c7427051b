// Index arithmetic of selections: Python's ranges and negative indices, and what two selections share whatever the
// extent.
#include "frontend/plan/Selection.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace nnterp {

const AxisSelection *chosen(const Select *select, std::string_view axis) {
  if (!select)
    return nullptr;
  auto found = select->axes.find(std::string(axis));
  return found == select->axes.end() || found->second.all ? nullptr : &found->second;
}

Picture pictureOf(const Select *select) {
  return {chosen(select, "image"), chosen(select, "rows"), chosen(select, "cols")};
}

bool isChosen(const Select *select, std::string_view axis) {
  return chosen(select, axis) || (isPictureAxis(axis) && pictureOf(select));
}

namespace {

/// Collects indices in order, each once, and remembers the first that does not exist.
class Picker {
public:
  explicit Picker(int64_t size) : size(size) {}

  void add(int64_t index) {
    if (index < -size || index >= size) {
      if (!picked.outside)
        picked.outside = index;
      return;
    }
    int64_t position = index < 0 ? index + size : index;
    if (seen.insert(position).second)
      picked.indices.push_back(position);
  }

  void add(const Range &range) {
    auto clip = [&](int64_t end) { return std::clamp(end < 0 ? end + size : end, int64_t(0), size); };
    int64_t begin = range.begin ? clip(*range.begin) : 0, end = range.end ? clip(*range.end) : size;
    for (int64_t i = begin; i < end; ++i)
      add(i);
  }

  Picked picked;

private:
  int64_t size;
  std::unordered_set<int64_t> seen;
};

using Where = AxisSelection::Phase;

/// One index or one range of a selection.
struct Item {
  Where where = Where::both;
  std::optional<int64_t> index;
  Range range;
};

std::vector<Item> items(const AxisSelection &selection) {
  std::vector<Item> result;
  for (const AxisSelection::Part &part : selection.parts) {
    if (const auto *list = std::get_if<std::vector<int64_t>>(&part.indices))
      for (int64_t index : *list)
        result.push_back({part.phase, index, {}});
    else
      result.push_back({part.phase, std::nullopt, std::get<Range>(part.indices)});
  }
  return result;
}

bool reaches(Where where, Phase phase) {
  return where == Where::both || (where == Where::prompt) == (phase == Phase::prompt);
}

/// The half-open interval an item covers, counted from the start (`fromEnd` false, ends up to infinity) or from the end
/// (from minus infinity up to 0); nothing where the item is written from the other side.
struct Interval {
  int64_t begin, end;
};
constexpr int64_t infinity = INT64_MAX;

std::optional<Interval> interval(const Item &item, bool fromEnd) {
  if (item.index)
    return (*item.index < 0) == fromEnd
               ? std::optional(Interval{*item.index, *item.index == infinity ? infinity : *item.index + 1})
               : std::nullopt;
  const auto &[begin, end] = item.range;
  if (fromEnd) {
    if ((begin && *begin >= 0 && *begin != 0) || (end && *end >= 0))
      return std::nullopt;
    return Interval{begin && *begin < 0 ? *begin : -infinity, end.value_or(0)};
  }
  if ((begin && *begin < 0) || (end && *end < 0))
    return std::nullopt;
  return Interval{begin.value_or(0), end.value_or(infinity)};
}

/// What two items share. An index always exists (else it is an error of its own); of a range only the first or last
/// position is sure to exist, as an axis has at least one.
Answer overlap(const Item &a, const Item &b) {
  if (a.where != b.where && a.where != Where::both && b.where != Where::both)
    return Answer::no;
  for (bool fromEnd : {false, true}) {
    std::optional<Interval> x = interval(a, fromEnd), y = interval(b, fromEnd);
    if (!x || !y)
      continue;
    Interval common{std::max(x->begin, y->begin), std::min(x->end, y->end)};
    if (common.begin >= common.end)
      return Answer::no;
    if (a.index || b.index)
      return Answer::yes;
    if (fromEnd ? common.end == 0 : common.begin == 0)
      return Answer::yes;
  }
  return Answer::maybe;
}

Answer overlap(const std::vector<Item> &a, const std::vector<Item> &b) {
  Answer result = Answer::no;
  for (const Item &x : a)
    for (const Item &y : b) {
      Answer answer = overlap(x, y);
      if (answer == Answer::yes)
        return Answer::yes;
      if (answer == Answer::maybe)
        result = Answer::maybe;
    }
  return result;
}

} // namespace

Phases phasesOf(const AxisSelection *selection) {
  if (!selection)
    return {true, true, false};
  if (!selection->rowValue.empty())
    return {true, false, false};
  Phases result;
  for (const AxisSelection::Part &part : selection->parts) {
    result.prompt |= part.phase != Where::gen;
    result.gen |= part.phase != Where::prompt;
  }
  return result;
}

std::optional<size_t> tokenAxisOf(Layout layout) {
  const std::vector<std::string> &names = axes(layout);
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == "seq" || names[i] == "query")
      return i;
  return std::nullopt;
}

Place standsAt(const PointInfo &info) { return info.layout == Layout::NextTokenProbs ? Place::promptEnd : info.place; }

Phases phasesOf(const Select *select, const PointInfo &info) {
  if (info.inEncoder())
    return {false, false, true};
  // Caches are values at prompt[-1]; what they hold later is edited through keys and values. No image token is
  // generated.
  if (info.layout == Layout::Memory || info.layout == Layout::Sizes || info.layout == Layout::ImageTokenMask)
    return {true, false, false};
  if (std::optional<size_t> axis = tokenAxisOf(info.layout))
    return phasesOf(chosen(select, axes(info.layout)[*axis]));
  return phasesOf(chosen(select, "seq"));
}

Picked pick(const AxisSelection &selection, int64_t size) {
  Picker picker(size);
  for (const Item &item : items(selection))
    item.index ? picker.add(*item.index) : picker.add(item.range);
  return std::move(picker.picked);
}

const Tensor &rowIndices(const AxisSelection &selection, const Plan &plan) {
  auto found = plan.values.find(selection.rowValue);
  assert(found != plan.values.end() && "readPlan checks the names of values");
  return found->second.tensor;
}

Picked pickRow(const AxisSelection &selection, const Plan &plan, int64_t row, int64_t size) {
  if (selection.rowValue.empty())
    return pick(selection, size);
  const Tensor &indices = rowIndices(selection, plan);
  int64_t perRow = indices.shape.size() == 2 ? indices.shape[1] : 1;
  Picker picker(size);
  for (int64_t i = 0; i < perRow; ++i)
    if (int64_t index = indices.as<int64_t>()[row * perRow + i]; index != absentIndex)
      picker.add(index);
  return std::move(picker.picked);
}

/// The items of a selection, or the one that means everything.
static std::vector<Item> itemsOf(const AxisSelection *selection) {
  return selection ? items(*selection) : std::vector<Item>{Item{}};
}

PickedTokens pickTokens(const AxisSelection *selection, const Plan &plan, int64_t row, const RowTokens &tokens) {
  if (selection && !selection->rowValue.empty())
    return {pickRow(*selection, plan, row, tokens.length)};
  PickedTokens result;
  std::unordered_set<int64_t> seen;
  auto take = [&](const Item &item, int64_t first, int64_t size) {
    Picker picker(size);
    item.index ? picker.add(*item.index) : picker.add(item.range);
    if (picker.picked.outside && !result.outside) {
      result.outside = picker.picked.outside;
      result.inGen = item.where == Where::gen;
    }
    for (int64_t position : picker.picked.indices)
      if (seen.insert(first + position).second)
        result.indices.push_back(first + position);
  };
  for (const Item &item : itemsOf(selection)) {
    if (item.where == Where::both)
      take(item, -tokens.loaded, tokens.loaded);
    if (item.where != Where::gen)
      take(item, 0, tokens.length);
    if (item.where != Where::prompt)
      take(item, tokens.length, tokens.steps);
  }
  return result;
}

std::vector<int64_t> pickSteps(const AxisSelection *selection, int64_t steps) {
  Picker picker(steps);
  for (const Item &item : itemsOf(selection))
    if (item.where != Where::prompt)
      item.index ? picker.add(*item.index) : picker.add(item.range);
  std::sort(picker.picked.indices.begin(), picker.picked.indices.end());
  return std::move(picker.picked.indices);
}

bool isOneIndex(const AxisSelection &selection, const Plan &plan, std::optional<Phase> phase) {
  if (!selection.rowValue.empty()) {
    const Shape &shape = rowIndices(selection, plan).shape;
    return shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  }
  std::vector<Item> all = items(selection);
  if (phase)
    all.erase(std::remove_if(all.begin(), all.end(), [&](const Item &item) { return !reaches(item.where, *phase); }),
              all.end());
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](const Item &item) {
    return item.index && item.index == all[0].index && item.where == all[0].where;
  });
}

bool hasGenIndex(const AxisSelection &selection) {
  std::vector<Item> all = items(selection);
  return std::any_of(all.begin(), all.end(), [](const Item &item) { return item.index && item.where == Where::gen; });
}

Answer overlap(const AxisSelection &a, const AxisSelection &b, bool steps) {
  if (!a.rowValue.empty() || !b.rowValue.empty())
    return phasesOf(&a).prompt && phasesOf(&b).prompt ? Answer::maybe : Answer::no;
  auto fed = [&](const AxisSelection &selection) {
    std::vector<Item> all = items(selection);
    if (!steps)
      all.erase(std::remove_if(all.begin(), all.end(), [](const Item &item) { return item.where == Where::gen; }),
                all.end());
    return all;
  };
  return overlap(fed(a), fed(b));
}

Answer holdsFirst(const AxisSelection &selection) {
  return selection.rowValue.empty() ? overlap(items(selection), {Item{Where::prompt, 0, {}}}) : Answer::maybe;
}

Answer holdsLast(const AxisSelection &selection) {
  return selection.rowValue.empty() ? overlap(items(selection), {Item{Where::prompt, -1, {}}}) : Answer::maybe;
}

static bool sameParts(const AxisSelection &a, const AxisSelection &b) {
  std::vector<Item> x = items(a), y = items(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Item &i, const Item &j) {
    return i.where == j.where && i.index == j.index && i.range.begin == j.range.begin && i.range.end == j.range.end;
  });
}

bool sameSelection(const AxisSelection *a, const AxisSelection *b) {
  if (!a || !b)
    return a == b;
  return a->rowValue == b->rowValue && sameParts(*a, *b);
}

bool sameSelection(const Select *a, const Select *b) {
  auto covered = [](const Select *in, const Select *by) {
    return !in || std::all_of(in->axes.begin(), in->axes.end(), [&](const auto &axis) {
      return sameSelection(chosen(in, axis.first), chosen(by, axis.first));
    });
  };
  return covered(a, b) && covered(b, a);
}

} // namespace nnterp
