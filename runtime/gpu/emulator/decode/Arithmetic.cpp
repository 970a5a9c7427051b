// Decodes arithmetic, bits, comparisons, selections and moves.
#include "runtime/gpu/emulator/decode/Decoder.h"
#include "runtime/gpu/emulator/run/Control.h"

#include <algorithm>

namespace nnterp::gpu::emulator {

/// Roundings other than to nearest are those of the CPU while the one instruction behind runs.
bool Decoder::roundings(std::string_view rounding) {
  if (rounding.empty() || rounding == "rn")
    return true;
  emit(withRounding)->imm = rounding == "rz" ? 0 : rounding == "rm" ? 1 : 2;
  return true;
}

bool Decoder::arithmetic() {
  static const std::map<std::string_view, int> sources = {
      {"add", 2}, {"sub", 2}, {"mul", 2}, {"mul24", 2}, {"mad", 3}, {"mad24", 3}, {"fma", 3},      {"sad", 3},
      {"div", 2}, {"rem", 2}, {"abs", 1}, {"neg", 1},   {"min", 2}, {"max", 2},   {"sqrt", 1},     {"rsqrt", 1},
      {"rcp", 1}, {"ex2", 1}, {"lg2", 1}, {"sin", 1},   {"cos", 1}, {"tanh", 1},  {"copysign", 2}, {"dp4a", 3},
  };
  const auto found = sources.find(stem(*now));
  if (found == sources.end())
    return unknown();
  Modifiers mods(now->opcode);
  Type type, second;
  if (!mods.takeType(type))
    return unknown();
  std::string key(mods.stem);
  if (key == "mad" && type.kind == Kind::real)
    key = "fma";
  if (key == "dp4a") {
    if (!mods.takeType(second))
      return unknown();
    key += "." + name(type);
    type = second;
  }
  const std::string_view part = mods.takeOneOf({"lo", "hi", "wide"});
  if (!part.empty())
    key += "." + std::string(part);
  // Roundings are set around instructions on 32 and 64 bits; those on 16 bits round to nearest and know no other.
  std::string_view rounding;
  if (type.isFloat())
    rounding = type.kind == Kind::real ? mods.takeOneOf({"rn", "rz", "rm", "rp"}) : mods.takeOneOf({"rn"});
  const std::string_view quality = mods.takeOneOf({"approx", "full"});
  if (!quality.empty() && (!type.isFloat() || !rounding.empty()))
    return unknown();
  for (std::string_view flag : {"NaN", "ftz", "sat", "relu"})
    if (mods.take(flag))
      key += "." + std::string(flag);
  key += "." + name(type);
  if (!mods.rest().empty() || !operandCount(size_t(found->second) + 1) || !roundings(rounding))
    return mods.rest().empty() ? false : unknown();
  Inst *inst = emit(key);
  if (!inst)
    return false;
  const size_t at = out.code.size() - 1;
  Type result = type;
  if (part == "wide")
    result.bytes = uint8_t(2 * type.bytes);
  Slot d = 0, a = 0, b = 0, c = 0;
  const std::vector<Operand> &operands = now->operands;
  if (!destination(operands[0], result, d) || !source(operands[1], type, a) ||
      (operands.size() > 2 && !source(operands[2], type, b)) ||
      (operands.size() > 3 && !source(operands[3], result, c)))
    return false;
  out.code[at].d = d, out.code[at].a = a, out.code[at].b = b, out.code[at].c = c;
  return true;
}

bool Decoder::bitwise() {
  Modifiers mods(now->opcode);
  Type type;
  if (!mods.takeType(type))
    return unknown();
  std::string key(mods.stem);
  const std::vector<Operand> &operands = now->operands;
  const Type amount{Kind::unsignedInt, 4};
  if (!type.bytes) { // logic of predicates
    const bool one = key == "not";
    Slot d = 0, a = 0, b = 0;
    bool notA = false, notB = false;
    if (!mods.rest().empty())
      return unknown();
    if (!operandCount(one ? 2 : 3) || !destination(operands[0], type, d) || !predicateSource(operands[1], a, notA) ||
        (!one && !predicateSource(operands[2], b, notB)))
      return false;
    Inst *inst = emit(key + ".pred");
    if (!inst)
      return false;
    inst->d = d, inst->a = a, inst->b = b, inst->imm = notA | notB << 1;
    return true;
  }
  const std::string_view first = mods.takeOneOf({"l", "r", "shiftamt"}), second = mods.takeOneOf({"wrap", "clamp"});
  for (std::string_view flag : {first, second})
    if (!flag.empty())
      key += "." + std::string(flag);
  static constexpr std::string_view modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  const std::string_view mode = mods.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (!mods.rest().empty() || (!mode.empty() && mods.stem != "prmt"))
    return unknown();
  const std::string_view stem = mods.stem;
  // Types of the operands behind the result, and of the result.
  std::vector<Type> types;
  Type result = type;
  if (stem == "and" || stem == "or" || stem == "xor")
    types = {type, type};
  else if (stem == "not" || stem == "cnot" || stem == "brev")
    types = {type};
  else if (stem == "clz" || stem == "popc" || stem == "bfind")
    types = {type}, result = amount;
  else if (stem == "shl" || stem == "shr")
    types = {type, amount};
  else if (stem == "shf")
    types = {type, type, amount};
  else if (stem == "bfe")
    types = {type, amount, amount};
  else if (stem == "bfi")
    types = {type, type, amount, amount};
  else
    types = {type, type, type}; // prmt, lop3
  if (!operandCount(types.size() + 1 + (stem == "lop3")))
    return false;
  Inst inst;
  if (!handlerOf(key + "." + name(type), inst.run))
    return false;
  Slot *const fields[] = {&inst.a, &inst.b, &inst.c, &inst.x};
  if (!destination(operands[0], result, inst.d))
    return false;
  for (size_t k = 0; k < types.size(); ++k)
    if (!source(operands[k + 1], types[k], *fields[k]))
      return false;
  if (stem == "prmt")
    inst.imm = std::find(std::begin(modes), std::end(modes), mode) - std::begin(modes);
  if (stem == "lop3" && !immediate(operands[4], inst.imm))
    return false;
  *emit(inst.run) = inst;
  return true;
}

bool Decoder::compare() {
  Modifiers mods(now->opcode);
  const std::vector<Operand> &operands = now->operands;
  Type pred, result, type;
  parseType("pred", pred);
  const bool isSet = mods.stem == "set", isTest = mods.stem == "testp";
  if ((isSet && !mods.takeType(result)) || !mods.takeType(type))
    return unknown();
  if (isSet && !(result.bytes == 4 && (result.isInteger() || result.kind == Kind::real)))
    return unknown();
  const std::string_view how = mods.takeOneOf(
      {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",     "ls",       "hi",     "hs",         "equ",    "neu",
       "ltu", "leu", "gtu", "geu", "num", "nan", "finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const std::string_view combine = mods.takeOneOf({"and", "or", "xor"});
  const bool ftz = mods.take("ftz");
  if (how.empty() || !mods.rest().empty() || (!combine.empty() && mods.stem != "setp"))
    return unknown();
  if (!operandCount(isTest ? 2 : combine.empty() ? 3 : 4))
    return false;
  Inst inst;
  if (!handlerOf(std::string(mods.stem) + "." + std::string(how) + (ftz ? ".ftz." : ".") + name(type), inst.run))
    return false;
  const bool both = operands[0].form == Operand::both, paired = type.kind == Kind::half2 || type.kind == Kind::brain2;
  if ((both && mods.stem != "setp") || (paired && (!both || !combine.empty())))
    return unknown();
  inst.imm = isSet ? (result.kind == Kind::real ? 0x3f800000 : 0xffffffff)
                   : (combine.empty()    ? 0
                      : combine == "and" ? 1
                      : combine == "or"  ? 2
                                         : 3) |
                         (both ? 8 : 0);
  if (!destination(both ? operands[0].parts[0] : operands[0], isSet ? result : pred, inst.d) ||
      (both && !destination(operands[0].parts[1], pred, inst.x)) || !source(operands[1], type, inst.a) ||
      (!isTest && !source(operands[2], type, inst.b)))
    return false;
  if (!combine.empty()) {
    bool negated = false;
    if (!predicateSource(operands[3], inst.c, negated))
      return false;
    inst.imm |= negated ? 4 : 0;
  }
  *emit(inst.run) = inst;
  return true;
}

bool Decoder::selection() {
  Modifiers mods(now->opcode);
  const bool bySign = mods.stem == "slct", ftz = mods.take("ftz");
  Type type, sign;
  if (!mods.takeType(type) || (bySign && !mods.takeType(sign)) || !mods.rest().empty() || (ftz && !bySign))
    return unknown();
  if (!operandCount(4))
    return false;
  Inst inst;
  const std::string width = ".b" + std::to_string(8 * type.bytes);
  if (!handlerOf(bySign ? std::string(ftz ? "slct.ftz" : "slct") + width + "." + name(sign) : "selp" + width, inst.run))
    return false;
  bool negated = false;
  const std::vector<Operand> &operands = now->operands;
  if (!destination(operands[0], type, inst.d) || !source(operands[1], type, inst.a) ||
      !source(operands[2], type, inst.b) ||
      !(bySign ? source(operands[3], sign, inst.c) : predicateSource(operands[3], inst.c, negated)))
    return false;
  inst.imm = negated ? 0xffffffff : 0;
  *emit(inst.run) = inst;
  return true;
}

bool Decoder::move() {
  Modifiers mods(now->opcode);
  Type type;
  if (!mods.takeType(type) || !mods.rest().empty() || type.bytes == 1)
    return unknown();
  if (!operandCount(2))
    return false;
  const Operand &to = now->operands[0], &from = now->operands[1];
  Inst inst;
  if (to.form == Operand::vector || from.form == Operand::vector) {
    // {a, b} = c cuts c into equal parts, c = {a, b} puts it together; the first part is the lowest.
    const bool cut = to.form == Operand::vector;
    const std::vector<Operand> &parts = cut ? to.parts : from.parts;
    const Type part{Kind::bits, uint8_t(type.bytes / parts.size())};
    const size_t count = parts.size();
    if ((count != 2 && count != 4) || part.bytes < 2 || (cut && from.form == Operand::vector))
      return fail("NNT1703", "." + name(type) + " cannot be moved in " + std::to_string(count) + " parts");
    std::vector<Slot> partSlots(count);
    for (size_t k = 0; k < count; ++k)
      if (!(cut ? destination(parts[k], part, partSlots[k]) : source(parts[k], part, partSlots[k])))
        return false;
    if (!(cut ? source(from, type, inst.a) : destination(to, type, inst.d)) ||
        !handlerOf((cut ? "unpack." : "pack.") + name({Kind::bits, type.bytes}) + "." + name(part), inst.run))
      return false;
    inst.x = list(partSlots);
    inst.c = uint32_t(count);
    *emit(inst.run) = inst;
    return true;
  }
  if (!type.bytes) {
    bool negated = false;
    if (!destination(to, type, inst.d) || !predicateSource(from, inst.a, negated) || !handlerOf("mov.pred", inst.run))
      return false;
    inst.imm = negated;
    *emit(inst.run) = inst;
    return true;
  }
  if (from.form == Operand::special &&
      (from.text == "%clock" || from.text == "%clock64" || from.text == "%globaltimer")) {
    if (!destination(to, type, inst.d))
      return false;
    Inst *emitted = emit(clock);
    emitted->d = inst.d;
    emitted->c = type.bytes;
    return true;
  }
  if (!destination(to, type, inst.d) || !source(from, type, inst.a) ||
      !handlerOf("mov." + name({Kind::bits, type.bytes}), inst.run))
    return false;
  *emit(inst.run) = inst;
  return true;
}

/// cvta: shared and local memory lie in windows of the generic addresses, everything else is there itself. isspacep
/// asks for that.
bool Decoder::addressConversion() {
  Modifiers mods(now->opcode);
  const bool question = mods.stem == "isspacep", to = mods.take("to");
  Type type{Kind::unsignedInt, 8};
  const std::string_view space = mods.takeOneOf({"global", "shared", "shared::cta", "local", "const"});
  if (space.empty() || (!question && (!mods.takeType(type) || type.bytes != 8)) || !mods.rest().empty())
    return unknown();
  if (!operandCount(2))
    return false;
  const bool windowed = space != "global" && space != "const";
  const uint64_t window = space == "local" ? localWindow : sharedWindow;
  Inst inst;
  if (!source(now->operands[1], type, inst.a))
    return false;
  if (question) {
    if (space == "const")
      return unknown(); // constant memory cannot be told from global memory here
    Type pred;
    parseType("pred", pred);
    inst.imm = windowed ? int64_t(window) : 0;
    if (!destination(now->operands[0], pred, inst.d) || !handlerOf("isspacep", inst.run))
      return false;
  } else if (!destination(now->operands[0], type, inst.d) || !handlerOf(!windowed ? "mov.b64"
                                                                        : to      ? "sub.u64"
                                                                                  : "add.u64",
                                                                        inst.run)) {
    return false;
  }
  inst.b = windowed ? constant(window, 8) : 0;
  *emit(inst.run) = inst;
  return true;
}

} // namespace nnterp::gpu::emulator
