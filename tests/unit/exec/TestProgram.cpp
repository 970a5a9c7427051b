// A program in the shape of what the compiler makes: doubles the ids of slot 0 into slot 1, and shows every service of
// the host. The first id chooses what else happens.
#include "runtime/abi/Frame.h"

#include <cstring>
#include <initializer_list>

extern "C" {
const nnterp::abi::Host *nnterp_host = nullptr;

void nnterp_main(const nnterp::abi::Frame *frame) {
  const nnterp::abi::Host &host = *nnterp_host;
  const nnterp::abi::Slot &ids = frame->slots[0], &out = frame->slots[1];
  const auto count = uint64_t(ids.sizes[0] * ids.sizes[1]), bytes = 8 * count;
  const auto *from = static_cast<const int64_t *>(ids.data);
  auto *buffer = static_cast<int64_t *>(host.allocate(host.context, bytes));
  host.progress(host.context, 1, 2);
  for (uint64_t i = 0; i < count; ++i)
    buffer[i] = 2 * from[i];
  std::memcpy(out.data, buffer, bytes);
  host.release(host.context, buffer);
  if (from[0] == 7)
    for (int64_t entry : {3, 3, 1})
      host.fail(host.context, entry, nnterp::abi::zeroDirection);
  if (from[0] == 9)
    host.allocate(host.context, ~uint64_t(0));
  host.progress(host.context, 2, 2);
}

/// Adds the ids to the slot that `nnterp_main` wrote.
void nnterp_step(const nnterp::abi::Frame *frame) {
  const nnterp::abi::Slot &ids = frame->slots[0], &out = frame->slots[1];
  for (int64_t i = 0; i < ids.sizes[0] * ids.sizes[1]; ++i)
    static_cast<int64_t *>(out.data)[i] += static_cast<const int64_t *>(ids.data)[i];
}
}
