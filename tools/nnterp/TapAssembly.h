// Puts the tensors of the output file together from what calls write (TapLayout says how).
#pragma once

#include "frontend/plan/RunBuffers.h"
#include "runtime/abi/Manifest.h"
#include "runtime/exec/CallInputs.h"

#include <string>
#include <utility>
#include <vector>

namespace nnterp {

/// By world: which rows have ended.
using EndedRows = std::map<std::string, std::vector<bool>>;

class TapAssembly {
public:
  /// Makes the file's tensors and what calls write into; the latter go into `outputs`, by key. dtypes are those of the program's
  /// slots. `promptCalls`: how many calls there are on the prompt.
  TapAssembly(const std::vector<TapLayout> &layouts, const Manifest &manifest, size_t promptCalls, TensorMap &outputs);

  /// After a call on the prompt, after all of them, and after a step.
  void takePrompt(const Call &call);
  void finishPrompt();
  void takeStep(int64_t step, const EndedRows &ended);

  /// The tensors in the order of the layouts, without those in which no row selects anything.
  std::vector<std::pair<std::string, Tensor>> results() const;

private:
  struct Tap {
    const TapLayout *layout;
    Tensor whole;   ///< of the file
    Tensor written; ///< by calls; the same memory as `whole` when one call writes all of it
  };
  void insert(Tap &tap, size_t place, const std::vector<bool> &ended);
  void mask(Tap &tap, size_t rank, size_t query) const;

  std::vector<Tap> taps;
};

} // namespace nnterp
