// Turns a parsed kernel into handlers with operands: decoded once, when the module is loaded. Anything not known is an error here.
#pragma once

#include "runtime/gpu/emulator/decode/Code.h"
#include "runtime/gpu/emulator/decode/Flow.h"

#include <initializer_list>
#include <unordered_map>

namespace nnterp::gpu::emulator {

/// Instruction sets of the CPU that handlers were compiled for and that it has, the best first: "avx512", "avx2", "generic".
const std::vector<std::string_view> &handlerTiers();
/// All handlers by key. Of a tier that is not there, those of the best one.
using Handlers = std::unordered_map<std::string_view, Handler>;
const Handlers &handlers(std::string_view tier);

/// The modifiers of an opcode, taken one by one; what is left over is unknown.
class Modifiers {
public:
  explicit Modifiers(std::string_view opcode);
  bool take(std::string_view modifier);
  /// The first of these that is there, without its dot; empty if none is.
  std::string_view takeOneOf(std::initializer_list<std::string_view> modifiers);
  bool takeType(Type &type);
  void ignore(std::initializer_list<std::string_view> modifiers);
  std::string_view rest() const;

  std::string_view stem;

private:
  std::vector<std::string_view> parts;
};

class Decoder {
public:
  Decoder(const Module &module, const Kernel &kernel, const Placement &placement, const Handlers &known, KernelCode &out,
          Diagnostics &diags)
      : module(module), kernel(kernel), placement(placement), known(known), out(out), diags(diags) {}
  /// Errors: NNT1702, NNT1703, NNT1704.
  bool run();

private:
  // Decoder.cpp
  bool layOutMemory();
  void layOutRegisters();
  void shareSlots();
  bool findTargets();
  bool decodeInstruction();
  bool decodePlain();
  void emitInitChecks();
  void emitInitMarks();
  void patchBranches();

  bool fail(std::string code, std::string message);
  bool unknown();
  bool operandCount(size_t least, size_t most = 0);

  /// The next instruction with the handler of this key; reports an unknown one.
  Inst *emit(const std::string &key);
  Inst *emit(Handler handler);
  bool handlerOf(const std::string &key, Handler &handler);

  // Operands.cpp. Slots of operands; -1 after an error.
  bool source(const Operand &operand, Type type, Slot &slot);
  bool destination(const Operand &operand, Type type, Slot &slot);
  bool predicateSource(const Operand &operand, Slot &slot, bool &negated);
  bool registerWidth(const Operand &operand, Type type, uint32_t &bytes);
  bool memory(const Operand &operand, Space space, Inst &inst, bool &symbolic);
  bool symbolAddress(const Operand &operand, uint64_t &address, Space &space);
  bool special(const Operand &operand, Type type, Slot &slot);
  bool immediate(const Operand &operand, int64_t &value);
  Slot constant(uint64_t bits, uint32_t bytes);
  Slot preset(Preset preset);
  Slot scratch(uint32_t bytes);
  Slot list(const std::vector<Slot> &slots);
  uint32_t takeSites();
  int paramIndex(std::string_view name) const;

  // Arithmetic.cpp
  bool arithmetic();
  bool bitwise();
  bool compare();
  bool selection();
  bool move();
  bool addressConversion();
  bool roundings(std::string_view rounding);

  // Conversions.cpp
  bool convert();
  bool convertIntegers(Type to, Type from, bool saturate);

  // MemoryAccess.cpp
  bool loadOrStore();
  bool loadParameter(Modifiers &mods, Type type, int count);
  bool atomic();
  bool asyncCopy();
  Space takeSpace(Modifiers &mods);

  // Control.cpp
  bool branch();
  bool barrier();
  bool ends();
  bool ordering();

  // WarpWide.cpp
  bool shuffle();
  bool vote();
  bool reduceWarp();
  bool loadMatrix();
  bool multiplyMatrices();

  const Module &module;
  const Kernel &kernel;
  const Placement &placement;
  const Handlers &known;
  KernelCode &out;
  Diagnostics &diags;

  const Instruction *now = nullptr;
  size_t index = 0;
  std::vector<std::vector<int>> targets;
  Flow flow;
  std::vector<Slot> slots;       ///< of registers
  std::vector<Slot> writtenMask; ///< of tracked registers
  std::vector<size_t> begins;    ///< where each PTX instruction's code begins (its join, if it is one)
  struct Patch {
    size_t inst; ///< its imm becomes the distance to `target`; `join` (-1: none) goes to x
    int target, join;
    int64_t list = -1; ///< of several targets: place among `out.lists` to fill
  };
  std::vector<Patch> patches;
  std::map<std::pair<uint64_t, uint32_t>, Slot> constantSlots;
  struct Constant {
    uint64_t bits;
    uint32_t bytes, at;
  };
  std::vector<Constant> constants;
  uint32_t constantBytes = 0;
  std::map<std::pair<int, std::string>, Slot> presets;
  std::map<std::string_view, std::pair<Space, uint64_t>> own; ///< the kernel's variables
  std::map<uint32_t, Slot> scratches;
};

} // namespace nnterp::gpu::emulator
