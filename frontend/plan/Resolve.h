// Resolving a plan: one method per rule of spec/plan.md 3 to 7; the files Resolve*.cpp divide them by subject.
#pragma once

#include "frontend/plan/Region.h"
#include "frontend/plan/Resolved.h"

#include <set>

namespace nnterp {

class Resolver {
public:
  Resolver(std::shared_ptr<const Plan> plan, const PointTable &points, const ModelConfig &config, Diagnostics &diags);
  std::optional<ResolvedPlan> resolve();

private:
  using Extents = std::vector<std::optional<int64_t>>; ///< nothing where a run decides

  // Resolve.cpp
  std::optional<std::vector<PointRef>> expand(const std::string &name, const SourceLoc &loc, int64_t matchedBlock = -1);
  void resolveEdit(size_t entry);
  void resolveTap(size_t entry);
  void sortEdits();
  void addBuffer(const std::string &name, DType dtype, Shape dims);
  AxisTable editTable(const std::string &name, const Dim &dim, const std::string &axis, const AxisSelection *selection);
  AxisTable gatherTable(const std::string &name, const std::string &axis, const AxisSelection *selection);
  std::vector<AxisTable> gatherTables(const std::string &prefix, Layout layout, const Select *select);

  // ResolveChecks.cpp: each reports what is wrong and says whether all was well
  bool checkSelect(const Select *select, const PointRef &point, bool mustHold);
  bool checkAxis(const std::string &axis, const AxisSelection &selection, const PointRef &point, bool mustHold);
  bool checkRowValue(const AxisSelection &selection);
  bool checkPlace(const Select *select, const PointRef &point);
  bool checkOneToken(const std::string &name, const Select *select, const SourceLoc &loc);
  bool checkOperation(const PlanEdit &edit, const PointRef &point);
  bool checkExperts(const PlanEdit &edit);
  bool checkExpertIndices(const PlanEdit &edit, const PointRef &point);
  /// Extents of a region as far as the text decides them.
  Extents extentsOf(const Select *select, const PointInfo &info);

  // ResolveSource.cpp
  std::optional<SourceSpec> valueSource(const PlanEdit &edit, const PointRef &point, const EditSpec &spec,
                                        const std::string &prefix);
  std::optional<SourceSpec> placeSource(const PlanEdit &edit, const PointRef &point, const EditSpec &spec,
                                        const std::string &prefix);
  std::optional<SourceSpec> source(const PlanEdit &edit, const PointRef &point, const EditSpec &spec,
                                   const std::string &prefix);
  /// The one point a source from a place reads for an edit at `point`.
  std::optional<PointRef> sourcePoint(const PlanEdit &edit, const PointRef &point);
  bool checkPlaceSource(const PlanEdit &edit, const PointRef &point, const PointRef &from, const Select &select);
  std::optional<std::vector<int64_t>> meanAxes(const Source &source, const PointRef &from);
  SourceSpec::Axis alignAxis(const std::string &prefix, const PointInfo &info, size_t axis, const EditSpec &spec,
                             const PointInfo &from, size_t fromAxis, const GatherSpec &place);
  bool checkFit(const PlanEdit &edit, const PointRef &point, const Extents &source,
                const std::vector<std::string> &sourceAxes);
  bool checkDirection(const PlanEdit &edit, const Tensor &direction);

  const PlanValue &value(const std::string &name) const;

  ResolvedPlan result;
  const Plan &plan;
  const PointTable &points;
  const ModelConfig &config;
  Diagnostics &diags;
  std::set<std::string> bufferNames;
  std::map<std::string, size_t> tapKeys; ///< key -> index in result.taps
};

} // namespace nnterp
