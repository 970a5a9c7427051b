// What an artefact says about itself: which memory its descriptor table wants, in order.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// Who provides a slot: the batch (`ids`, `lengths`, `positions`), the checkpoint, the plan, or the output file.
enum class SlotKind { input, weight, buffer, output };

/// One entry of the descriptor table. `dims`: static extents, -1 for what a run decides.
struct SlotSpec {
  SlotKind kind;
  std::string name; ///< input name, checkpoint key (standard), buffer name, or output key
  DType dtype;
  Shape dims;
};

struct Manifest {
  uint32_t abi = 0;          ///< abi::version
  std::string tool;          ///< version of the compiler
  std::string target;        ///< "cpu"
  std::string tier;          ///< instruction tier, e.g. "avx512"
  std::string cpu;           ///< what LLVM was told (-mcpu)
  DType dtype = DType::f32;  ///< model dtype
  std::string key;           ///< cache key
  std::vector<SlotSpec> slots;
  int64_t blocks = 0;        ///< blocks of the model the program computes, for information
  int64_t functions = 0;     ///< distinct outlined functions, for information

  std::string toJson() const;
  static std::optional<Manifest> fromJson(const std::string &text, const std::string &file, Diagnostics &diags);
};

} // namespace nnterp
