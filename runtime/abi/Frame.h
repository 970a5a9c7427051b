// What a compiled program and the executor share: plain C layout, versioned. The lowering (passes/lower/cpu) writes loads of
// exactly these fields; change nothing here without changing nnterp_abi_version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnterp::abi {

/// Version of everything in this file; an artefact of another version is refused.
constexpr uint32_t version = 2;

/// Largest rank of a slot (States has five axes).
constexpr int maxRank = 6;

/// One entry of the descriptor table: dense row-major memory.
struct Slot {
  void *data;
  int64_t sizes[maxRank];
};

/// Services of the executor. The program holds a pointer to this (symbol `nnterp_host`), set before the first call: an
/// explicit table, never a symbol found by luck.
struct Host {
  uint32_t version;
  void *context;
  void *(*allocate)(void *context, uint64_t bytes);           ///< 64-byte aligned; never null
  void (*release)(void *context, void *memory);
  void (*progress)(void *context, int64_t done, int64_t total);
  void (*fail)(void *context, int64_t entry, int64_t reason); ///< a run-time error of the plan's entry; the program goes on
};

/// What an entry function gets.
struct Frame {
  const Slot *slots;
};

/// Reasons for Host::fail.
enum FailReason : int64_t { zeroDirection = 1 };

/// `void nnterp_main(const Frame *)`, a call on the prompt, and `void nnterp_step(const Frame *)`, a call on one generated token
/// of each row, and `void nnterp_images(const Frame *)`, the image encoder, run once before the prompt, in programs that have them.
using Entry = void (*)(const Frame *);

// Byte offsets that generated code uses.
constexpr int64_t slotBytes = sizeof(Slot);
static_assert(offsetof(Slot, sizes) == 8 && sizeof(Slot) == 8 + 8 * maxRank);
static_assert(offsetof(Host, context) == 8 && offsetof(Host, allocate) == 16 && offsetof(Host, release) == 24 &&
              offsetof(Host, progress) == 32 && offsetof(Host, fail) == 40);

} // namespace nnterp::abi
