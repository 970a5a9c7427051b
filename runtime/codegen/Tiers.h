// Instruction tiers that code is generated for. A tier's name is part of a program's cache key and manifest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// What LLVM is told about the processor.
struct Tier {
  std::string name;
  std::string cpu;      ///< as in -mcpu
  std::string features; ///< as in -mattr
};

/// All tiers, from the one every machine runs to the widest.
const std::vector<Tier> &tiers();

/// The tier of that name, or null. The host's is `tierByName(hostTier())` (runtime/exec/HostTier.h).
const Tier *tierByName(std::string_view name);

} // namespace nnterp
