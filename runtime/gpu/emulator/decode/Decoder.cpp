// The frame of decoding: memory and registers laid out, instructions one by one, branches patched.
#include "runtime/gpu/emulator/decode/Decoder.h"

#include "runtime/gpu/emulator/run/Control.h"

#include <algorithm>
#include <cstring>
#include <queue>

namespace nnterp::gpu::emulator {

bool Decoder::fail(std::string code, std::string message) {
  Diagnostic &error = diags.error(std::move(code), place(now ? now->line : kernel.line), std::move(message));
  error.notes.push_back({{}, "kernel " + std::string(kernel.name) + ": " + std::string(module.line(error.loc.line))});
  return false;
}

bool Decoder::unknown() {
  return fail("NNT1702", "the emulator does not know the instruction " + std::string(now->opcode));
}

bool Decoder::operandCount(size_t least, size_t most) {
  const size_t found = now->operands.size();
  most = std::max(least, most);
  if (found >= least && found <= most)
    return true;
  return fail("NNT1703", std::string(now->opcode) + " takes " + std::to_string(least) +
                             (most > least ? " to " + std::to_string(most) : "") + " operands, found " +
                             std::to_string(found));
}

bool Decoder::handlerOf(const std::string &key, Handler &handler) {
  const auto found = known.find(key);
  if (found == known.end())
    return unknown();
  handler = found->second;
  return true;
}

Inst *Decoder::emit(Handler handler) {
  Inst inst;
  inst.run = handler;
  out.code.push_back(inst);
  out.lines.push_back(now ? now->line : kernel.line);
  return &out.code.back();
}

Inst *Decoder::emit(const std::string &key) {
  Handler handler;
  return handlerOf(key, handler) ? emit(handler) : nullptr;
}

/// Variables of shared and local memory with gaps between them, so that an access behind one does not find the next.
bool Decoder::layOutMemory() {
  constexpr uint64_t gap = 64;
  uint64_t shared = sharedBegin, local = gap;
  const auto place = [&](const Variable &variable) {
    if (variable.space != Space::shared && variable.space != Space::local)
      return;
    uint64_t &end = variable.space == Space::shared ? shared : local;
    end = (end + variable.align - 1) / variable.align * variable.align;
    if (variable.dynamic) {
      out.dynamicShared = true;
      return;
    }
    own[variable.name] = {variable.space, end};
    (variable.space == Space::shared ? out.shared : out.local)
        .push_back({std::string(variable.name), end, variable.bytes});
    end += variable.bytes + gap;
  };
  // Of the module's variables in shared memory a kernel has those that it names.
  for (const Instruction &instruction : kernel.code)
    for (const Operand &operand : instruction.operands) {
      const std::string_view name = operand.form == Operand::memory ? operand.parts[0].text : operand.text;
      for (const Variable &variable : module.variables)
        if (!name.empty() && variable.name == name && !own.count(name))
          place(variable);
    }
  for (const Variable &variable : kernel.variables)
    place(variable);
  out.sharedBytes = (shared + 255) / 256 * 256;
  out.localBytes = uint32_t((local + 255) / 256 * 256);
  for (const auto *variables : {&module.variables, &kernel.variables})
    for (const Variable &variable : *variables)
      if (variable.dynamic && variable.space == Space::shared)
        own[variable.name] = {Space::shared, out.sharedBytes};
  uint32_t offset = 0;
  for (const Variable &param : kernel.params) {
    offset = (offset + param.align - 1) / param.align * param.align;
    out.paramOffsets.push_back(offset);
    offset += uint32_t(param.bytes);
  }
  out.paramBytes = offset;
  return true;
}

void Decoder::layOutRegisters() {
  slots.assign(kernel.registers.size(), 0);
  writtenMask.assign(kernel.registers.size(), 0);
  uint32_t end = 0;
  for (size_t r = 0; r < slots.size(); ++r) {
    if (!kernel.registers[r].type.bytes)
      slots[r] = end | registerBase, end += 4;
    if (flow.tracked[r])
      writtenMask[r] = end | registerBase, out.cleared.push_back({end, uint32_t(r)}), end += 4;
  }
  out.registerBytes = (end + 63) / 64 * 64;
  shareSlots();
}

/// Registers of the same width whose values are not needed at the same time share a slot, so that a warp's registers
/// stay in the CPU's nearest cache. Lanes that parted do not disturb each other: each writes its own part of a slot.
void Decoder::shareSlots() {
  std::vector<int> order;
  for (size_t r = 0; r < slots.size(); ++r)
    if (kernel.registers[r].type.bytes && flow.live[r].first >= 0)
      order.push_back(int(r));
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return flow.live[size_t(a)].first < flow.live[size_t(b)].first; });
  struct Used {
    int last;
    Slot slot;
    bool operator<(const Used &other) const { return last > other.last; } // the one that ends first is on top
  };
  for (uint32_t bytes : {2, 4, 8}) {
    std::priority_queue<Used> used;
    for (int r : order) {
      if (kernel.registers[size_t(r)].type.bytes != bytes)
        continue;
      const Flow::Interval live = flow.live[size_t(r)];
      if (!used.empty() && used.top().last < live.first) {
        slots[size_t(r)] = used.top().slot;
        used.pop();
      } else {
        slots[size_t(r)] = out.registerBytes | registerBase;
        out.registerBytes += bytes * lanes;
      }
      used.push({live.last, slots[size_t(r)]});
    }
  }
}

