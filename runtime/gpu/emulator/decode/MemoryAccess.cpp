// Decodes loads, stores, atomics and asynchronous copies.
#include "runtime/gpu/emulator/decode/Decoder.h"

namespace nnterp::gpu::emulator {

static std::string_view word(Space space) {
  switch (space) {
  case Space::shared:
    return "shared";
  case Space::local:
    return "local";
  case Space::generic:
    return "generic";
  default:
    return "global"; // constant memory too: what is written to it is caught by the bounds
  }
}

Space Decoder::takeSpace(Modifiers &mods) {
  const std::string_view found =
      mods.takeOneOf({"global", "shared", "shared::cta", "local", "const", "param", "param::entry"});
  return found == "global"                             ? Space::global
         : found == "shared" || found == "shared::cta" ? Space::shared
         : found == "local"                            ? Space::local
         : found == "const"                            ? Space::constant
         : found == "param" || found == "param::entry" ? Space::param
                                                       : Space::generic;
}

bool Decoder::loadOrStore() {
  Modifiers mods(now->opcode);
  const bool load = mods.stem != "st";
  Type type;
  const Space space = takeSpace(mods);
  if (!mods.takeType(type) || !type.bytes || (!load && (space == Space::constant || space == Space::param)))
    return unknown();
  // Warps run in order and every write is seen at once, so that what is said of order, scope and caches changes
  // nothing.
  mods.ignore({"weak",
               "relaxed",
               "acquire",
               "release",
               "volatile",
               "mmio",
               "cta",
               "gpu",
               "sys",
               "cluster",
               "nc",
               "ca",
               "cg",
               "cs",
               "lu",
               "cv",
               "wb",
               "wt",
               "L1::evict_normal",
               "L1::evict_unchanged",
               "L1::evict_first",
               "L1::evict_last",
               "L1::no_allocate",
               "L2::64B",
               "L2::128B",
               "L2::256B"});
  const std::string_view vector = mods.takeOneOf({"v2", "v4"});
  const uint32_t count = vector.empty() ? 1 : uint32_t(vector[1] - '0');
  if (!mods.rest().empty() || count * type.bytes > 16)
    return unknown();
  if (!operandCount(2))
    return false;
  if (space == Space::param)
    return loadParameter(mods, type, int(count));
  const Operand &data = now->operands[load ? 0 : 1], &address = now->operands[load ? 1 : 0];
  std::vector<Operand> parts = count > 1 ? data.parts : std::vector<Operand>{data};
  if (count > 1 && (data.form != Operand::vector || parts.size() != count))
    return fail("NNT1703", std::string(now->opcode) + " takes " + std::to_string(count) + " registers in braces");

  uint32_t bytes = 0;
  for (const Operand &part : parts) {
    uint32_t own = 0;
    if (!registerWidth(part, type, own))
      return false;
    if (part.form == Operand::reg && bytes && bytes != own && parts.front().form == Operand::reg)
      return fail("NNT1703", "the registers of " + std::string(now->opcode) + " differ in width");
    bytes = std::max(bytes, own);
  }
  const Type held{Kind::bits, uint8_t(bytes)};
  std::vector<Slot> partSlots(count);
  for (uint32_t k = 0; k < count; ++k)
    if (!(load ? destination(parts[k], held, partSlots[k]) : source(parts[k], held, partSlots[k])))
      return false;
  const bool extendSign = load && type.kind == Kind::signedInt && type.bytes < bytes;
  Inst inst;
  bool symbolic = false;
  if (!memory(address, space, inst, symbolic) ||
      !handlerOf(std::string(load ? "ld." : "st.") + std::string(word(space)) + (extendSign ? ".s" : ".b") +
                     std::to_string(8 * type.bytes) + "." + name(held),
                 inst.run))
    return false;
  inst.c = count;
  inst.d = count == 1 ? partSlots[0] : list(partSlots);
  inst.site = takeSites();
  *emit(inst.run) = inst;
  return true;
}

/// Parameters are known when a launch begins.
bool Decoder::loadParameter(Modifiers &, Type type, int count) {
  const Operand &data = now->operands[0], &address = now->operands[1];
  if (address.form != Operand::memory || address.parts[0].form != Operand::symbol)
    return fail("NNT1703", "a parameter is loaded by its name");
  uint64_t offset = 0;
  Space space;
  if (!symbolAddress(address.parts[0], offset, space))
    return false;
  offset += uint64_t(address.value);
  if (space != Space::param)
    return fail("NNT1703", std::string(address.parts[0].text) + " is no parameter");
  if (offset % type.bytes || offset + uint64_t(count) * type.bytes > out.paramBytes)
    return fail("NNT1703", "the load lies outside the parameters or is misaligned");
  const std::vector<Operand> parts = count > 1 ? data.parts : std::vector<Operand>{data};
  if (int(parts.size()) != count)
    return fail("NNT1703", std::string(now->opcode) + " takes " + std::to_string(count) + " registers in braces");
  for (int k = 0; k < count; ++k) {
    Preset wanted;
    uint32_t bytes = 0;
    Inst inst;
    if (!registerWidth(parts[k], type, bytes) || !destination(parts[k], {Kind::bits, uint8_t(bytes)}, inst.d) ||
        !handlerOf("mov.b" + std::to_string(8 * bytes), inst.run))
      return false;
    wanted.source = Preset::param;
    wanted.offset = uint32_t(offset) + uint32_t(k) * type.bytes;
    wanted.bytes = uint8_t(bytes);
    wanted.from = type.bytes;
    wanted.extendSign = type.kind == Kind::signedInt;
    inst.a = preset(wanted);
    *emit(inst.run) = inst;
  }
  return true;
}

/// atom d, [a], b(, c) and red [a], b: x is the third operand, c that of `cas`.
bool Decoder::atomic() {
  Modifiers mods(now->opcode);
  const bool reduction = mods.stem == "red";
  Type type;
  const Space space = takeSpace(mods);
  const std::string_view what = mods.takeOneOf({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  mods.ignore({"relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", "cluster", "noftz"});
  if (!mods.takeType(type) || what.empty() || !mods.rest().empty() || space == Space::local || space == Space::param ||
      space == Space::constant)
    return unknown();
  const bool cas = what == "cas";
  if ((reduction && (cas || what == "exch")))
    return unknown();
  if (!operandCount(size_t(2 + !reduction + cas)))
    return false;
  const size_t first = reduction ? 0 : 1;
  Inst inst;
  bool symbolic = false;
  if (!handlerOf("atom." + std::string(word(space)) + "." + std::string(what) + "." + name(type), inst.run) ||
      !memory(now->operands[first], space, inst, symbolic) || !source(now->operands[first + 1], type, inst.x) ||
      (cas && !source(now->operands[first + 2], type, inst.c)))
    return false;
  if (reduction)
    inst.d = scratch(type.bytes);
  else if (!destination(now->operands[0], type, inst.d))
    return false;
  inst.site = takeSites();
  *emit(inst.run) = inst;
  return true;
}

/// cp.async: fields a, b, imm are the destination as of a store, d the source, x the bytes to read (a slot) or 0, c the
/// bytes.
bool Decoder::asyncCopy() {
  Modifiers mods(now->opcode);
  Inst inst;
  if (!mods.take("async"))
    return unknown();
  const std::string_view group = mods.takeOneOf({"commit_group", "wait_group", "wait_all"});
  if (!group.empty()) {
    if (!mods.rest().empty())
      return unknown();
    if (!operandCount(group == "wait_group") || (group == "wait_group" && !immediate(now->operands[0], inst.imm)) ||
        !handlerOf("cp.async." + std::string(group), inst.run))
      return false;
    *emit(inst.run) = inst;
    return true;
  }
  const std::string_view cache = mods.takeOneOf({"ca", "cg"});
  mods.ignore({"L2::64B", "L2::128B", "L2::256B"});
  const bool shared = mods.take("shared") || mods.take("shared::cta"), global = mods.take("global");
  if (cache.empty() || !shared || !global || !mods.rest().empty())
    return unknown();
  if (!operandCount(3, 4))
    return false;
  int64_t bytes = 0;
  bool symbolic = false;
  if (!immediate(now->operands[2], bytes))
    return false;
  if (bytes != 16 && (cache == "cg" || (bytes != 4 && bytes != 8)))
    return fail("NNT1703", std::string(now->opcode) + " copies " + (cache == "cg" ? "16" : "4, 8 or 16") +
                               " bytes, found " + std::to_string(bytes));
  Inst from;
  if (!memory(now->operands[0], Space::shared, inst, symbolic) ||
      !memory(now->operands[1], Space::global, from, symbolic) || !handlerOf("cp.async", inst.run))
    return false;
  const bool sized = now->operands.size() == 4;
  Slot size = 0;
  if (sized && kernel.registers.size() && now->operands[3].form == Operand::reg &&
      !kernel.registers[size_t(now->operands[3].id)].type.bytes)
    return unknown(); // the form that ignores its source by a predicate
  if (sized && !source(now->operands[3], {Kind::unsignedInt, 4}, size))
    return false;
  // The source's address and offset, and the size, lie in a list: destination and source need two sets of fields.
  inst.x = list({from.a, Slot(uint64_t(from.imm)), Slot(uint64_t(from.imm) >> 32), size, Slot(sized)});
  inst.c = uint32_t(bytes);
  inst.site = takeSites();
  *emit(inst.run) = inst;
  return true;
}

} // namespace nnterp::gpu::emulator
