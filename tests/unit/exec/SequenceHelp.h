// One run of the test program of sequences: what goes in, and everything that comes out.
#pragma once

#include "tools/nnterp/SequenceRun.h"
#include "RunResults.h"
#include "TestDevice.h"
#include "tools/nnterp/Continuation.h"

namespace nnterp::test {

constexpr int64_t vocabulary = 97;
using Ids = std::vector<int64_t>;
using Rows = std::vector<Ids>;

/// What the program says comes next behind tokens at their indices.
inline int64_t following(const Ids &tokens) {
  int64_t sum = 0;
  for (int64_t p = 0; p < int64_t(tokens.size()); ++p)
    sum += (p + 1) * (tokens[size_t(p)] + p);
  return sum % vocabulary;
}

inline Ids continuation(Ids tokens, int64_t count, const Ids &eos = {}) {
  Ids generated;
  while (int64_t(generated.size()) < count) {
    generated.push_back(following(tokens));
    tokens.push_back(generated.back());
    if (std::find(eos.begin(), eos.end(), tokens.back()) != eos.end())
      break;
  }
  return generated;
}

inline Manifest sequenceManifest() {
  Manifest m;
  m.abi = abi::version;
  m.steps = true;
  for (const char *suffix : {"", "@gen"}) {
    const std::string s = suffix;
    m.slots.push_back({SlotKind::input, "ids" + s, DType::i64, {-1, -1}});
    m.slots.push_back({SlotKind::input, "lengths" + s, DType::i64, {-1}});
    m.slots.push_back({SlotKind::input, "positions" + s, DType::i64, {3, -1, -1}});
    m.slots.push_back({SlotKind::input, "past" + s, DType::i64, {-1}});
    m.slots.push_back({SlotKind::input, "total" + s, DType::i64, {1}});
    m.slots.push_back({SlotKind::output, "next" + s, DType::f32, {-1, vocabulary}});
    if (s.empty())
      m.slots.push_back({SlotKind::input, "pads", DType::i64, {-1}});
  }
  m.slots.push_back({SlotKind::state, "layers[3].self_attn.keys", DType::f32, {-1, 1, -1, 1}});
  return m;
}

/// The same as a program for a GPU.
inline Manifest onDevice(Manifest m) {
  m.target = "gpu";
  m.chip = "test";
  m.kernels = {{"read", "what a call does"}};
  m.failureEntries = 2;
  return m;
}

/// One run of the program, here or on a device.
struct Sequence {
  std::shared_ptr<TestDevice> device; ///< null: here
  int64_t generate = 0, chunk = 0, width = 0;
  bool takeStates = true;
  Ids eos;
  SamplingSettings sampling;
  SavedStates loaded;
  Manifest manifest = sequenceManifest();

  std::vector<GeneratedRow> generated;
  std::map<std::string, Tensor> outputs;
  SavedStates states;
  SequenceCosts costs;
  std::function<void()> atToken; ///< called whenever a token is there
  std::vector<double> fractions;
  Diagnostics diags;

  bool run(const Rows &rows) {
    Batches inputs;
    if (!rows.empty())
      inputs["main"] = *batchFromIds(rows, {vocabulary, {}}, {}, diags, width);
    if (!loaded.empty()) {
      std::optional<Batches> joined = continueFrom(loaded, {{"main", "main", {}}}, inputs, "state", diags);
      REQUIRE(joined);
      inputs = *joined;
    }
    PlanSource source;
    source.flags.taps = {"input_ids"};
    std::optional<PreparedPlan> prepared =
        preparePlan(NNTERP_TEST_DATA "/checkpoints/toy", source, runShape(generate, true), diags);
    REQUIRE(prepared);
    prepared->resolved.taps.clear(); // the program writes none
    RunInfo info;
    info.inputs["main"] = {inputs["main"].seq(), inputs["main"].rowLengths()};
    info.generate = generate;
    info.chunk = chunk;
    if (!loaded.empty())
      info.loaded["main"] = loaded["main"].lengths;
    std::optional<RunBuffers> buffers =
        RunBuffers::make(prepared->resolved, prepared->points, prepared->config, info, diags);
    INFO(text(diags));
    REQUIRE(buffers);
    if (device)
      manifest = onDevice(manifest);
    std::unique_ptr<Program> program =
        Program::open(device ? TEST_DEVICE_SEQUENCE : TEST_SEQUENCE, manifest, diags, device);
    if (!program)
      return false;
    std::unique_ptr<MemorySpace> ofDevice;
    if (device)
      ofDevice = deviceSpace(device, [&] { return program->trim(); });
    MemorySpace &space = ofDevice ? *ofDevice : hostSpace();
    TempDir dir;
    save(dir, "model.safetensors", {{"w", tensorOf(DType::f32, {1}, {1})}});
    std::optional<CheckpointIndex> weights = CheckpointIndex::open(dir.path, {{"w", {1}, {}}}, {}, diags);
    REQUIRE(weights);
    std::optional<BoundTable> table = BoundTable::make(program->manifest(), *weights, diags, space);
    if (!table)
      return false;
    GenerationSettings generation;
    generation.tokens = generate;
    generation.eos = eos;
    generation.pad = 96;
    generation.sampling = sampling;
    SequenceRun sequence({prepared->resolved, info, inputs, loaded, generation, *program, *buffers, *table, space});
    fractions.reserve(2000);
    const bool good = sequence.run([&](double f) { fractions.push_back(f); },
                                   [&](const GeneratedToken &) {
                                     if (atToken)
                                       atToken();
                                   },
                                   diags);
    generated = sequence.generated();
    for (auto &[key, tensor] : sequence.outputs())
      outputs[key] = tensor;
    if (good && takeStates)
      states = *sequence.states(diags);
    costs = sequence.costs();
    return good;
  }
};

} // namespace nnterp::test
