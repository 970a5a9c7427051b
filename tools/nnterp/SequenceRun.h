// The calls of one run: on the prompt, then one per generated token, through the memory of each world.
#pragma once

#include "runtime/exec/Bind.h"
#include "runtime/exec/Program.h"
#include "runtime/state/StateFile.h"
#include "tools/nnterp/Generation.h"
#include "tools/nnterp/TapAssembly.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnterp {

/// A token that was just generated.
struct GeneratedToken {
  std::string_view world; ///< `main` without worlds
  int64_t row, step, id;
  bool ends;     ///< it is an end token: the row generates nothing more
  size_t rows;   ///< how many rows of all worlds generate
};
using OnToken = std::function<void(const GeneratedToken &)>;

/// What a row generated, its end token included and nothing behind it.
struct GeneratedRow {
  std::string world;
  int64_t row = 0;
  std::vector<int64_t> tokens;
  bool ended = false; ///< by an end token
};

/// What a run consists of.
struct SequenceParts {
  const ResolvedPlan &plan;
  const RunInfo &info;
  const std::map<std::string, Batch> &inputs; ///< by input name; pending tokens of loaded states stand before the prompt
  const SavedStates &loaded;                  ///< by world; empty: the run starts from nothing
  const GenerationSettings &generation;
  Program &program;
  RunBuffers &buffers;
  BoundTable &table;
  MemorySpace &space; ///< that the program works in
  std::optional<ImageTokenRules> images = {}; ///< of a model with an image encoder
  int64_t patchValues = 0;
};

/// What it took.
struct SequenceCosts {
  double promptMilliseconds = 0, stepsMilliseconds = 0;
  int64_t steps = 0;            ///< generated tokens that were fed back, per row
  uint64_t arenaPeak = 0;       ///< bytes of intermediate values held at once
  uint64_t stepAllocations = 0; ///< how often a step after the first asked the system for memory
  int64_t stepsReplayed = 0;    ///< steps that were a recorded sequence of launches (see DeviceCalls)
  int64_t growths = 0;          ///< how often caches were made larger
  uint64_t stateBytes = 0;      ///< of all worlds' memory at the end
};

class SequenceRun {
public:
  explicit SequenceRun(const SequenceParts &parts);

  /// Runs every call. `progress` gets the share of the work that is done. Errors: NNT1017, NNT1018, NNT1020, NNT1206, those of the
  /// space and of the device.
  bool run(const std::function<void(double)> &progress, const OnToken &onToken, Diagnostics &diags);

  /// Tensors of the output file, the generated tokens behind the taps.
  std::vector<std::pair<std::string, Tensor>> outputs() const;
  const std::vector<GeneratedRow> &generated() const { return rows; }
  /// Of every world; only in runs with memory. Errors: those of the space.
  std::optional<SavedStates> states(Diagnostics &diags) const;
  const SequenceCosts &costs() const { return spent; }
  /// The plan's tables and numbers in the last call on the prompt.
  const TensorMap &buffers() const { return tensors.buffers; }

private:
  /// One world's rows while tokens are generated.
  struct World {
    const WorldSpec *spec;
    std::string prefix;
    const Batch *batch;
    std::optional<SequenceState> state;
    std::optional<StepInputs> step;
    std::vector<TokenHash> hashes; ///< by row, of every token so far
    Tensor tokens;                 ///< [B,N]
    size_t firstRow = 0;           ///< in `rows`
    std::vector<bool> *ended = nullptr;
  };

  bool start(Diagnostics &diags);
  bool addLogits(const std::string &name, int64_t rows, Diagnostics &diags);
  bool prompt(const std::function<void(double)> &progress, Diagnostics &diags);
  bool steps(const std::function<void(double)> &progress, const OnToken &onToken, Diagnostics &diags);
  bool setPrompt(const Call &call, Diagnostics &diags);
  void noteFed(const Call &call);
  bool choose(int64_t step, const OnToken &onToken);
  bool setStep(Diagnostics &diags);
  bool call(Program::Entry entry, const RunProgress &progress, Diagnostics &diags);
  bool addImages(const World &world, Diagnostics &diags);
  bool reserve(World &world, int64_t tokens, Diagnostics &diags);
  int64_t loadedLength(const std::string &world, int64_t row) const;
  RowPart partOf(const World &world, int64_t row, const Call &call) const;

  SequenceParts parts;
  RunTensors tensors;
  TapAssembly assembly;
  std::vector<World> worlds;
  EndedRows ended;
  Sampler sampler;
  std::vector<GeneratedRow> rows;
  SequenceCosts spent;
  double work = 0, finished = 0; ///< calls, weighted by their tokens
};

} // namespace nnterp
