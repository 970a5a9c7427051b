// What a run's buffers are made from, and by whom.
#pragma once

#include "frontend/plan/BuffersTables.h"
#include "frontend/plan/Conflicts.h"
#include "frontend/plan/RunBuffers.h"

#include <list>
#include <set>

namespace nnterp {

/// What tables are written from, call by call. Tables point into it.
struct RunBuffers::State {
  std::shared_ptr<const Plan> plan;
  int64_t columns = 0;                     ///< of the padded prompt
  std::map<std::string, InputRows> inputs; ///< by name
  std::map<std::string, RowsInCall> rows;  ///< by world
  EditRegions edits, sources, taps;        ///< by entry and input; of a source the input that it reads
  std::list<SourcePair> pairs;
  std::vector<CallTable> prompt, gen;      ///< tables of either phase; images have all their tables in common
  int64_t skipped = 0;

  std::vector<CallTable> &tables(Phase phase) { return phase == Phase::prompt ? prompt : gen; }
};

/// Reads every entry once per input, and once per world and program that has it; blocks that an entry matches share its buffers.
class RunBuffers::Maker {
public:
  Maker(const ResolvedPlan &resolved, const PointTable &points, const ModelConfig &config, const RunInfo &run,
        Diagnostics &diags);
  std::optional<RunBuffers> make();

private:
  // RunBuffersMaker.cpp
  bool readInputs();
  void makeEdit(const EditSpec &spec);
  void makeSource(const EditSpec &spec, const Region &region);
  void makeOrdinals(const EditSpec &spec, const Region &region, const SourcePair *pair);
  void makeGather(const GatherSpec &gather, const Region &region, Phase phase, const Shape &extents);
  void makeEntries(const EditSpec &spec, const SourcePair &pair);
  void makeKept(const SourceSpec &source, const Region &from);
  void makeTap(const TapSpec &spec);

  // RunBuffersCuts.cpp
  void makeCalls();
  void noteTokens();
  void noteEmptyTaps();

  const WorldSpec &world(const std::string &name) const;
  PointRef pointOf(const std::string &name) const;
  /// Reads a region unless it is known; null where that failed.
  const Region *region(EditRegions &known, size_t entry, const Select *select, const std::string &point,
                       const std::string &input, const SourceLoc &loc);
  bool checkImages(const PointRef &point, const InputRows &input, const SourceLoc &loc);
  RegionInCalls calls(const Region &region, const std::string &world, Phase phase) const;
  void number(const std::string &name, double value);
  Tensor experts(const PlanEdit &edit) const;
  bool failed() const;

  const ResolvedPlan &resolved;
  const Plan &plan;
  const PointTable &points;
  const ModelConfig &config;
  const RunInfo &run;
  Diagnostics &diags;
  size_t before; ///< diagnostics when this began
  RunBuffers result;
  State &state;
  std::set<std::string> made;       ///< tables that are written call by call
  std::set<size_t> failedEdits, failedTaps;
  std::map<const SourcePair *, const Source *> readers; ///< the written source behind each pair
};

} // namespace nnterp
