// A region and the source of its edit in one run: whether they fit, which entry serves which position, and whether they are
// in the same calls.
#pragma once

#include "frontend/plan/RunBuffersCalls.h"

#include <functional>

namespace nnterp {

/// One edit's region and source in one phase. `from` is the region of a source from a place, null for a value.
class SourcePair {
public:
  SourcePair(const PlanEdit &edit, const EditSpec &spec, const Region &region, const Region *from);

  /// Whether the two fit. Errors: NNT0707, NNT0709, NNT0717.
  bool check(Diagnostics &diags) const;

  /// The gathered row that serves a chosen row of the region; nothing when rows do not correspond.
  std::optional<size_t> rowFor(size_t rank) const;
  /// Of an axis of the source (those that meet the region): the edited value's axis, and the gathered value's.
  size_t regionAxis(size_t sourceAxis) const { return skipped + sourceAxis; }
  size_t gatheredAxis(size_t sourceAxis) const { return fromAxes[sourceAxis]; }
  /// Where the entries of a gathered row begin on an axis: rows are right-aligned.
  int64_t indentOf(size_t sourceAxis, size_t row) const { return extents[sourceAxis] - theirs[sourceAxis][row]; }
  /// The gathered entry for place number `place` of row `rank` of the region, where calls play no part.
  int64_t entryFor(size_t sourceAxis, size_t rank, int64_t place) const;
  /// Whether an axis of the source is one of keys that come in call by call, with rows that correspond.
  bool growsWithRow(size_t sourceAxis, size_t rank) const;

  const Region &edited() const { return region; }
  const Region &gathered() const { return *from; }
  Phase gatheredPhase() const { return fromPhase; }

  /// The call on the prompt in which token `position` of a row stands.
  using CallOf = std::function<int64_t(const InputRows &input, int64_t row, int64_t position)>;
  /// Whether an edit of the prompt needs values of other calls than those it acts in, of `calls` many.
  bool readsAcross(const CallOf &callOf, int64_t calls) const;
  /// Whether a source that generated tokens read is not whole in the last call on the prompt.
  bool keepsEarly(const CallOf &callOf, int64_t calls) const;

private:
  bool checkValue(Diagnostics &diags) const;
  bool checkExtents(Diagnostics &diags) const;
  bool checkSteps(Diagnostics &diags) const;
  bool checkMeans(Diagnostics &diags) const;
  bool checkStateTokens(Diagnostics &diags) const;
  bool checkRows(size_t sourceAxis, Diagnostics &diags) const;
  bool checkCounts(size_t sourceAxis, size_t rank, const std::string &where, int64_t have, int64_t want,
                   Diagnostics &diags) const;
  bool isMean(size_t fromAxis) const;
  bool rowByRow(size_t sourceAxis, size_t rank) const;
  /// Calls of everything that is gathered, or edited.
  std::vector<int64_t> callsOf(const Region &of, const CallOf &callOf, int64_t calls) const;
  bool pairsAcross(size_t sourceAxis, const CallOf &callOf) const;

  const PlanEdit &edit;
  EditSpec spec;
  SourceSpec source;
  const Region &region;
  const Region *from;
  Phase fromPhase = Phase::prompt;
  std::vector<size_t> fromAxes; ///< the gathered value's axis behind each axis of the source
  std::vector<int64_t> extents; ///< of the source, axis by axis
  std::vector<std::vector<int64_t>> ours, theirs; ///< positions by axis of the source and by row: of the region, and gathered
  size_t skipped = 0;           ///< axes of the edited value before the source's first
};

} // namespace nnterp
