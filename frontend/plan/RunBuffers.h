// The buffers of one run, call by call, and how calls' results make up the tensors of the output file.
#pragma once

#include "frontend/plan/Resolved.h"

#include <array>

namespace nnterp {

/// What a run knows about one input.
struct BatchInfo {
  int64_t seq = 0;              ///< S, the padded length
  std::vector<int64_t> lengths; ///< real tokens per row
  std::vector<std::array<int64_t, 3>> grids = {}; ///< t, h, w in patches of its images, in order over the rows; t is 1
};

/// What a run knows before its first call.
struct RunInfo {
  std::map<std::string, BatchInfo> inputs; ///< by input name
  int64_t generate = 0;                    ///< N; the tokens 0..N-2 are fed back
  int64_t chunk = 0;                       ///< columns of the padded prompt per call; 0: all in one
  std::map<std::string, std::vector<int64_t>> loaded; ///< by world: tokens per row that a loaded state holds already

  int64_t steps() const { return generate > 1 ? generate - 1 : 0; }
};

/// One call: columns [begin, end) of the prompt, padded on the left to the longest input, or generated token `step`.
struct Call {
  Phase phase = Phase::prompt;
  int64_t step = 0;
  int64_t begin = 0, end = 0;
  bool first = false, last = false; ///< of the prompt's calls
};

/// The calls on the prompt, in order: one, or one per `chunk` columns.
std::vector<Call> promptCalls(const RunInfo &run);
/// Real tokens of a row before a call, and in it.
struct RowWindow {
  int64_t past = 0, length = 0;
};
/// `past` counts the run's own tokens, without those of a loaded state.
RowWindow rowWindow(const RunInfo &run, const std::string &input, int64_t row, const Call &call);

using BufferMap = std::map<std::string, Tensor>;

/// How the results of calls make up one tensor of the output file.
struct TapLayout {
  std::string key, world;
  Phase phase = Phase::prompt;
  Shape shape;                 ///< of the file's tensor; an extent of 0: not written
  std::vector<int64_t> rows;   ///< batch rows by rank; empty for values without a batch axis
  /// Phase prompt: every call's result has the shape of the whole, entries of other calls being 0, and results are put together by
  /// or-ing their bits; `onlyLast` (`onlyFirst`): that call's result alone counts. Phase images: its one call writes the whole.
  bool onlyFirst = false, onlyLast = false;
  /// Phase gen: the axis of the file's tensor on which steps stand, and the selected steps in order. A call's result lacks the axis
  /// (`newAxis`) or has it with extent 1. Rows that have ended stay 0.
  int64_t stepAxis = -1;
  bool newAxis = false;
  std::vector<int64_t> steps;
  /// attention_scores: entries whose key comes later than its query hold the dtype's lowest finite value. Positions by rank and
  /// place on the query and key axes (axes 2 and 3), -1 = absent; phase gen: query positions by step.
  bool masked = false;
  std::vector<std::vector<int64_t>> queries, keys;

  /// The shape of what one call writes.
  Shape callShape() const;
};

/// Everything of a run that plan and lengths decide. Built before the first kernel.
class RunBuffers {
public:
  /// Checks what depends on lengths (indices too large, extents that do not fit, empty selections, conflicts undecided before,
  /// images that an input lacks, gen[...] beyond the run): errors with the plan's place. Notes how many tokens each routing edit touches, and which taps select
  /// nothing. A call's axes of tokens are as long as its longest row, at least 1, and its axes of keys as the longest row with all
  /// that came before. Errors: NNT0609, NNT07xx, NNT08xx.
  static std::optional<RunBuffers> make(const ResolvedPlan &plan, const PointTable &points, const ModelConfig &config,
                                        const RunInfo &run, Diagnostics &diags);

  /// The prompt's calls: one where the plan reads across chunks, whatever `chunk` asked for (with a note). What edits of generated
  /// tokens read of the prompt (kept values) is whole in what the last call leaves.
  const std::vector<Call> &promptCalls() const { return calls; }
  /// Buffers that are the same in every call of a phase, by name: numbers, values, expert lists, axes without tokens; all those of
  /// phase images.
  const BufferMap &common() const { return shared; }
  /// Fills the buffers that one call on tokens has for itself into `into`; memory that is there is used again when the shape is the same, so
  /// that decoding allocates nothing once key axes have stopped growing. `ended[world][row]`: the row has ended (phase gen); where a
  /// source's row has ended, the region is left unedited, and `unedited()` counts it.
  void fill(const Call &call, const std::map<std::string, std::vector<bool>> &ended, BufferMap &into);
  int64_t unedited() const;

  const std::vector<TapLayout> &taps() const { return layouts; }   ///< one per ResolvedPlan::taps
  const std::map<std::string, Shape> &keeps() const { return kept; } ///< shapes of kept values, of phases images and prompt, by name

private:
  RunBuffers() = default;
  std::vector<Call> calls;
  BufferMap shared;
  std::vector<TapLayout> layouts;
  std::map<std::string, Shape> kept;
  struct State; ///< regions and tables
  class Maker;  ///< fills all of this
  std::shared_ptr<State> state;
};

} // namespace nnterp
