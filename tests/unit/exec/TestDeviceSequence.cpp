// The program of TestSequence.cpp for a GPU: its host code looks at sizes alone, and everything else is a kernel,
// "read", which the tests' device has (TestDevice.h). Prompts with a row of 13 tokens launch what the program does not
// have.
#include "runtime/abi/Frame.h"

extern "C" {
const nnterp::abi::Host *nnterp_host = nullptr;
extern const char nnterp_device_code[];
const char nnterp_device_code[] =
    ".entry read(.param .u64 ids, .param .u64 lengths, .param .u64 positions, .param .u64 past, .param .u64 total, "
    ".param .u64 next, .param .u64 cells, .param .u64 scratch, .param .u64 failures, .param .u64 B, "
    ".param .u64 W, .param .u64 V, .param .u64 capacity) { }";

static void read(const nnterp::abi::Frame *frame, int first) {
  const nnterp::abi::Host &host = *nnterp_host;
  const nnterp::abi::Slot *call = frame->slots + first, &cache = frame->slots[13];
  const int64_t B = call[0].sizes[0], W = call[0].sizes[1], V = call[5].sizes[1], capacity = cache.sizes[2];
  void *scratch = host.allocate(host.context, uint64_t(W * 64));
  const void *const parameters[] = {&call[0].data,
                                    &call[1].data,
                                    &call[2].data,
                                    &call[3].data,
                                    &call[4].data,
                                    &call[5].data,
                                    &cache.data,
                                    &scratch,
                                    &frame->failures,
                                    &B,
                                    &W,
                                    &V,
                                    &capacity};
  const int64_t geometry[] = {B, 1, 1, 32, 1, 1, 0}, nothing[] = {B, 0, 1, 32, 1, 1, 0};
  host.launch(host.context, 0, geometry, parameters);
  host.launch(host.context, 0, nothing, parameters);
  if (W == 13)
    host.launch(host.context, 1, geometry, parameters);
  host.release(host.context, scratch);
}

void nnterp_main(const nnterp::abi::Frame *frame) { read(frame, 0); }
void nnterp_step(const nnterp::abi::Frame *frame) { read(frame, 7); }
}
