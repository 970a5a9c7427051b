// Results of runs that tests make by hand.
#pragma once

#include "../weights/Fixtures.h"
#include "tools/nnterp/RunModel.h"

#include <catch2/catch.hpp>

namespace nnterp {

/// A run of `taps` on the toy checkpoint with rows of ids, whose outputs are zero until a test fills them. `generate`: tokens per
/// row; `chunk`: columns per call, 0 for one call.
inline RunResult toyResult(const std::vector<std::string> &taps, const std::vector<std::vector<int64_t>> &rows,
                           int64_t generate = 0, int64_t chunk = 0) {
  Diagnostics diags;
  PlanSource source;
  source.flags.taps = taps;
  std::optional<PreparedPlan> prepared =
      preparePlan(NNTERP_TEST_DATA "/checkpoints/toy", source, runShape(generate, chunk > 0), diags);
  std::optional<Batch> batch = batchFromIds(rows, {640, {}}, {}, diags);
  INFO(text(diags));
  REQUIRE(prepared);
  REQUIRE(batch);
  RunInfo info;
  info.inputs["main"] = {batch->seq(), batch->rowLengths()};
  info.generate = generate;
  info.chunk = chunk;
  std::optional<RunBuffers> buffers =
      RunBuffers::make(prepared->resolved, prepared->points, prepared->config, info, diags);
  INFO(text(diags));
  REQUIRE(buffers);
  RunResult result(std::move(*prepared));
  result.buffers = buffers->common();
  buffers->fill(buffers->promptCalls().back(), {}, result.buffers);
  for (const TapLayout &tap : buffers->taps())
    result.outputs.emplace_back(tap.key, Tensor::make(DType::f32, tap.shape));
  for (int64_t b = 0; b < batch->rows(); ++b)
    result.lastLengths["main"].push_back(rowWindow(info, "main", b, buffers->promptCalls().back()).length);
  result.inputs["main"] = std::move(*batch);
  result.manifest.key = "k";
  return result;
}

} // namespace nnterp
