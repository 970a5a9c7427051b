// The extents of what a call reads and writes, known before anything is computed: what estimates of cost are functions of.
#pragma once

#include "frontend/plan/RunBuffers.h"
#include "runtime/abi/Manifest.h"
#include "runtime/exec/CallInputs.h"

#include <map>
#include <string>

namespace nnterp {

/// What a run will be, as far as its size goes.
struct RunOutline {
  const ResolvedPlan &plan;
  const RunInfo &info;
  const std::map<std::string, Batch> &inputs; ///< by input name; what tokens they hold does not matter
};

/// Extents of one call by the names of runtime/abi/Polynomial.h: `ids.0`, `t0.seq@gen.1`, `total`.
class CallExtents {
public:
  CallExtents(const RunOutline &run, const Manifest &manifest, RunBuffers &buffers, const Call &call);
  int64_t operator()(const std::string &name) const;

private:
  std::map<std::string, int64_t> extents;
};

/// The largest of some amounts in a call, at least 0.
double largestOf(const std::vector<Polynomial> &amounts, const CallExtents &extents);

/// Tokens that a world's longest row has in memory behind a call; 1 at least.
int64_t tokensBehind(const RunOutline &run, const WorldSpec &world, const Call &call);

} // namespace nnterp
