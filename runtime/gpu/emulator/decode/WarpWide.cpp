// Decodes what a warp does together: shuffles, votes, reductions, matrix fragments.
#include "runtime/gpu/emulator/decode/Decoder.h"

namespace nnterp::gpu::emulator {

static const Type word{Kind::bits, 4};
static const Type pred{Kind::pred, 0};

/// shfl.sync.mode.b32 d|p, a, b, c, mask: x is the mask, imm the slot of p, or -1.
bool Decoder::shuffle() {
  Modifiers mods(now->opcode);
  const bool sync = mods.take("sync");
  const std::string_view mode = mods.takeOneOf({"up", "down", "bfly", "idx"});
  if (!sync || mode.empty() || !mods.take("b32") || !mods.rest().empty())
    return unknown();
  if (!operandCount(5))
    return false;
  const std::vector<Operand> &operands = now->operands;
  const bool both = operands[0].form == Operand::both;
  Inst inst;
  Slot p = 0;
  if (!handlerOf("shfl." + std::string(mode), inst.run) ||
      !destination(both ? operands[0].parts[0] : operands[0], word, inst.d) ||
      (both && !destination(operands[0].parts[1], pred, p)) || !source(operands[1], word, inst.a) ||
      !source(operands[2], word, inst.b) || !source(operands[3], word, inst.c) || !source(operands[4], word, inst.x))
    return false;
  inst.imm = both ? int64_t(p) : -1;
  *emit(inst.run) = inst;
  return true;
}

/// vote.sync and match.sync: a what is asked, b the mask, c whether a is inverted; activemask.
bool Decoder::vote() {
  Modifiers mods(now->opcode);
  const std::vector<Operand> &operands = now->operands;
  Inst inst;
  if (mods.stem == "activemask") {
    if (!mods.take("b32") || !mods.rest().empty())
      return unknown();
    if (!operandCount(1) || !destination(operands[0], word, inst.d) || !handlerOf("activemask", inst.run))
      return false;
    *emit(inst.run) = inst;
    return true;
  }
  const bool sync = mods.take("sync"), match = mods.stem == "match";
  const std::string_view how = mods.takeOneOf({"all", "any", "uni", "ballot"});
  Type type;
  if (!sync || how.empty() || !mods.takeType(type) || !mods.rest().empty())
    return unknown();
  if (!operandCount(3))
    return false;
  if (match) {
    const bool both = operands[0].form == Operand::both;
    Slot p = 0;
    if ((type.bytes != 4 && type.bytes != 8) || (both && how != "all"))
      return unknown();
    if (!handlerOf("match." + std::string(how) + ".b" + std::to_string(8 * type.bytes), inst.run) ||
        !destination(both ? operands[0].parts[0] : operands[0], word, inst.d) ||
        (both && !destination(operands[0].parts[1], pred, p)) || !source(operands[1], type, inst.a) ||
        !source(operands[2], word, inst.b))
      return false;
    inst.imm = both ? int64_t(p) : -1;
  } else {
    const bool ballot = how == "ballot";
    bool negated = false;
    if (type.bytes != (ballot ? 4 : 0))
      return unknown();
    if (!handlerOf("vote." + std::string(how), inst.run) || !destination(operands[0], ballot ? word : pred, inst.d) ||
        !predicateSource(operands[1], inst.a, negated) || !source(operands[2], word, inst.b))
      return false;
    inst.c = negated;
  }
  *emit(inst.run) = inst;
  return true;
}

bool Decoder::reduceWarp() {
  Modifiers mods(now->opcode);
  const bool sync = mods.take("sync");
  const std::string_view how = mods.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type;
  if (!sync || how.empty() || !mods.takeType(type) || !mods.rest().empty())
    return unknown();
  Inst inst;
  if (!operandCount(3) || !handlerOf("redux." + std::string(how) + "." + name(type), inst.run) ||
      !destination(now->operands[0], type, inst.d) || !source(now->operands[1], type, inst.a) ||
      !source(now->operands[2], word, inst.b))
    return false;
  *emit(inst.run) = inst;
  return true;
}

/// ldmatrix.sync.aligned.m8n8.xN(.trans).shared.b16 {d…}, [a]: d is the place of the registers among the lists, c their
/// number.
bool Decoder::loadMatrix() {
  Modifiers mods(now->opcode);
  const bool shape = mods.take("sync") && mods.take("aligned") && mods.take("m8n8") && mods.take("b16");
  const std::string_view count = mods.takeOneOf({"x1", "x2", "x4"});
  const bool transposed = mods.take("trans");
  const Space space = takeSpace(mods);
  if (!shape || count.empty() || (space != Space::shared && space != Space::generic) || !mods.rest().empty())
    return unknown();
  if (!operandCount(2))
    return false;
  const Operand &data = now->operands[0];
  std::vector<Slot> registers(size_t(count[1] - '0'));
  if (data.form != Operand::vector || data.parts.size() != registers.size())
    return fail("NNT1703",
                std::string(now->opcode) + " takes " + std::to_string(registers.size()) + " registers in braces");
  for (size_t k = 0; k < registers.size(); ++k)
    if (!destination(data.parts[k], word, registers[k]))
      return false;
  Inst inst;
  bool symbolic = false;
  if (!memory(now->operands[1], space, inst, symbolic) ||
      !handlerOf(std::string(transposed ? "ldmatrix.trans" : "ldmatrix") +
                     (space == Space::generic ? ".generic" : ".shared"),
                 inst.run))
    return false;
  inst.d = list(registers);
  inst.c = uint32_t(registers.size());
  inst.site = takeSites();
  *emit(inst.run) = inst;
  return true;
}

/// mma.sync.aligned.m16n8kK.row.col.f32.T.T.f32 {d0..3}, {a…}, {b…}, {c0..3}: x is the place of all of them among the
/// lists.
bool Decoder::multiplyMatrices() {
  Modifiers mods(now->opcode);
  const std::string_view shape = mods.takeOneOf({"m16n8k16", "m16n8k8"});
  Type d, a, b, c;
  if (!mods.take("sync") || !mods.take("aligned") || shape.empty() || !mods.take("row") || !mods.take("col") ||
      !mods.takeType(d) || !mods.takeType(a) || !mods.takeType(b) || !mods.takeType(c) || !mods.rest().empty())
    return unknown();
  const Type f32{Kind::real, 4};
  if (!(d == f32) || !(c == f32) || !(a == b))
    return unknown();
  if (!operandCount(4))
    return false;
  const size_t deep = shape == "m16n8k16";
  const size_t counts[4] = {4, deep ? size_t(4) : 2, deep ? size_t(2) : 1, 4};
  std::vector<Slot> registers;
  for (size_t k = 0; k < 4; ++k) {
    const Operand &operand = now->operands[k];
    // A single register stands without braces, too.
    const std::vector<Operand> parts = operand.form == Operand::vector ? operand.parts : std::vector<Operand>{operand};
    if (parts.size() != counts[k])
      return fail("NNT1703", "operand " + std::to_string(k) + " of " + std::string(now->opcode) + " has " +
                                 std::to_string(counts[k]) + " registers, found " + std::to_string(parts.size()));
    for (const Operand &part : parts)
      if (!(k == 0 ? destination(part, word, registers.emplace_back()) : source(part, word, registers.emplace_back())))
        return false;
  }
  Inst inst;
  if (!handlerOf("mma." + std::string(shape) + "." + name(a), inst.run))
    return false;
  inst.x = list(registers);
  *emit(inst.run) = inst;
  return true;
}

} // namespace nnterp::gpu::emulator
