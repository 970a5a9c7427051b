// What the compiler says about a program besides the program.
#pragma once

#include "runtime/abi/Polynomial.h"

#include <map>
#include <string>
#include <vector>

namespace nnterp {

/// A world in one entry.
struct WorldReport {
  int64_t firstOwnBlock = 0; ///< the first block where something is computed for it alone; what stands before is shared with a
                             ///< world before it. -1: from the embedding on. The number of blocks: nothing is
  int64_t ops = 0;           ///< that are its own
};

/// One entry of a program: the image encoder, calls on the prompt, or on generated tokens. Extents are named as in Polynomial.
struct EntryReport {
  int64_t kernels = 0;                    ///< that run per call
  std::map<std::string, int64_t> kinds;   ///< the same by main op, `hybrid.linear`
  Polynomial flops;                       ///< per call: two per multiply-add of products, attention, the delta rule and experts
  int64_t weightBytes = 0;                ///< read per call, without experts
  Polynomial expertBytes;                 ///< of experts, if no two tokens share one
  std::vector<WorldReport> worlds;        ///< in the plan's order
};

struct ProgramReport {
  int64_t blocks = 0;
  EntryReport images, prompt, step; ///< the first and the last are empty in programs without images, without generated tokens
};

} // namespace nnterp
