// The instruction tier of this machine, without LLVM: a cached program is found by it.
#pragma once

#include <string>
#include <string_view>

namespace nnterp {

/// The best tier this machine can run: "avx512_bf16", "avx512", "avx2" or "generic" (runtime/codegen/Tiers.h).
std::string hostTier();
/// Whether this machine can run programs of a tier.
bool runsTier(std::string_view tier);

} // namespace nnterp