bool Decoder::findTargets() {
  targets.assign(kernel.code.size(), {});
  for (size_t i = 0; i < kernel.code.size(); ++i) {
    now = &kernel.code[i];
    const auto add = [&](std::string_view label) {
      const auto found = kernel.labels.find(label);
      if (found == kernel.labels.end())
        return fail("NNT1704", "no such label: " + std::string(label));
      targets[i].push_back(int(found->second));
      return true;
    };
    if (stem(*now) == "bra") {
      if (!operandCount(1) || !add(now->operands[0].text))
        return false;
    } else if (stem(*now) == "brx") {
      if (!operandCount(2))
        return false;
      const auto table = kernel.branchTables.find(now->operands[1].text);
      if (table == kernel.branchTables.end())
        return fail("NNT1704", "no such list of labels: " + std::string(now->operands[1].text));
      for (std::string_view label : table->second)
        if (!add(label))
          return false;
    }
  }
  now = nullptr;
  return true;
}

bool Decoder::run() {
  out.source = &kernel;
  if (!layOutMemory() || !findTargets())
    return false;
  flow = analyse(kernel, targets);
  layOutRegisters();
  for (index = 0; index < kernel.code.size(); ++index) {
    now = &kernel.code[index];
    begins.push_back(out.code.size());
    if (!decodeInstruction())
      return false;
  }
  now = kernel.code.empty() ? nullptr : &kernel.code.back();
  begins.push_back(out.code.size());
  emit(exitLanes);
  patchBranches();
  out.constants.reserve(constantBytes);
  for (const Constant &constant : constants) {
    char *to = out.constants.data() + constant.at;
    for (int l = 0; l < (constant.bytes ? lanes : 1); ++l)
      std::memcpy(to + l * constant.bytes, &constant.bits, constant.bytes ? constant.bytes : 4);
  }
  return true;
}

bool Decoder::decodeInstruction() {
  if (flow.isJoin[index])
    emit(joinPaths);
  const std::string_view name = stem(*now);
  // Branches and ends look at their guard themselves.
  const bool guarded = now->guard >= 0 && targets[index].empty() && name != "ret" && name != "exit";
  if (now->guard >= 0 && kernel.registers[now->guard].type.bytes != 0)
    return fail("NNT1703", kernel.registers[now->guard].name + " is no predicate");
  emitInitChecks();
  const size_t first = out.code.size();
  if (guarded) {
    Inst *inst = emit(guard);
    inst->a = slots[now->guard];
    inst->c = now->guardNegated;
  }
  if (!decodePlain())
    return false;
  emitInitMarks();
  if (guarded)
    out.code[first].imm = int64_t(out.code.size() - first - 1);
  return true;
}

