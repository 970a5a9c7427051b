// Decodes cvt. Integers of 8 bits, or in registers wider than their type, go through 64 bits.
#include "runtime/gpu/emulator/decode/Decoder.h"
#include "runtime/gpu/emulator/run/Control.h"

namespace nnterp::gpu::emulator {

static bool fits(Type type, uint32_t registerBytes) { return type.bytes == registerBytes; }

/// The register of `operand` holds a `from`; the result is a `to`.
bool Decoder::convertIntegers(Type to, Type from, bool saturate) {
  const Operand &target = now->operands[0], &origin = now->operands[1];
  uint32_t fromBytes = 0, toBytes = 0;
  if (!registerWidth(origin, from, fromBytes) || !registerWidth(target, to, toBytes))
    return false;
  const std::string sat = saturate ? "sat." : "";
  Inst inst;
  if (fits(from, fromBytes) && fits(to, toBytes)) {
    if (!source(origin, from, inst.a) || !destination(target, to, inst.d) ||
        !handlerOf("cvt." + sat + name(to) + "." + name(from), inst.run))
      return false;
    *emit(inst.run) = inst;
    return true;
  }
  const Slot wide = scratch(8);
  Inst narrow;
  if (!source(origin, {Kind::bits, uint8_t(fromBytes)}, inst.a) ||
      !handlerOf("wide." + name(from) + ".b" + std::to_string(8 * fromBytes), inst.run) ||
      !destination(target, {Kind::bits, uint8_t(toBytes)}, narrow.d))
    return false;
  const std::string sign = from.kind == Kind::signedInt ? "s64" : "u64";
  const std::string key =
      fits(to, toBytes) && to.bytes > 1
          ? "cvt." + sat + name(to) + "." + sign
          : "narrow." + sat + name(to) + ".b" + std::to_string(8 * toBytes) + (saturate ? "." + sign : "");
  if (!handlerOf(key, narrow.run))
    return false;
  inst.d = narrow.a = wide;
  *emit(inst.run) = inst;
  *emit(narrow.run) = narrow;
  return true;
}

bool Decoder::convert() {
  Modifiers mods(now->opcode);
  Type to, from;
  if (!mods.takeType(to) || !mods.takeType(from) || !to.bytes || !from.bytes)
    return unknown();
  const std::string_view rounding = mods.takeOneOf({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"});
  const bool whole = rounding.size() == 3, saturate = mods.take("sat"), ftz = mods.take("ftz"),
             relu = mods.take("relu");
  if (!mods.rest().empty() || to.kind == Kind::bits || from.kind == Kind::bits)
    return unknown();
  const bool pair = to.kind == Kind::half2 || to.kind == Kind::brain2;
  if (!operandCount(pair ? 3 : 2))
    return false;
  if (to.isInteger() && from.isInteger())
    return rounding.empty() && !ftz && !relu ? convertIntegers(to, from, saturate) : unknown();

  // What narrows needs a rounding, a float to integer one to whole numbers; elsewhere there is none to give.
  const bool toInteger = to.isInteger(), fromInteger = from.isInteger();
  if (toInteger ? !whole || relu : whole ? to.kind != from.kind || to.bytes != from.bytes : false)
    return unknown();
  if ((fromInteger || (!toInteger && !whole && to.bytes < from.bytes) || pair) && rounding.empty())
    return unknown();
  std::string key = "cvt.";
  const bool small = to.kind != Kind::real && to.isFloat(); // 16-bit floats round in software
  if (whole || (small && rounding != "rn" && !rounding.empty()))
    key += std::string(rounding) + ".";
  key += std::string(ftz ? "ftz." : "") + (saturate && !toInteger ? "sat." : "") + (relu ? "relu." : "");

  // 8-bit integers take a step of their own.
  Type wideTo = to, wideFrom = from;
  uint32_t toBytes = 0, fromBytes = 0;
  if (!registerWidth(now->operands[0], to, toBytes) || !registerWidth(now->operands[1], from, fromBytes))
    return false;
  const bool stepBefore = fromInteger && !fits(from, fromBytes), stepBehind = toInteger && !fits(to, toBytes);
  if (stepBefore)
    wideFrom = {from.kind, 8};
  if (stepBehind)
    wideTo = {to.kind, 4};
  if (stepBehind && (from.bytes == 8 || to.bytes == 4 || to.bytes == 8)) // what NaN gives would be lost on the way
    return unknown();
  Inst inst, before, widen, behind;
  if (!handlerOf(key + name(wideTo) + "." + name(wideFrom), inst.run))
    return false;
  if (stepBefore) {
    if (!source(now->operands[1], {Kind::bits, uint8_t(fromBytes)}, before.a) ||
        !handlerOf("wide." + name(from) + ".b" + std::to_string(8 * fromBytes), before.run))
      return false;
    inst.a = before.d = scratch(8);
    *emit(before.run) = before;
  } else if (!source(now->operands[1], from, inst.a) || (pair && !source(now->operands[2], from, inst.b))) {
    return false;
  }
  if (!stepBehind && !destination(now->operands[0], to, inst.d))
    return false;
  if (!small && !whole)
    roundings(rounding);
  if (stepBehind)
    inst.d = widen.a = scratch(4);
  *emit(inst.run) = inst;
  if (!stepBehind)
    return true;
  // The step to 32 bits saturated there; the last one saturates to what is left.
  widen.d = behind.a = scratch(8);
  const std::string sign = to.kind == Kind::signedInt ? "s64" : "u64";
  if (!destination(now->operands[0], {Kind::bits, uint8_t(toBytes)}, behind.d) ||
      !handlerOf("wide." + name(wideTo) + ".b32", widen.run) ||
      !handlerOf("narrow.sat." + name(to) + ".b" + std::to_string(8 * toBytes) + "." + sign, behind.run))
    return false;
  *emit(widen.run) = widen;
  *emit(behind.run) = behind;
  return true;
}

} // namespace nnterp::gpu::emulator
