// What tests may ask of the driver that they put in the place of NVIDIA's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnterp::test {

/// The state of the fake driver; the library exports one, as `fakeCuda`.
struct FakeCuda {
  std::vector<std::string> log; ///< calls that matter to order, one line each
  std::string failing;          ///< the symbol that fails,
  int result = 0;               ///< with this,
  int skip = 0;                 ///< after this many calls that succeed
  std::string jitLog;           ///< what the compiler of PTX says when the module is refused
  int devices = 2, major = 9, minor = 0, pools = 1, version = 13000;
  uint64_t room = ~uint64_t(0), pooled = 0; ///< bytes of memory; of those, held by the pool after they were freed
  uint64_t used = 0, pinned = 0;
  int streams = 0, events = 0, modules = 0, graphs = 0, contexts = 0; ///< that are alive
  int64_t waits = 0;                                                  ///< for events and streams
};

} // namespace nnterp::test
