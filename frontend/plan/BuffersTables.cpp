// Fills tables from regions.
#include "frontend/plan/BuffersTables.h"

#include <algorithm>

namespace nnterp {

void CallTable::fill(BufferMap &into) {
  Extents now = extents();
  int64_t count = now.columns < 0 ? now.rows : now.rows * now.columns;
  auto found = into.find(name);
  if (found == into.end() || !made || found->second.data != made || count > capacity) {
    capacity = std::max(capacity, count);
    found = into.insert_or_assign(name, Tensor::make(DType::i64, {std::max(capacity, int64_t(1))})).first;
    made = found->second.data;
  }
  Tensor &table = found->second;
  table.shape.resize(now.columns < 0 ? 1 : 2);
  table.shape[0] = now.rows;
  if (now.columns >= 0)
    table.shape[1] = now.columns;
  std::fill_n(table.as<int64_t>(), count, -1);
  write(table.as<int64_t>());
}

bool RegionInCalls::fed(size_t rank) const {
  return region->stepPlace(rows->call.step) >= 0 && !rows->ended(region->rows[rank]);
}

bool RegionInCalls::here(size_t rank) const {
  return phase == Phase::gen ? fed(rank) : region->inPrompt[rank] && rows->holds(region->place);
}

static Tensor filledWith(Shape shape, int64_t value) {
  Tensor tensor = Tensor::make(DType::i64, std::move(shape));
  std::fill_n(tensor.as<int64_t>(), elementCount(tensor.shape), value);
  return tensor;
}

static bool isBatch(const Region &region, size_t axis) { return axis == 0 && region.hasBatch; }

bool isFixed(const Region &region, size_t axis) {
  return isBatch(region, axis) ? region.place == Place::none : region.axes[axis].kind == RegionAxis::entries;
}

// -- ordinals --

Tensor fixedOrdinals(const Region &region, size_t axis, bool perRow) {
  const RegionAxis &own = region.axes[axis];
  if (isBatch(region, axis)) {
    Tensor table = filledWith({region.input->rows()}, -1);
    for (size_t rank = 0; rank < region.rows.size(); ++rank)
      table.as<int64_t>()[region.rows[rank]] = int64_t(rank);
    return table;
  }
  int64_t extent = region.wholeExtent(axis);
  Tensor table = filledWith(perRow ? Shape{region.input->rows(), own.size} : Shape{own.size}, -1);
  for (size_t rank = 0; rank < (perRow ? region.rows.size() : 1); ++rank) {
    int64_t *entries = table.as<int64_t>() + (perRow ? region.rows[rank] * own.size : 0);
    for (int64_t place = 0, places = region.wholeCount(axis, rank); place < places; ++place)
      entries[own.listed ? own.of(rank)[size_t(place)] : place] = extent - places + place;
  }
  return table;
}

/// Extents of a table along an axis of an edited value.
static CallTable::Extents extentsAlong(const RegionInCalls &at, size_t axis) {
  int64_t rows = at.region->input->rows();
  if (isBatch(*at.region, axis))
    return {rows, -1};
  return {rows, at.region->axes[axis].kind == RegionAxis::keys ? at.rows->keys : at.rows->tokens};
}

/// The most entries that such a table has in any call: key axes grow up to the last one.
static int64_t mostAlong(const RegionInCalls &at, size_t axis) {
  const InputRows &input = *at.region->input;
  if (isBatch(*at.region, axis))
    return input.rows();
  bool keys = at.region->axes[axis].kind == RegionAxis::keys;
  int64_t columns = keys ? input.longest() + input.steps : at.phase == Phase::gen ? 1 : input.longest();
  return input.rows() * std::max<int64_t>(columns, 1);
}

/// Calls `put(rank, row, index, place)` for what is in the call of every chosen row: where it stands, and its place
/// among the positions of the whole run.
template <class Put> static void forEachHere(const RegionInCalls &at, size_t axis, Put put) {
  const Region &region = *at.region;
  const RegionAxis &own = region.axes[axis];
  for (size_t rank = 0; rank < region.rows.size(); ++rank) {
    int64_t row = region.rows[rank];
    if (isBatch(region, axis)) {
      if (at.here(rank))
        put(rank, row, int64_t(0), int64_t(rank));
    } else if (own.kind == RegionAxis::tokens && at.phase == Phase::gen) {
      if (at.fed(rank))
        put(rank, row, int64_t(0), int64_t(own.of(rank).size()) + region.stepPlace(at.rows->call.step));
    } else {
      const std::vector<int64_t> &positions = own.of(rank);
      for (size_t place = 0; place < positions.size(); ++place) {
        int64_t position = positions[place];
        int64_t index = own.kind == RegionAxis::keys ? at.rows->key(row, position) : at.rows->token(row, position);
        if (index >= 0)
          put(rank, row, index, int64_t(place));
      }
    }
  }
}

CallTable ordinals(std::string name, RegionInCalls at, size_t axis, std::function<bool(size_t rank)> leftOut) {
  int64_t extent = isBatch(*at.region, axis) ? 0 : at.region->wholeExtent(axis);
  std::vector<int64_t> indent; // rows are right-aligned
  for (size_t rank = 0; rank < at.region->rows.size(); ++rank)
    indent.push_back(isBatch(*at.region, axis) ? 0 : extent - at.region->wholeCount(axis, rank));
  auto write = [=, left = std::move(leftOut)](int64_t *table) {
    int64_t columns = std::max<int64_t>(extentsAlong(at, axis).columns, 1);
    std::optional<size_t> judged;
    bool skip = false;
    forEachHere(at, axis, [&](size_t rank, int64_t row, int64_t index, int64_t place) {
      if (left && judged != rank) {
        judged = rank; // once per row
        skip = left(rank);
      }
      if (!skip)
        table[row * columns + index] = indent[rank] + place;
    });
  };
  return {std::move(name), mostAlong(at, axis), [=] { return extentsAlong(at, axis); }, std::move(write)};
}

// -- gathers --

Tensor fixedGather(const Region &region, size_t axis, bool perRow, int64_t extent) {
  const RegionAxis &own = region.axes[axis];
  if (isBatch(region, axis)) {
    Tensor table = filledWith({int64_t(region.rows.size())}, -1);
    std::copy(region.rows.begin(), region.rows.end(), table.as<int64_t>());
    return table;
  }
  Tensor table = filledWith(perRow ? Shape{int64_t(region.rows.size()), extent} : Shape{extent}, -1);
  for (size_t rank = 0; extent > 0 && rank < (perRow ? region.rows.size() : 1); ++rank) {
    const std::vector<int64_t> &positions = own.of(rank);
    std::copy(positions.begin(), positions.end(),
              table.as<int64_t>() + (perRow ? int64_t(rank) * extent : 0) + extent - int64_t(positions.size()));
  }
  return table;
}

CallTable gather(std::string name, RegionInCalls at, size_t axis, int64_t extent) {
  const Region &region = *at.region;
  int64_t rows = int64_t(region.rows.size());
  if (isBatch(region, axis))
    return {std::move(name), rows,
            [=] {
              return CallTable::Extents{rows, -1};
            },
            [=](int64_t *table) {
              for (size_t rank = 0; rank < at.region->rows.size(); ++rank)
                if (at.here(rank))
                  table[rank] = at.region->rows[rank];
            }};
  bool step = at.phase == Phase::gen && region.axes[axis].kind == RegionAxis::tokens;
  std::vector<int64_t> indent;
  for (size_t rank = 0; rank < region.rows.size(); ++rank)
    indent.push_back(extent - region.count(axis, rank, at.phase));
  auto write = [=](int64_t *table) {
    if (extent == 0)
      return;
    // Places count what the phase has: generated keys are none of the prompt's.
    size_t last = SIZE_MAX;
    int64_t place = 0, passed = 0;
    forEachHere(at, axis, [&](size_t rank, int64_t, int64_t index, int64_t whole) {
      if (rank != last) {
        last = rank;
        place = passed = 0;
      }
      if (at.region->axes[axis].kind == RegionAxis::keys)
        for (; passed < whole; ++passed)
          place += at.phase == Phase::gen || at.region->axes[axis].of(rank)[size_t(passed)] < at.region->length(rank);
      else
        place = step ? 0 : whole;
      table[int64_t(rank) * extent + indent[rank] + place] = index;
    });
  };
  return {std::move(name), rows * extent, [=] { return CallTable::Extents{rows, extent}; }, std::move(write)};
}

// -- sources --

Tensor fixedEntries(const SourcePair &pair, size_t sourceAxis, bool perRow) {
  // The ordinals, each replaced by the entry that serves it.
  const Region &region = pair.edited();
  size_t axis = pair.regionAxis(sourceAxis);
  const RegionAxis &own = region.axes[axis];
  Tensor table = fixedOrdinals(region, axis, perRow);
  int64_t *filled = table.as<int64_t>();
  if (isBatch(region, axis)) {
    int64_t have = pair.gathered().extent(pair.gatheredAxis(sourceAxis), pair.gatheredPhase());
    for (size_t rank = 0; rank < region.rows.size(); ++rank)
      filled[region.rows[rank]] = have == 1 ? 0 : int64_t(rank);
    return table;
  }
  for (size_t rank = 0; rank < (perRow ? region.rows.size() : 1); ++rank)
    for (int64_t place = 0, places = region.wholeCount(axis, rank); place < places; ++place) {
      int64_t position = own.listed ? own.of(rank)[size_t(place)] : place;
      filled[(perRow ? region.rows[rank] * own.size : 0) + position] = pair.entryFor(sourceAxis, rank, place);
    }
  return table;
}

namespace {

/// Walks the gathered keys of a row that are there in the current call.
class KeyCursor {
public:
  KeyCursor(const SourcePair &pair, size_t sourceAxis, size_t rank, const RowsInCall &theirs)
      : from(pair.gathered()), axis(pair.gatheredAxis(sourceAxis)), row(*pair.rowFor(rank)),
        phase(pair.gatheredPhase()), theirs(theirs), positions(from.axes[axis].of(row)) {
    indent = pair.indentOf(sourceAxis, row);
    for (int64_t position : positions)
      there += theirs.key(from.rows[row], position) >= 0;
    advance();
  }

