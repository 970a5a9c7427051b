// Operands become slots: registers, constants, values known when a launch begins.
#include "runtime/gpu/emulator/decode/Decoder.h"

#include <cstring>

namespace nnterp::gpu::emulator {

Slot Decoder::constant(uint64_t bits, uint32_t bytes) {
  const auto [found, fresh] = constantSlots.try_emplace({bits, bytes}, 0);
  if (fresh) {
    constants.push_back({bits, bytes, constantBytes});
    found->second = constantBytes | constantBase;
    constantBytes += bytes ? bytes * lanes : 64; // a predicate is 32 bits
  }
  return found->second;
}

Slot Decoder::scratch(uint32_t bytes) {
  const auto [found, fresh] = scratches.try_emplace(bytes, 0);
  if (fresh) {
    found->second = out.registerBytes | registerBase;
    out.registerBytes += bytes ? bytes * lanes : 64;
  }
  return found->second;
}

Slot Decoder::list(const std::vector<Slot> &entries) {
  const Slot first = Slot(out.lists.size());
  out.lists.insert(out.lists.end(), entries.begin(), entries.end());
  return first;
}

Slot Decoder::preset(Preset preset) {
  const std::string key = std::to_string(preset.offset) + "/" + std::to_string(preset.bytes) + "/" +
                          std::to_string(preset.from) + "/" + std::to_string(preset.extendSign);
  const auto [found, fresh] = presets.try_emplace({int(preset.source), key}, 0);
  if (fresh) {
    const bool launch = preset.source <= Preset::sharedBytes, block = preset.source <= Preset::blockNumber;
    uint32_t &end = launch ? out.launchBytes : block ? out.blockBytes : out.registerBytes;
    preset.slot = end | (launch ? launchBase : block ? blockBase : registerBase);
    end += preset.bytes * lanes;
    (launch ? out.perLaunch : block ? out.perBlock : out.perWarp).push_back(preset);
    found->second = preset.slot;
  }
  return found->second;
}

bool Decoder::special(const Operand &operand, Type type, Slot &slot) {
  static const std::map<std::string_view, std::pair<Preset::Source, uint32_t>> known = {
      {"%tid.x", {Preset::thread, 0}},
      {"%tid.y", {Preset::thread, 1}},
      {"%tid.z", {Preset::thread, 2}},
      {"%ntid.x", {Preset::threads, 0}},
      {"%ntid.y", {Preset::threads, 1}},
      {"%ntid.z", {Preset::threads, 2}},
      {"%ctaid.x", {Preset::block, 0}},
      {"%ctaid.y", {Preset::block, 1}},
      {"%ctaid.z", {Preset::block, 2}},
      {"%nctaid.x", {Preset::grid, 0}},
      {"%nctaid.y", {Preset::grid, 1}},
      {"%nctaid.z", {Preset::grid, 2}},
      {"%laneid", {Preset::lane, 0}},
      {"%warpid", {Preset::warp, 0}},
      {"%lanemask_eq", {Preset::maskEqual, 0}},
      {"%lanemask_lt", {Preset::maskLess, 0}},
      {"%lanemask_le", {Preset::maskLessEqual, 0}},
      {"%lanemask_gt", {Preset::maskGreater, 0}},
      {"%lanemask_ge", {Preset::maskGreaterEqual, 0}},
      {"%dynamic_smem_size", {Preset::dynamicBytes, 0}},
      {"%total_smem_size", {Preset::sharedBytes, 0}},
  };
  if (operand.text == "WARP_SZ") {
    slot = constant(lanes, type.bytes);
    return true;
  }
  const auto found = known.find(operand.text);
  if (found == known.end())
    return fail("NNT1704", "no such register: " + std::string(operand.text));
  if (type.isFloat() || type.bytes < 2)
    return fail("NNT1703", std::string(operand.text) + " is read as a ." + name(type));
  Preset wanted;
  wanted.source = found->second.first;
  wanted.offset = found->second.second;
  wanted.bytes = type.bytes;
  slot = preset(wanted);
  return true;
}

bool Decoder::immediate(const Operand &operand, int64_t &value) {
  value = operand.value;
  return operand.form == Operand::integer ||
         fail("NNT1703", "expected a number that is written out in " + std::string(now->opcode));
}

uint32_t Decoder::takeSites() {
  out.sites += memoryKinds;
  return out.sites - memoryKinds;
}

int Decoder::paramIndex(std::string_view name) const {
  for (size_t k = 0; k < kernel.params.size(); ++k)
    if (kernel.params[k].name == name)
      return int(k);
  return -1;
}

bool Decoder::symbolAddress(const Operand &operand, uint64_t &address, Space &space) {
  const auto mine = own.find(operand.text);
  const auto others = placement.find(operand.text);
  const int param = paramIndex(operand.text);
  if (mine != own.end()) {
    space = mine->second.first;
    address = mine->second.second;
  } else if (others != placement.end()) {
    space = others->second.space;
    address = others->second.address;
  } else if (param >= 0) {
    space = Space::param;
    address = out.paramOffsets[param];
  } else {
    return fail("NNT1704", "no such variable: " + std::string(operand.text));
  }
  address += uint64_t(operand.value);
  return true;
}

bool Decoder::source(const Operand &operand, Type type, Slot &slot) {
  uint64_t bits = uint64_t(operand.value);
  switch (operand.form) {
  case Operand::reg: {
    const Type own = kernel.registers[operand.id].type;
    if (own.bytes != type.bytes)
      return fail("NNT1703", "." + name(type) + " is read from " + std::string(operand.text) + ", which is declared ." +
                                 name(own));
    if (operand.negated)
      return fail("NNT1703", "only predicates are negated");
    slot = slots[operand.id];
    return true;
  }
  case Operand::special:
    return special(operand, type, slot);
  case Operand::symbol: {
    if (operand.text == "WARP_SZ")
      return special(operand, type, slot);
    Space space;
    if (!symbolAddress(operand, bits, space))
      return false;
    if (type.bytes != 8 &&
        !(type.bytes == 4 && (space == Space::shared || space == Space::local || space == Space::param)))
      return fail("NNT1703", "the address of " + std::string(operand.text) + " does not fit in a ." + name(type));
    break;
  }
  case Operand::integer:
    break;
  case Operand::real32:
    if (type.bytes == 8 && type.kind == Kind::real) {
      float narrow;
      const uint32_t low = uint32_t(bits);
      std::memcpy(&narrow, &low, sizeof narrow);
      const double wide = narrow;
      std::memcpy(&bits, &wide, sizeof wide);
    } else if (type.bytes != 4) {
      return fail("NNT1703", "a float32 number stands for a ." + name(type));
    }
    break;
  case Operand::real64:
    if (type.bytes == 4 && type.kind == Kind::real) {
      double wide;
      std::memcpy(&wide, &bits, sizeof wide);
      const float narrow = float(wide);
      bits = 0;
      std::memcpy(&bits, &narrow, sizeof narrow);
    } else if (type.bytes != 8) {
      return fail("NNT1703", "a float64 number stands for a ." + name(type));
    }
    break;
  default:
    return fail("NNT1703", "expected a register or a number as operand of " + std::string(now->opcode));
  }
  if (type.bytes == 0) // a predicate: true or false for all lanes
    bits = bits ? ~uint64_t(0) : 0;
  else if (type.bytes < 8)
    bits &= (uint64_t(1) << (8 * type.bytes)) - 1;
  slot = constant(bits, type.bytes);
  return true;
}

bool Decoder::destination(const Operand &operand, Type type, Slot &slot) {
  if (operand.form == Operand::sink) {
    slot = scratch(type.bytes);
    return true;
  }
  if (operand.form != Operand::reg || operand.negated)
    return fail("NNT1703", "expected a register for the result of " + std::string(now->opcode));
  const Type own = kernel.registers[operand.id].type;
  if (own.bytes != type.bytes)
    return fail("NNT1703",
                "." + name(type) + " is written to " + std::string(operand.text) + ", which is declared ." + name(own));
  slot = slots[operand.id];
  return true;
}

bool Decoder::predicateSource(const Operand &operand, Slot &slot, bool &negated) {
  Operand plain = operand;
  negated = operand.negated;
  plain.negated = false;
  Type type;
  parseType("pred", type);
  return source(plain, type, slot);
}

/// Bytes of the register that stands for a value of `type`, which may be wider; of a number or `_` those of the type,
/// at least 2.
bool Decoder::registerWidth(const Operand &operand, Type type, uint32_t &bytes) {
  bytes = std::max<uint32_t>(type.bytes, 2);
  if (operand.form != Operand::reg)
    return true;
  bytes = kernel.registers[operand.id].type.bytes;
  return bytes >= type.bytes && bytes > 0
             ? true
             : fail("NNT1703", std::string(operand.text) + " is too narrow for a ." + name(type));
}

bool Decoder::memory(const Operand &operand, Space space, Inst &inst, bool &symbolic) {
  if (operand.form != Operand::memory)
    return fail("NNT1703", "expected an address in brackets in " + std::string(now->opcode));
  const Operand &base = operand.parts[0];
  inst.imm = operand.value;
  inst.b = 0;
  symbolic = base.form != Operand::reg;
  if (base.form == Operand::reg) {
    const Type type = kernel.registers[base.id].type;
    if (type.bytes != 8 && !(type.bytes == 4 && (space == Space::shared || space == Space::local)))
      return fail("NNT1703", std::string(base.text) + " is too narrow for an address");
    inst.a = slots[base.id];
    inst.b = type.bytes == 4;
    return true;
  }
  uint64_t address = uint64_t(base.value);
  if (base.form == Operand::symbol) {
    Space own;
    if (!symbolAddress(base, address, own))
      return false;
    if (space == Space::generic && (own == Space::shared || own == Space::local))
      address += own == Space::shared ? sharedWindow : localWindow;
    else if (space != Space::generic && space != own)
      return fail("NNT1703", std::string(base.text) + " does not lie in the memory that " + std::string(now->opcode) +
                                 " accesses");
  }
  inst.a = constant(address, 8);
  return true;
}

} // namespace nnterp::gpu::emulator
