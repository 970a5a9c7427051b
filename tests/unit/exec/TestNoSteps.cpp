// A program that cannot be called on generated tokens.
#include "runtime/abi/Frame.h"

extern "C" {
const nnterp::abi::Host *nnterp_host = nullptr;
void nnterp_main(const nnterp::abi::Frame *) {}
}
