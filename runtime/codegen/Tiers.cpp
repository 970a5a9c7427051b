// The table of instruction tiers.
#include "runtime/codegen/Tiers.h"

namespace nnterp {

const std::vector<Tier> &tiers() {
#if defined(__x86_64__)
  static const std::vector<Tier> all = {{"generic", "x86-64", ""},
                                        {"avx2", "x86-64-v3", ""},
                                        {"avx512", "x86-64-v4", ""},
                                        {"avx512_bf16", "x86-64-v4", "+avx512bf16"}};
#else
  static const std::vector<Tier> all = {{"generic", "generic", ""}};
#endif
  return all;
}

const Tier *tierByName(std::string_view name) {
  for (const Tier &tier : tiers())
    if (tier.name == name)
      return &tier;
  return nullptr;
}

} // namespace nnterp
