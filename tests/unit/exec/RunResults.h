// Results of runs that tests make by hand.
#pragma once

#include "../weights/Fixtures.h"
#include "tools/nnterp/RunModel.h"

#include <catch2/catch.hpp>

namespace nnterp {

/// A run of `taps` on the toy checkpoint with rows of ids, whose outputs are zero until a test fills them.
inline RunResult toyResult(const std::vector<std::string> &taps, const std::vector<std::vector<int64_t>> &rows) {
  Diagnostics diags;
  PlanSource source;
  source.flags.taps = taps;
  std::optional<PreparedPlan> prepared = preparePlan(NNTERP_TEST_DATA "/checkpoints/toy", source, diags);
  std::optional<Batch> batch = batchFromIds(rows, {640, {}}, {}, diags);
  INFO(text(diags));
  REQUIRE(prepared);
  REQUIRE(batch);
  const BatchInfo info{batch->seq(), batch->rowLengths()};
  std::optional<std::map<std::string, Tensor>> buffers =
      fillBuffers(prepared->resolved, prepared->points, prepared->config, info, diags);
  REQUIRE(buffers);
  std::vector<std::pair<std::string, Tensor>> outputs;
  for (const TapSpec &tap : prepared->resolved.taps)
    outputs.emplace_back(tap.key, Tensor::make(DType::f32, tapShape(tap, prepared->points, *buffers, info)));
  RunResult result{std::move(outputs), {}, false, {}, 0, 0, 0, std::move(*prepared), std::move(*batch),
                   std::move(*buffers)};
  result.manifest.key = "k";
  return result;
}

} // namespace nnterp
