// What handlers of instructions work on: decoded instructions, warps, the block a worker executes. Plain data, because files that
// are compiled for one instruction set of the CPU include it: they must not leave behind inline functions that others link to.
#pragma once

#include <cstdint>

namespace nnterp::gpu::emulator {

struct Warp;
struct Inst;

/// Executes one instruction for the active lanes; returns the next one, null when the warp cannot go on now.
using Handler = const Inst *(*)(Warp &, const Inst *);

constexpr int lanes = 32;
constexpr uint32_t memoryKinds = 3;
constexpr uint32_t allLanes = ~uint32_t(0);

/// Where an operand lies: a byte offset, a multiple of 4, with the base it counts from in the low bits. All operands are 32 values,
/// one a lane, of the register's width; a predicate is one bit a lane in 32 bits.
using Slot = uint32_t;
enum Base : uint32_t { registerBase, constantBase, launchBase, blockBase };

struct Inst {
  Handler run = nullptr;
  Slot d = 0, a = 0, b = 0, c = 0;
  uint32_t x = 0;    ///< a fourth operand, a list, a code: what the handler says
  uint32_t site = 0; ///< of a memory access: its first place among the sites; there is one for each kind of memory
  int64_t imm = 0;
};

/// Piece of memory that an access found itself in last time: it lies within if `address - low <= span`.
struct Site {
  uint64_t low = 1, span = 0;
};

/// An entry of the stack of divergence: lanes that go on at `next` until they reach `join`, where the entry below takes over.
struct Path {
  const Inst *next, *join;
  uint32_t mask;
};
constexpr int maxPaths = 2 * lanes + 2;

enum class WarpState : uint8_t { ready, waiting, exited, failed };

struct Block;

struct Warp {
  char *base[4];
  uint32_t active; ///< lanes that execute the current instruction
  uint32_t exists; ///< lanes that the block has threads for
  uint32_t exited;
  uint32_t number; ///< in its block
  WarpState state;
  uint8_t barrier; ///< it waits at
  int depth;       ///< of paths
  const Inst *next; ///< where to go on
  Block *block;
  char *local; ///< memory of lane 0; others follow at localBytes
  uint32_t localBytes;
  uint32_t syncs; ///< bar.warp.sync so far: intervals for the race detector
  uint32_t commits[lanes]; ///< groups of cp.async closed so far
  uint64_t instructions, laneInstructions;
  Path paths[maxPaths];
};

/// States of a byte of shared memory.
enum Shadow : uint8_t { unwritten = 0, written = 1, inFlight = 2 };

struct Execution; // the slow side: Execution.h

struct Block {
  char *shared;
  uint8_t *shadow; ///< a state for each byte
  Site *sites;
  const Slot *lists; ///< of the kernel: operands of instructions that have many
  Execution *execution;
  bool observed; ///< every access is reported to the observer
};

// Generic addresses: windows above all memory of the host.
constexpr uint64_t sharedWindow = uint64_t(1) << 56, localWindow = uint64_t(2) << 56, windowMask = uint64_t(0xff) << 56;
/// Shared memory begins here, so that offset 0 is nobody's.
constexpr uint64_t sharedBegin = 256;

/// Entry of a table of handlers, by the instruction's name as the decoder composes it.
struct NamedHandler {
  const char *key;
  Handler run;
};
struct HandlerTable {
  const NamedHandler *entries;
  uint64_t count;
};

} // namespace nnterp::gpu::emulator
