// The slow side of memory accesses: called by handlers when the quick test of an access fails, or when accesses are observed.
#pragma once

#include "runtime/gpu/emulator/run/Machine.h"

namespace nnterp::gpu::emulator {

enum class Memory : uint8_t { global, shared, local };
enum class Access : uint8_t { read, write, atomic };

/// Whether the active lanes may access `bytes` at their addresses (of inactive lanes any valid one): alignment and bounds. Fills the
/// instruction's site. Reports the first wrong one and returns false otherwise.
bool admit(Warp &warp, const Inst *inst, Memory memory, const uint64_t *addresses, uint32_t bytes, Access access);

/// The same for the source of an asynchronous copy, which reads `bytes` of the `alignment` that it copies.
bool admitSource(Warp &warp, const Inst *inst, const uint64_t *addresses, uint32_t bytes, uint32_t alignment);

/// Whether all bytes of shared memory that the active lanes read were written and have arrived; reports otherwise.
bool readable(Warp &warp, const Inst *inst, const uint64_t *addresses, uint32_t bytes);

/// Tells the observer (races, unwritten global memory) of an access that is within bounds; false if it found an error.
bool observe(Warp &warp, const Inst *inst, Memory memory, const uint64_t *addresses, uint32_t bytes, Access access);

/// Whether exactly the lanes of `mask` that still exist execute this instruction together; reports otherwise.
bool together(Warp &warp, const Inst *inst, uint32_t mask);

/// Whether all 32 lanes are there and execute this instruction; reports otherwise.
bool wholeWarp(Warp &warp, const Inst *inst);

/// Reports a lane that takes a value from one that does not take part; returns false.
bool failShuffle(Warp &warp, const Inst *inst, int lane, int from);

} // namespace nnterp::gpu::emulator
