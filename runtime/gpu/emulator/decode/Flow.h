// Control and data flow of a kernel's instructions: where lanes that parted meet again, and which reads may find no value.
#pragma once

#include "runtime/gpu/emulator/ptx/Module.h"

#include <cstdint>
#include <vector>

namespace nnterp::gpu::emulator {

/// Registers that an instruction reads and writes.
struct Effects {
  std::vector<int> reads, writes;
};
Effects effects(const Instruction &instruction);

/// The opcode up to its first modifier.
std::string_view stem(const Instruction &instruction);
bool endsThreads(const Instruction &instruction); ///< ret, exit, trap
/// A copy of a register: copying what nobody wrote is no use of it.
bool isPlainCopy(const Instruction &instruction);
/// mov d, {a, b}: a part may be one that nobody will look at.
bool isPack(const Instruction &instruction);

struct Flow {
  /// For each branch, the instruction where its sides meet again (its immediate post-dominator); -1 where they do not.
  std::vector<int> join;
  std::vector<bool> isJoin, isLeader;
  /// Reads of registers that some path leaves unwritten: for each instruction, those registers.
  std::vector<std::vector<int>> doubtful;
  std::vector<bool> tracked; ///< registers that have such reads
  /// Of each register the first and the last instruction between which its value may be needed; the first is -1 if there is none.
  struct Interval {
    int first = -1, last = -1;
  };
  std::vector<Interval> live;
};

/// `targets[i]`: where instruction i may jump (empty for others).
Flow analyse(const Kernel &kernel, const std::vector<std::vector<int>> &targets);

} // namespace nnterp::gpu::emulator
