// Decodes branches, ends, barriers and fences.
#include "runtime/gpu/emulator/decode/Decoder.h"
#include "runtime/gpu/emulator/run/Control.h"

namespace nnterp::gpu::emulator {

bool Decoder::branch() {
  Modifiers mods(now->opcode);
  const bool indexed = mods.stem == "brx";
  if (indexed && !mods.take("idx"))
    return unknown();
  mods.ignore({"uni"}); // a promise that the lanes agree; nothing depends on it here
  if (!mods.rest().empty())
    return unknown();
  Patch patch{out.code.size(), targets[index].front(), flow.join[index], -1};
  if (indexed) {
    if (now->guard >= 0)
      return unknown();
    Inst *inst = emit(branchIndexed);
    inst->c = uint32_t(targets[index].size());
    inst->d = list(std::vector<Slot>(targets[index].size()));
    patch.list = inst->d;
    patch.target = int(index);
    Slot a;
    if (!source(now->operands[0], {Kind::unsignedInt, 4}, a))
      return false;
    out.code[patch.inst].a = a;
  } else {
    Inst *inst = emit(now->guard >= 0 ? branchIf : jump);
    if (now->guard >= 0) {
      inst->a = slots[size_t(now->guard)];
      inst->c = now->guardNegated;
    }
  }
  patches.push_back(patch);
  return true;
}

bool Decoder::ends() {
  Modifiers mods(now->opcode);
  mods.ignore({"uni"});
  if (!mods.rest().empty())
    return unknown();
  if (!operandCount(0, 0))
    return false;
  if (mods.stem == "trap") {
    emit(trap);
    return true;
  }
  Inst *inst = emit(exitLanes);
  if (now->guard >= 0) {
    inst->a = slots[size_t(now->guard)];
    inst->c = now->guardNegated;
    inst->x = 1;
  }
  return true;
}

/// bar.sync, barrier.sync and the arriving kind; bar.warp.sync.
bool Decoder::barrier() {
  Modifiers mods(now->opcode);
  const Type word{Kind::unsignedInt, 4};
  Inst inst;
  const bool warp = mods.take("warp");
  mods.ignore({"cta", "aligned"}); // warps run in lock-step: all threads of one arrive together or not at all
  const std::string_view how = mods.takeOneOf({"sync", "arrive", "red"});
  if (warp) {
    if (how != "sync" || !mods.rest().empty())
      return unknown();
    if (!operandCount(1) || !source(now->operands[0], word, inst.a))
      return false;
    inst.run = warpSync;
    *emit(inst.run) = inst;
    return true;
  }
  if (how == "red") { // d, a(, b), p
    const std::string_view what = mods.takeOneOf({"popc", "and", "or"});
    Type type;
    if (what.empty() || !mods.takeType(type) || !mods.rest().empty() || (what == "popc") != (type.bytes == 4))
      return unknown();
    if (!operandCount(3, 4))
      return false;
    const std::vector<Operand> &operands = now->operands;
    bool negated = false;
    Slot p;
    if (!destination(operands[0], type, inst.d) || !source(operands[1], word, inst.a) ||
        (operands.size() == 4 && !source(operands[2], word, inst.b)) || !predicateSource(operands.back(), p, negated) ||
        !handlerOf("bar.red." + std::string(what), inst.run))
      return false;
    inst.x = operands.size() == 4;
    inst.c = negated;
    inst.imm = p;
    *emit(inst.run) = inst;
    Handler collect;
    if (!handlerOf("bar.red.result." + std::string(what), collect))
      return false;
    *emit(collect) = inst;
    out.code.back().run = collect;
    return true;
  }
  if (how.empty() || !mods.rest().empty())
    return unknown();
  const bool arrive = how == "arrive";
  if (!operandCount(arrive ? 2 : 1, 2) || !source(now->operands[0], word, inst.a) ||
      (now->operands.size() == 2 && !source(now->operands[1], word, inst.b)))
    return false;
  inst.x = now->operands.size() == 2;
  inst.c = arrive;
  inst.run = barrierSync;
  *emit(inst.run) = inst;
  return true;
}

/// Writes are seen at once and in order, so that fences and prefetches have nothing to do.
bool Decoder::ordering() {
  Modifiers mods(now->opcode);
  mods.ignore({"cta", "gpu", "gl", "sys", "cluster", "sc", "acq_rel", "acquire", "release", "global", "local", "L1",
               "L2", "u32", "L2::evict_last", "L2::evict_normal"});
  if (!mods.rest().empty())
    return unknown();
  emit(nothing);
  return true;
}

} // namespace nnterp::gpu::emulator
