// Resolving a plan: one method per rule of spec/plan.md 3 to 7; the files Resolve*.cpp divide them by subject.
#pragma once

#include "frontend/plan/Region.h"
#include "frontend/plan/Resolved.h"

#include <set>

namespace nnterp {

class Resolver {
public:
  Resolver(std::shared_ptr<const Plan> plan, const PointTable &points, const ModelConfig &config, const RunShape &shape,
           Diagnostics &diags);
  std::optional<ResolvedPlan> resolve();

private:
  using Extents = std::vector<std::optional<int64_t>>; ///< nothing where a run decides

  /// One program's view of an entry in one world; names of buffers rest on it.
  struct Site {
    std::string prefix; ///< `e3`, `t0`
    Phase phase = Phase::prompt;
    const WorldSpec *world = nullptr;
  };

  // Resolve.cpp
  std::optional<std::vector<PointRef>> expand(const std::string &name, const SourceLoc &loc, int64_t matchedBlock = -1);
  const WorldSpec &world(const std::string &name) const;
  void resolveEdit(size_t entry);
  bool resolveEditAt(size_t entry, const std::vector<PointRef> &matched, const Site &site);
  void sortEdits();

  // ResolveTaps.cpp
  void resolveTap(size_t entry);
  void resolveTokens(size_t entry);
  void nameTokens();
  bool claimKey(const std::string &key, size_t entry, const PointRef &point); ///< false: not a new tensor
  std::string keyOf(const PlanTap &tap, const std::string &world, const std::string &value, bool alone) const;

  // ResolveTables.cpp
  /// `byRow`: the buffer's contents rest on a world's rows or images, so each input, or world (phase gen), has its own.
  std::string bufferName(const Site &site, const std::string &part, bool byRow) const;
  void addBuffer(const Site &site, const std::string &name, DType dtype, Shape dims);
  /// A table along one axis of a value; `extent`: of the table.
  AxisTable addTable(const Site &site, const std::string &part, bool byRow, bool perRow, int64_t extent);
  AxisTable editTable(const Site &site, const PointInfo &info, size_t axis, const Select *select);
  std::vector<AxisTable> gatherTables(const Site &site, const std::string &part, Layout layout, const Select *select);

  // ResolveChecks.cpp: each reports what is wrong and says whether all was well
  bool checkSelect(const Select *select, const PointRef &point, bool mustHold);
  bool checkAxis(const std::string &axis, const AxisSelection &selection, const PointRef &point, bool mustHold);
  bool checkPicture(const Select &select, const PointRef &point);
  bool checkRowValue(const AxisSelection &selection);
  bool checkPlace(const Select *select, const PointRef &point);
  bool checkFed(const Select *select, const PointInfo &info, const SourceLoc &loc);
  bool checkOneToken(const std::string &name, const Select *select, const SourceLoc &loc);
  bool checkOperation(const PlanEdit &edit, const PointRef &point);
  bool checkExperts(const PlanEdit &edit);
  bool checkExpertIndices(const PlanEdit &edit, const PointRef &point);
  /// Extents of a region as far as the text decides them.
  Extents extentsOf(const Select *select, const PointInfo &info);

  // ResolveSource.cpp
  std::optional<SourceSpec> source(const PlanEdit &edit, const PointRef &point, const EditSpec &spec, const Site &site);
  std::optional<SourceSpec> valueSource(const PlanEdit &edit, const PointRef &point, const EditSpec &spec,
                                        const Site &site);
  std::optional<SourceSpec> placeSource(const PlanEdit &edit, const PointRef &point, const EditSpec &spec,
                                        const Site &site);
  /// The one point a source from a place reads for an edit at `point`.
  std::optional<PointRef> sourcePoint(const PlanEdit &edit, const PointRef &point);
  bool checkCycle(const PlanEdit &edit, const PointRef &point, const PointRef &from, const Site &site, bool kept);
  bool checkPlaceSource(const PlanEdit &edit, const PointRef &point, const PointRef &from, const Select &select);
  bool checkStateToken(const PlanEdit &edit, const PointRef &from, const Select &select, Phase phase, bool kept);
  std::optional<std::vector<int64_t>> meanAxes(const Source &source, const PointRef &from);
  SourceSpec::Axis alignAxis(const Site &site, const PointInfo &info, size_t axis, const EditSpec &spec,
                             const PointInfo &from, size_t fromAxis, const GatherSpec &place);
  /// The buffer in which an earlier program leaves a source for that of `site`.
  std::string keep(const Site &site, size_t entry, const PointInfo &from, const GatherSpec &gather);
  /// The phase in which an edit's source is read.
  std::optional<Phase> sourcePhase(const PlanEdit &edit, const PointRef &point, const PointRef &from, const Select &select,
                                   Phase phase);
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
  struct KeyOwner {
    size_t entry;
    PointRef point;
  };
  std::map<std::string, KeyOwner> keys; ///< of taps
  std::map<std::string, size_t> tokenTaps; ///< by world: the tap that names its `tokens`
};

} // namespace nnterp
