// What an artefact says about itself: which memory its descriptor table wants, in order.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Polynomial.h"
#include "runtime/abi/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// Who provides a slot: the batch, the checkpoint, the plan, the output file, the sequence's memory, or the run itself,
/// for a value of the prompt that the program of phase gen reads (`kept`).
///
/// Names. Inputs: `ids` [B,S], `lengths` [B], `positions` [3,B,S], `pads` [B], in programs with images `image_rows`
/// [B,S] and those of the encoder, `pixels`, `patches`, `segments` (see runtime/exec/BatchImages.h), and in programs
/// with memory `past` [B] and `total` [1] (see runtime/exec/Batch.h); in a plan with worlds `INPUT/ids` in the prompt's
/// program; in the program of phase gen `ids@gen` or `WORLD/ids@gen`. Outputs: the key in the file; `next`, `next@gen`
/// ([B,V], the logits that the next token is chosen from), with worlds `WORLD/next`. Memory:
/// `layers[0].linear_attn.state` [B,HV,DK,DV], `.conv` [B,CD,KW], `layers[3].self_attn.keys` and `.values`
/// [B,NK,capacity,D], with worlds `WORLD/layers[0]...`; every call reads and writes it in place.
enum class SlotKind { input, weight, buffer, output, state, kept };
/// "input", "weight", …
std::string_view name(SlotKind kind);

/// One entry of the descriptor table. `dims`: static extents, -1 for what a run decides.
struct SlotSpec {
  SlotKind kind;
  std::string name; ///< input name, checkpoint key (standard), buffer name, or output key
  DType dtype;
  Shape dims;
};

/// What of a GPU program's kernel is known besides its text; in launches a kernel is its index in the manifest's list.
/// Costs are functions of a launch: `p0`, `p1`, … are the values of the kernel's parameters, `blocks` is how many
/// blocks are started.
struct KernelSpec {
  /// One piece of memory that it is given.
  struct Memory {
    Polynomial whole;   ///< bytes of all of it
    Polynomial touched; ///< bytes of all accesses, repeated ones counted again: the smaller of the two comes from memory
  };

  std::string name;     ///< of its `.entry` in the PTX
  std::string location; ///< what it computes and where that came from, for messages
  Polynomial flops = {};
  std::vector<Memory> memory = {};
};

struct Manifest {
  uint32_t abi = 0;          ///< abi::version
  std::string tool;          ///< version of the compiler
  std::string target;        ///< "cpu" or "gpu"; the same program runs through the CUDA driver and in the emulator
  std::string tier;          ///< instruction tier, e.g. "avx512"
  std::string cpu;           ///< what LLVM was told (-mcpu)
  DType dtype = DType::f32;  ///< model dtype
  std::string key;           ///< cache key
  std::string config;        ///< hash of what the graph depends on in the configuration
  std::string structure;     ///< text of the plan's structure: the program serves every plan that has the same
  bool steps = false;        ///< there is an entry for generated tokens; all entries use this one table
  bool images = false;       ///< there is an entry that encodes images
  std::string chip;          ///< of a GPU program: what its PTX was made for, "sm_80"
  std::vector<KernelSpec> kernels; ///< of a GPU program
  int64_t failureEntries = 0; ///< of a GPU program: int64 that Frame::failures must hold
  std::vector<SlotSpec> slots;
  /// Bytes of intermediate values that a call holds at the moments that may be its peak (of the prompt's entry, and of `steps`),
  /// as functions of the extents of slots.
  std::vector<Polynomial> imagePeaks, promptPeaks, stepPeaks;
  int64_t blocks = 0;        ///< blocks of the model the program computes, for information
  int64_t functions = 0;     ///< distinct outlined functions, for information

  std::string toJson() const;
  static std::optional<Manifest> fromJson(const std::string &text, const std::string &file, Diagnostics &diags);
};

} // namespace nnterp
