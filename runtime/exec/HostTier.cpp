// Asks the processor which instruction tiers it can run.
#include "runtime/exec/HostTier.h"

namespace nnterp {

#if defined(__x86_64__)
// What x86-64-v3 and x86-64-v4 promise, as far as the compiler can ask; the builtin counts the system's support for the
// wide registers in.
static bool hasAvx2Level() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
         __builtin_cpu_supports("movbe");
}
static bool hasAvx512Level() {
  return hasAvx2Level() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
std::string hostTier() {
  if (!hasAvx2Level())
    return "generic";
  if (!hasAvx512Level())
    return "avx2";
  return __builtin_cpu_supports("avx512bf16") ? "avx512_bf16" : "avx512";
}
#else
std::string hostTier() { return "generic"; }
#endif

bool runsTier(std::string_view tier) {
  static constexpr std::string_view ascending[] = {"generic", "avx2", "avx512", "avx512_bf16"};
  const std::string host = hostTier();
  for (std::string_view able : ascending) {
    if (able == tier)
      return true;
    if (able == host)
      break;
  }
  return false;
}

} // namespace nnterp
