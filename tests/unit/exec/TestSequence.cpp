// A program with memory, in the shape of the compiler's (TestSequenceRead.h says what it computes). Slots 0 to 6 are
// those of a call on the prompt (ids, lengths, positions, past, total, next, pads), 7 to 12 those of a step, 13 is the
// cache.
#include "TestSequenceRead.h"
#include "runtime/abi/Frame.h"

extern "C" {
const nnterp::abi::Host *nnterp_host = nullptr;

static void read(const nnterp::abi::Slot *call, const nnterp::abi::Slot &cache) {
  auto integers = [&](int slot) { return static_cast<const int64_t *>(call[slot].data); };
  const int64_t B = call[0].sizes[0], W = call[0].sizes[1], V = call[5].sizes[1], capacity = cache.sizes[2];
  void *scratch = nnterp_host->allocate(nnterp_host->context, uint64_t(W * 64));
  if (!nnterp::test::readTokens(integers(0), integers(1), integers(2), integers(3), integers(4),
                                static_cast<float *>(call[5].data), static_cast<float *>(cache.data), B, W, V,
                                capacity))
    nnterp_host->fail(nnterp_host->context, 0, nnterp::abi::zeroDirection);
  nnterp_host->release(nnterp_host->context, scratch);
}

void nnterp_main(const nnterp::abi::Frame *frame) { read(frame->slots, frame->slots[13]); }
void nnterp_step(const nnterp::abi::Frame *frame) { read(frame->slots + 7, frame->slots[13]); }
}