/// A plain copy hands on whether there is a value; every other read of an unwritten register is an error. Lanes that do
/// not pass the guard read nothing, and a selection reads one of its sources.
void Decoder::emitInitChecks() {
  const auto onlyIf = [&](int predicate, bool negated, int64_t count) {
    Inst *inst = emit(guard);
    inst->a = slots[size_t(predicate)];
    inst->c = negated;
    inst->imm = count;
  };
  for (int reg : flow.doubtful[index]) {
    if (isPlainCopy(*now) && reg != now->guard)
      continue;
    const bool guarded = now->guard >= 0 && reg != now->guard;
    const auto &operands = now->operands;
    bool selects =
        stem(*now) == "selp" && operands.size() == 4 && operands[3].form == Operand::reg && operands[3].id != reg;
    const bool first = selects && operands[1].id == reg, second = selects && operands[2].id == reg;
    selects = first != second;
    if (guarded)
      onlyIf(now->guard, now->guardNegated, selects ? 2 : 1);
    if (selects)
      onlyIf(operands[3].id, operands[3].negated != second, 1);
    Inst *inst = emit(checkWritten);
    inst->d = writtenMask[reg];
    inst->x = uint32_t(reg);
  }
}

void Decoder::emitInitMarks() {
  const Effects effect = effects(*now);
  for (int reg : effect.writes) {
    if (!flow.tracked[reg])
      continue;
    const bool copied = isPlainCopy(*now) && flow.tracked[effect.reads[0]];
    Inst *inst = emit(copied ? copyWritten : markWritten);
    inst->d = writtenMask[reg];
    inst->a = copied ? writtenMask[effect.reads[0]] : 0;
  }
}

void Decoder::patchBranches() {
  const auto distance = [&](const Patch &patch, int target) { return int64_t(begins[target]) - int64_t(patch.inst); };
  for (const Patch &patch : patches) {
    Inst &inst = out.code[patch.inst];
    inst.x = patch.join < 0 ? noJoin : uint32_t(int32_t(distance(patch, patch.join)));
    if (patch.list < 0) {
      inst.imm = distance(patch, patch.target);
      continue;
    }
    for (size_t k = 0; k < targets[size_t(patch.target)].size(); ++k)
      out.lists[size_t(patch.list) + k] = Slot(int32_t(distance(patch, targets[size_t(patch.target)][k])));
  }
}

bool Decoder::decodePlain() {
  using Method = bool (Decoder::*)();
  static const std::map<std::string_view, Method> methods = {
      {"mov", &Decoder::move},
      {"cvta", &Decoder::addressConversion},
      {"cvt", &Decoder::convert},
      {"setp", &Decoder::compare},
      {"set", &Decoder::compare},
      {"testp", &Decoder::compare},
      {"selp", &Decoder::selection},
      {"slct", &Decoder::selection},
      {"ld", &Decoder::loadOrStore},
      {"st", &Decoder::loadOrStore},
      {"ldu", &Decoder::loadOrStore},
      {"bra", &Decoder::branch},
      {"brx", &Decoder::branch},
      {"ret", &Decoder::ends},
      {"exit", &Decoder::ends},
      {"trap", &Decoder::ends},
      {"bar", &Decoder::barrier},
      {"barrier", &Decoder::barrier},
      {"membar", &Decoder::ordering},
      {"fence", &Decoder::ordering},
      {"prefetch", &Decoder::ordering},
      {"prefetchu", &Decoder::ordering},
      {"nanosleep", &Decoder::ordering},
      {"and", &Decoder::bitwise},
      {"or", &Decoder::bitwise},
      {"xor", &Decoder::bitwise},
      {"not", &Decoder::bitwise},
      {"cnot", &Decoder::bitwise},
      {"shl", &Decoder::bitwise},
      {"shr", &Decoder::bitwise},
      {"shf", &Decoder::bitwise},
      {"bfe", &Decoder::bitwise},
      {"bfi", &Decoder::bitwise},
      {"bfind", &Decoder::bitwise},
      {"brev", &Decoder::bitwise},
      {"clz", &Decoder::bitwise},
      {"popc", &Decoder::bitwise},
      {"prmt", &Decoder::bitwise},
      {"lop3", &Decoder::bitwise},
      {"shfl", &Decoder::shuffle},
      {"vote", &Decoder::vote},
      {"activemask", &Decoder::vote},
      {"match", &Decoder::vote},
      {"redux", &Decoder::reduceWarp},
      {"atom", &Decoder::atomic},
      {"red", &Decoder::atomic},
      {"cp", &Decoder::asyncCopy},
      {"ldmatrix", &Decoder::loadMatrix},
      {"mma", &Decoder::multiplyMatrices},
      {"isspacep", &Decoder::addressConversion},
  };
  const auto found = methods.find(stem(*now));
  return found == methods.end() ? arithmetic() : (this->*found->second)();
}

} // namespace nnterp::gpu::emulator
