// Tests of the estimate of memory, and of sizes on the command line.
#include "tools/nnterp/MemoryEstimate.h"
#include "RunResults.h"

using namespace nnterp;

namespace {

/// A run of the toy checkpoint that taps one stream, and a manifest made by hand.
struct Outline {
  Outline(const std::vector<std::vector<int64_t>> &rows, int64_t generate, int64_t chunk = 0, bool save = false) {
    PlanSource source;
    source.flags.taps = {"layers[0].layer_output"};
    prepared = preparePlan(NNTERP_TEST_DATA "/checkpoints/toy", source, runShape(generate, chunk > 0, save), diags);
    std::optional<Batch> batch = batchFromIds(rows, {640, {}}, {}, diags);
    INFO(text(diags));
    REQUIRE(prepared);
    REQUIRE(batch);
    inputs["main"] = *batch;
    info.inputs["main"] = {batch->seq(), batch->rowLengths()};
    info.generate = generate;
    info.chunk = chunk;
    buffers = RunBuffers::make(prepared->resolved, prepared->points, prepared->config, info, diags);
    REQUIRE(buffers);
    manifest.slots = {{SlotKind::state, "layers[0].linear_attn.state", DType::f32, {-1, 2, 2, 2}},
                      {SlotKind::state, "layers[3].self_attn.keys", DType::bf16, {-1, 2, -1, 4}},
                      {SlotKind::state, "layers[3].self_attn.values", DType::bf16, {-1, 2, -1, 4}},
                      {SlotKind::output, "layers[0].layer_output", DType::f32, {-1, -1, 128}}};
    if (generate > 1)
      manifest.slots.push_back({SlotKind::output, "layers[0].layer_output@gen", DType::f32, {-1, -1, 128}});
  }
  RunOutline outline() const { return {prepared->resolved, info, inputs}; }
  MemoryEstimate estimate(const CheckpointIndex *weights = nullptr) {
    return estimateMemory(outline(), manifest, weights, *buffers);
  }
  CallExtents extents(const Call &call) { return CallExtents(outline(), manifest, *buffers, call); }

  Diagnostics diags;
  std::optional<PreparedPlan> prepared;
  std::map<std::string, Batch> inputs;
  RunInfo info;
  std::optional<RunBuffers> buffers;
  Manifest manifest;
};

Call step(int64_t k) {
  Call call;
  call.phase = Phase::gen;
  call.step = k;
  return call;
}

} // namespace

TEST_CASE("extents of calls are those that calls will have", "[memory]") {
  Outline run({{1, 2, 3}, {4}}, 70);
  const CallExtents prompt = run.extents(run.buffers->promptCalls()[0]);
  CHECK(prompt("ids.0") == 2);
  CHECK(prompt("ids.1") == 3);
  CHECK(prompt("positions.0") == 3);
  CHECK(prompt("total") == 3);
  CHECK(prompt("layers[0].layer_output.1") == 3);
  CHECK(prompt("layers[3].self_attn.keys.2") == 64);
  CHECK(prompt("next.0") == 2);
  CHECK(prompt("nothing.0") == 1);
  const CallExtents last = run.extents(step(68));
  CHECK(last("ids@gen.1") == 1);
  CHECK(last("total@gen") == 3 + 69);
  CHECK(last("layers[0].layer_output@gen.1") == 1);
  CHECK(last("layers[3].self_attn.keys.2") == 128);
  Outline chunks({{1, 2, 3}, {4}}, 0, 2);
  const CallExtents second = chunks.extents(chunks.buffers->promptCalls()[1]);
  CHECK(second("ids.1") == 1);
  CHECK(second("total") == 3);
}

TEST_CASE("on a device all weights count", "[memory]") {
  Outline run({{1, 2, 3}, {4}}, 0);
  run.manifest.slots.push_back({SlotKind::weight, "model.norm.weight", DType::bf16, {128}});
  CHECK(run.estimate().mapped == 256);
  const uint64_t here = run.estimate().total();
  run.manifest.target = "gpu";
  CHECK(run.estimate().mapped == 0);
  CHECK(run.estimate().uploaded == 256);
  CHECK(run.estimate().total() == here + 256);
  CHECK(run.estimate().text().find("256 B weights on the device") != std::string::npos);
}

