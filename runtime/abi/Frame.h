// What a compiled program and the executor share: plain C layout, versioned. The lowering (passes/lower/cpu) writes loads of
// exactly these fields; change nothing here without changing nnterp_abi_version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnterp::abi {

/// Version of everything in this file; an artefact of another version is refused.
constexpr uint32_t version = 3;

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
  /// Programs for a GPU only, whose other memory services hand out the device's memory: starts a kernel of the manifest's list.
  /// `geometry`: grid x, y, z, block x, y, z, bytes of dynamic shared memory; with an extent of 0 nothing is started.
  /// `parameters[i]` points to the i-th parameter's value.
  void (*launch)(void *context, int64_t kernel, const int64_t *geometry, const void *const *parameters);
};

/// What an entry function gets.
struct Frame {
  const Slot *slots; ///< sizes are read by the program, data by its kernels: in programs for a GPU it is device memory
  /// Programs for a GPU: by the plan's entry, a FailReason that a kernel stores. Device memory, zero before the call.
  int64_t *failures;
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
              offsetof(Host, progress) == 32 && offsetof(Host, fail) == 40 && offsetof(Host, launch) == 48);

} // namespace nnterp::abi
