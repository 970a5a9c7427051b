// What each call gets to read of its rows: tokens, lengths, positions, and how much of the sequence came before.
#pragma once

#include "runtime/exec/Batch.h"

#include <map>
#include <string>
#include <vector>

namespace nnterp {

/// Tensors by name; the memory behind a name stays where it is as long as its tensor is not replaced.
using TensorMap = std::map<std::string, Tensor>;

/// A row's part in a call on the prompt.
struct RowPart {
  int64_t past = 0;   ///< tokens that the sequence's memory holds already
  int64_t begin = 0;  ///< first token of the batch's row
  int64_t length = 0; ///< tokens; 0: the row only waits
};

/// The inputs of one call on (a chunk of) a batch, into `into` under `prefix` + name (see Manifest.h): ids [B,W], lengths [B],
/// positions [3,B,W], pads [B], past [B], total [1], image_rows [B,W], with W the longest part, at least 1. `first`: of the sequence's calls; then
/// pads are those that stand before each row in the whole batch, else 0.
void setPromptInputs(const Batch &batch, const std::vector<RowPart> &parts, bool first, const std::string &prefix,
                     TensorMap &into);

/// The inputs of calls on one generated token per row, [B,1]. Their memory is made once and written in place.
class StepInputs {
public:
  /// Makes the tensors under `prefix` + name + "@gen".
  StepInputs(int64_t rows, const std::string &prefix, TensorMap &into);
  /// `past`: tokens in memory before this one. `ended`: the row has no token in this call.
  void set(int64_t row, int64_t token, const Position &position, int64_t past, bool ended);
  /// After all rows are set.
  void finish();

private:
  int64_t rows;
  Tensor ids, lengths, positions, past, total; ///< the same memory as in the map
};

} // namespace nnterp
