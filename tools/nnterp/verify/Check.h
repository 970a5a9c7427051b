// One promise of the model or of this tool, and how a checkpoint's values are held against it.
#pragma once

#include "tools/nnterp/verify/Findings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp::verify {

/// What is run, on all prompts together unless said otherwise. Checks share runs.
enum class RunKind : uint8_t {
  values,    ///< every value tapped, with generation
  again,     ///< the same once more
  logits,    ///< the logits alone, with generation
  whole,     ///< every value tapped, the tokens that `values` fed back being part of the prompt
  order,     ///< some values of `whole`, asked for in another order
  padded,    ///< `whole` with more pads
  alone,     ///< `whole`, one run per row
  chunked,   ///< as `values`, the prompt in pieces
  continued, ///< as `values`, from a state that was saved behind the prompt
  edited,    ///< two worlds, the second with edits (EditPlans.h)
  rerouted   ///< an expert of each block replaced by the next best
};
constexpr size_t runKinds = size_t(RunKind::rerouted) + 1;

/// Which blocks a check speaks of.
enum class BlockSet : uint8_t { none, every, linear, full };

/// For a sequence that is cut in another way: on the CPU every token is computed by itself, on a GPU those of a call in chunks
/// (design.md 7). What a block makes of the difference, the next ones make more of.
inline double cutTolerance(Target target, DType dtype) {
  return target == Target::cpu ? 0 : dtype == DType::bf16 ? 1.0 / 16 : 1e-4;
}

/// What a check may look at.
class Evidence {
public:
  virtual ~Evidence() = default;
  virtual const ModelConfig &config() const = 0;
  virtual DType dtype() const = 0;
  virtual Target target() const = 0;
  /// The chosen blocks of a kind.
  virtual std::vector<int64_t> blocks(BlockSet set) const = 0;
  /// A run that the check needs; `index`: of several; `world`: of a run that has worlds.
  virtual RunView run(RunKind kind, size_t index = 0, const std::string &world = "") const = 0;
  virtual const RunResult &result(RunKind kind, size_t index = 0) const = 0;
  /// The expert that edits of a block are about: the likeliest one of the first row's last prompt token.
  virtual int64_t expert(int64_t block) const = 0;

  float rounded(float x) const { return dtype() == DType::bf16 ? toFloat(fromFloat(x, DType::bf16), DType::bf16) : x; }
  /// For what is compared with another way to compute it: some units in the last place of numbers near 1.
  double tolerance() const { return dtype() == DType::bf16 ? 1.0 / 128 : 1e-6; }
  double cutTolerance() const { return verify::cutTolerance(target(), dtype()); }
  /// For a sigmoid, which is below 1.
  double sigmoidTolerance() const { return dtype() == DType::bf16 ? 1.0 / 500 : 2.4e-7; }
};

struct Check {
  const char *name;
  const char *promise; ///< one line
  BlockSet blocks;
  std::vector<RunKind> needs;
  void (*judge)(const Evidence &, Findings &);
};

/// `layers[3].mlp.mlp_output`
std::string atBlock(int64_t block, std::string_view name);

std::vector<Check> streamChecks();    ///< the residual stream and the head
std::vector<Check> mixtureChecks();   ///< mixture of experts
std::vector<Check> attentionChecks(); ///< full attention
std::vector<Check> deltaChecks();     ///< gated DeltaNet
std::vector<Check> runChecks();       ///< what does not depend on how a sequence is run

/// All of them, in that order.
const std::vector<Check> &checks();

} // namespace nnterp::verify
