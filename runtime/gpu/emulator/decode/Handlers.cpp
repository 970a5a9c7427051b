// Gathers the handlers of the best instruction set that this CPU has.
#include "runtime/gpu/emulator/decode/Decoder.h"
#include "runtime/gpu/emulator/run/Control.h"

#define NNTERP_TABLES(tier)                                                                                            \
  namespace nnterp::gpu::emulator::tier {                                                                              \
  HandlerTable moveTable();                                                                                            \
  HandlerTable integerTable();                                                                                         \
  HandlerTable bitsTable();                                                                                            \
  HandlerTable divisionTable();                                                                                        \
  HandlerTable floatTable();                                                                                           \
  HandlerTable halfTable();                                                                                            \
  HandlerTable compareTable();                                                                                         \
  HandlerTable convertTable();                                                                                         \
  HandlerTable memoryTable();                                                                                          \
  HandlerTable warpTable();                                                                                            \
  HandlerTable matrixTable();                                                                                          \
  static std::vector<HandlerTable> tables() {                                                                          \
    return {moveTable(),    integerTable(), bitsTable(),   divisionTable(), floatTable(), halfTable(),                 \
            compareTable(), convertTable(), memoryTable(), warpTable(),     matrixTable()};                            \
  }                                                                                                                    \
  }

NNTERP_TABLES(tier_generic)
#if defined(__x86_64__)
NNTERP_TABLES(tier_avx2)
NNTERP_TABLES(tier_avx512)
#endif

namespace nnterp::gpu::emulator {

const std::vector<std::string_view> &handlerTiers() {
  static const std::vector<std::string_view> tiers = [] {
    std::vector<std::string_view> found = {"generic"};
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt"))
      found.insert(found.begin(), "avx2");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      found.insert(found.begin(), "avx512");
#endif
    return found;
  }();
  return tiers;
}

static Handlers gather(std::string_view tier) {
  std::vector<HandlerTable> tables = tier_generic::tables();
#if defined(__x86_64__)
  if (tier == "avx512")
    tables = tier_avx512::tables();
  else if (tier == "avx2")
    tables = tier_avx2::tables();
#endif
  for (const HandlerTable &table : {controlTable(), atomicTable(), asyncTable()})
    tables.push_back(table);
  Handlers all;
  for (const HandlerTable &table : tables)
    for (uint64_t k = 0; k < table.count; ++k)
      all.emplace(table.entries[k].key, table.entries[k].run);
  return all;
}

const Handlers &handlers(std::string_view tier) {
  static const std::map<std::string_view, Handlers> all = [] {
    std::map<std::string_view, Handlers> byTier;
    for (std::string_view tier : handlerTiers())
      byTier[tier] = gather(tier);
    return byTier;
  }();
  const auto found = all.find(tier);
  return found != all.end() ? found->second : all.at(handlerTiers().front());
}

} // namespace nnterp::gpu::emulator
