// The kernels of a mixture of experts.
#pragma once

#include "passes/lower/gpu/kernels/KernelBuilders.h"

namespace nnterp::device {

/// Chooses experts. Inputs: logits [B,S,E], and forced [B,S,K] where there are any. Outs: weights and indices [B,S,K].
void buildRouter(KernelOp op);

/// Sorts the slots of all tokens by their experts, slots without one behind the others, and cuts the slots of an expert into tiles.
/// Inputs: indices [B,S,K]; how many slots make a tile. States: the order [B*S*K], numbers of slots; the tiles [.., 3]: the expert, and
/// where in the order the tile begins and ends. Tiles that are not needed are empty. Config: `experts`, how many there are.
void buildExpertsSort(KernelOp op);

/// The kernels that compute with experts, on what the sort leaves.
///
/// `experts_up`: inputs x [B,S,C], gate_up [E,2I,C], order, tiles, indices; out: the neurons of every slot that has an expert [B*S*K, I].
/// `experts_down`: inputs neurons, down [E,C,I], order, tiles, weights [B,S,K]; out: [B,S,K,C], zero where a slot has no expert.
void buildExperts(KernelOp op);

/// How many slots make a tile, for this many slots in all: a value of the host.
mlir::Value slotsPerTile(PlainBuilder &host, mlir::Value slots, int64_t experts);

} // namespace nnterp::device