  /// The entry for the region's next key: the next one, or the only one for all.
  int64_t next() {
    int64_t entry = indent + place;
    if (there != 1) {
      ++at;
      ++place;
      advance();
    }
    return entry;
  }

private:
  void advance() {
    for (; at < positions.size() && theirs.key(from.rows[row], positions[at]) < 0; ++at)
      place += phase == Phase::gen || positions[at] < from.length(row);
  }

  const Region &from;
  size_t axis, row;
  Phase phase;
  const RowsInCall &theirs;
  const std::vector<int64_t> &positions;
  int64_t indent = 0, there = 0, place = 0;
  size_t at = 0;
};

} // namespace

CallTable entries(std::string name, const SourcePair &pair, size_t sourceAxis, RegionInCalls at,
                  const RowsInCall &theirs) {
  size_t axis = pair.regionAxis(sourceAxis);
  bool keys = at.region->axes[axis].kind == RegionAxis::keys;
  auto write = [=, &pair, &theirs](int64_t *table) {
    int64_t columns = extentsAlong(at, axis).columns;
    std::optional<KeyCursor> cursor;
    size_t last = SIZE_MAX;
    int64_t place = 0;
    forEachHere(at, axis, [&](size_t rank, int64_t row, int64_t index, int64_t whole) {
      bool grows = pair.growsWithRow(sourceAxis, rank);
      if (rank != last) {
        last = rank;
        place = 0;
        cursor.reset();
        if (grows)
          cursor.emplace(pair, sourceAxis, rank, theirs);
      }
      // Of tokens the region's place among those of the prompt; a call on a generated token has one.
      int64_t own = keys ? place++ : at.phase == Phase::gen ? 0 : whole;
      table[row * columns + index] = grows ? cursor->next() : pair.entryFor(sourceAxis, rank, own);
    });
  };
  return {std::move(name), mostAlong(at, axis), [=] { return extentsAlong(at, axis); }, std::move(write)};
}

} // namespace nnterp
