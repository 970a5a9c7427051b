// Handlers that are no arithmetic: branches, guards, barriers, votes, atomics, asynchronous copies. Not tied to an instruction set.
#pragma once

#include "runtime/gpu/emulator/run/Machine.h"

namespace nnterp::gpu::emulator {

constexpr uint32_t noJoin = uint32_t(1) << 31;

// Fields: imm distance to the target, x distance to the join or noJoin, a predicate, c 1 if it is inverted.
const Inst *jump(Warp &warp, const Inst *inst);
const Inst *branchIf(Warp &warp, const Inst *inst);
/// brx.idx: a index, c number of targets, d their place among the lists (distances), x join.
const Inst *branchIndexed(Warp &warp, const Inst *inst);
const Inst *joinPaths(Warp &warp, const Inst *inst);
/// a predicate, c inverted, x 1 if there is a predicate.
const Inst *exitLanes(Warp &warp, const Inst *inst);
const Inst *trap(Warp &warp, const Inst *inst);
/// a predicate, c inverted, imm number of instructions that it guards.
const Inst *guard(Warp &warp, const Inst *inst);
/// imm: the rounding (0 zero, 1 down, 2 up) of the one instruction behind it.
const Inst *withRounding(Warp &warp, const Inst *inst);
const Inst *nothing(Warp &warp, const Inst *inst);
const Inst *clock(Warp &warp, const Inst *inst); ///< d; c: bytes of the register

// d is the written-mask of a register, a that of another; x the register, for messages.
const Inst *checkWritten(Warp &warp, const Inst *inst);
const Inst *markWritten(Warp &warp, const Inst *inst);
const Inst *copyWritten(Warp &warp, const Inst *inst);

/// a number, b count of threads or, with x 0, all; c 0 wait, 1 arrive only.
const Inst *barrierSync(Warp &warp, const Inst *inst);
/// a: mask of lanes.
const Inst *warpSync(Warp &warp, const Inst *inst);

/// Handlers with keys: shuffles, votes, atomics and the like.
HandlerTable controlTable();
HandlerTable atomicTable();
HandlerTable asyncTable();

} // namespace nnterp::gpu::emulator
