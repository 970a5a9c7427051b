// Filling buffers: tables from regions, and how region positions find the entries of a gathered source.
#pragma once

#include "frontend/plan/Region.h"

namespace nnterp {

/// Table over one axis of an edited value: a position's place in the region, rows right-aligned; -1 outside.
Tensor ordinalTable(const Region &region, size_t axis, bool perRow);

/// Table over one axis of a gathered region: the position in the value, rows right-aligned in `extent` places; -1 where
/// a row has none.
Tensor gatherTable(const Region &region, size_t axis, bool perRow, int64_t extent);

/// Fills the tables by which an edit finds its source's entries, and checks that the two fit in this run. `from` is the
/// region of a source from a place, null for a value. Errors: NNT0707, NNT0709, NNT0717.
class SourceFiller {
public:
  SourceFiller(const PlanEdit &edit, const EditSpec &spec, const Region &region, const Region *from,
               Diagnostics &diags);
  void fill(std::map<std::string, Tensor> &buffers);

private:
  bool checkExtents();
  bool checkMeans();
  bool checkTokens();
  bool isMean(size_t fromAxis) const;
  /// The gathered row that serves a chosen row of the region; nothing when rows do not correspond.
  std::optional<size_t> rowFor(size_t rank) const;
  bool fillAxis(size_t sourceAxis, std::map<std::string, Tensor> &buffers);
  std::optional<size_t> rowByRow(size_t axis, size_t fromAxis, size_t rank) const;
  bool checkRow(size_t axis, size_t fromAxis, size_t rank);
  int64_t entryFor(size_t axis, size_t fromAxis, size_t rank, int64_t place) const;

  const PlanEdit &edit;
  const EditSpec &spec;
  const SourceSpec &source;
  const Region &region;
  const Region *from;
  Diagnostics &diags;
  std::vector<size_t> fromAxes; ///< the gathered value's axis behind each axis of the source
  std::vector<int64_t> extents; ///< of the source, axis by axis
  size_t skipped = 0;           ///< axes of the edited value before the source's first
};

} // namespace nnterp