TEST_CASE("intermediate values are those of the largest call", "[memory]") {
  Outline run({{1, 2, 3}, {4}}, 70);
  const Polynomial ids = Polynomial::extent("ids.0") * Polynomial::extent("ids.1"),
                   keys = Polynomial::extent("ids@gen.0") * Polynomial::extent("total@gen");
  run.manifest.promptPeaks = {Polynomial(50), Polynomial(10) * ids};
  CHECK(run.estimate().activations == 60);
  run.manifest.stepPeaks = {keys};
  CHECK(run.estimate().activations == 2 * 72);
}

TEST_CASE("the estimate of a state is for its last growth", "[memory]") {
  const uint64_t recurrent = 2 * 8 * 4, cache = 2 * 2 * 64 * 4 * 2;
  CHECK(Outline({{1, 2, 3}, {4}}, 10).estimate().state == recurrent + 2 * cache);
  CHECK(Outline({{1, 2, 3}, {4}}, 62).estimate().state == recurrent + 2 * cache); // 64 tokens at the end
  CHECK(Outline({{1, 2, 3}, {4}}, 63).estimate().state == recurrent + 4 * cache + cache);
  CHECK(Outline({{1, 2, 3}, {4}}, 10, 0, true).estimate().state == 2 * (recurrent + 2 * cache));
  Outline loaded({{1, 2, 3}, {4}}, 10, 2);
  loaded.info.loaded["main"] = {100, 2};
  CHECK(loaded.estimate().state == recurrent + 4 * cache + cache);
}

TEST_CASE("outputs count with what calls write before they are put together", "[memory]") {
  const uint64_t row = 128 * 4;
  CHECK(Outline({{1, 2, 3}}, 0).estimate().outputs == 3 * row);
  CHECK(Outline({{1, 2, 3}}, 0, 2).estimate().outputs == 6 * row);
  CHECK(Outline({{1, 2, 3}}, 5).estimate().outputs == 3 * row + 4 * row + row + 5 * 8);
}

TEST_CASE("weights count where they cannot be mapped", "[memory]") {
  TempDir dir;
  save(dir, "model.safetensors", {{"a", Tensor::make(DType::f32, {10})}});
  Diagnostics diags;
  std::optional<CheckpointIndex> weights = CheckpointIndex::open(dir.path, {{"a", {10}, {}}}, {}, diags);
  REQUIRE(weights);
  Outline run({{1}}, 0);
  run.manifest.slots = {{SlotKind::weight, "a", DType::f32, {10}}, {SlotKind::weight, "unknown", DType::f32, {3}}};
  CHECK(run.estimate(&*weights).mapped == 40);
  CHECK(run.estimate(&*weights).copied == 12);
  CHECK(run.estimate().mapped == 52);
  CHECK(run.estimate(&*weights).total() == 12);
}

TEST_CASE("an estimate says what it counts", "[memory]") {
  MemoryEstimate e;
  CHECK(e.text() == "0 B");
  e.mapped = uint64_t(3) << 30; // not part of it
  e.state = 2048;
  e.activations = 1 << 20;
  CHECK(e.text() == "1.0 MiB (2 KiB memory of the sequences, 1 MiB intermediate values)");
}

TEST_CASE("sizes are written as people write them", "[memory]") {
  CHECK(parseSize("1000") == 1000u);
  CHECK(parseSize("2K") == 2048u);
  CHECK(parseSize("1.5MiB") == 1572864u);
  CHECK(parseSize("3 GB") == 3000000000u);
  CHECK(parseSize("1t") == uint64_t(1) << 40);
  CHECK(parseSize("12B") == 12u);
  for (const char *wrong : {"", "G", "-1", "1X", "1GG", "1 Gi", "nan", "1e30"})
    CHECK_FALSE(parseSize(wrong));
}
