// The tables of handlers that exist once per instruction set of the CPU.
#pragma once

#include "runtime/gpu/emulator/run/Machine.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {
HandlerTable moveTable();
HandlerTable integerTable();
HandlerTable bitsTable();
HandlerTable divisionTable();
HandlerTable floatTable();
HandlerTable halfTable();
HandlerTable compareTable();
HandlerTable convertTable();
HandlerTable memoryTable();
HandlerTable warpTable();
HandlerTable matrixTable();
} // namespace nnterp::gpu::emulator::NNTERP_TIER
