// The named values of a model as a page for the terminal, as JSON, and as a printout of modules.
#pragma once

#include "frontend/names/PointTable.h"

#include <string>

namespace nnterp {

/// Every row once, blocks grouped: `layers[linear].linear_attn.decays`, with columns and a line of explanation. Costs
/// are those of a run in `dtype`. `filter`: only rows of which a name contains it ("" = all).
std::string pointsText(const PointTable &table, const ModelConfig &config, DType dtype, const std::string &filter = "");

/// One object per row: name, aliases, layout, axes, shape, dtype, access, condition, blocks, where, what, bytes.
std::string pointsJson(const PointTable &table, const ModelConfig &config, DType dtype, const std::string &filter = "");

/// The tree of modules with the values at each, equal blocks grouped as `(0-2): 3 x linear block`.
std::string pointsTree(const PointTable &table, const ModelConfig &config);

/// The dtype of a run when the user names none and the weights are not looked at: the configuration's, with float16 run
/// as float32 and FP8 as bfloat16; float32 when it names none.
DType dtypeWithoutWeights(const ModelConfig &config);

} // namespace nnterp
