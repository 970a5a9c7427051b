// The buffers of a run, as callers see them.
#include "frontend/plan/RunBuffersMaker.h"

namespace nnterp {

std::optional<RunBuffers> RunBuffers::make(const ResolvedPlan &plan, const PointTable &points,
                                           const ModelConfig &config, const RunInfo &run, Diagnostics &diags) {
  return Maker(plan, points, config, run, diags).make();
}

void RunBuffers::fill(const Call &call, const std::map<std::string, std::vector<bool>> &ended, BufferMap &into) {
  for (auto &[world, rows] : state->rows) {
    auto over = ended.find(world);
    rows.enter(call, state->columns, over == ended.end() ? nullptr : &over->second);
  }
  for (CallTable &table : state->tables(call.phase))
    table.fill(into);
}

int64_t RunBuffers::unedited() const { return state->skipped; }

} // namespace nnterp
