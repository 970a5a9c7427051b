// Variables of PTX and their initial values.
#include "runtime/gpu/emulator/ptx/Parser.h"

#include <algorithm>
#include <cstring>

namespace nnterp::gpu::emulator {

static constexpr uint64_t mostBytes = uint64_t(1) << 30;

bool Parser::variable(Space space, bool external, std::vector<Variable> &into) {
  Variable variable;
  variable.space = space;
  variable.line = token.line;
  uint64_t count = 1;
  bool typed = false;
  while (token.kind == TokenKind::word && token.text[0] == '.') {
    const std::string_view text = token.text.substr(1);
    advance();
    int64_t align = 0;
    if (text == "align") {
      if (!integer(align))
        return false;
      if (align < 1 || align > 4096 || (align & (align - 1)))
        return fail("NNT1700", "an alignment is a power of two, found " + std::to_string(align));
      variable.align = uint32_t(align);
    } else if (text == "v2" || text == "v4") {
      count = uint64_t(text[1] - '0');
    } else if (parseType(text, variable.type) && variable.type.bytes) {
      typed = true;
    } else {
      return fail("NNT1700", "expected the type of a variable, found \"." + std::string(text) + "\"");
    }
  }
  if (!typed)
    return unexpected("the type of a variable");
  variable.align = std::max<uint32_t>(variable.align, uint32_t(count * variable.type.bytes));
  if (!word(variable.name))
    return false;
  while (accept("[")) {
    int64_t extent = 0;
    if (token.is("]"))
      variable.dynamic = true;
    else if (!integer(extent))
      return false;
    if (extent < 0 || extent > int64_t(1) << 31)
      return fail("NNT1700", "an array has 0 to 2^31 entries, found " + std::to_string(extent));
    count *= uint64_t(extent);
    if (count > mostBytes)
      break;
    if (!expect("]"))
      return false;
  }
  if (count > mostBytes / variable.type.bytes)
    return fail("NNT1700", "a variable has at most 2^30 bytes");
  variable.bytes = count * variable.type.bytes;
  if (external && !(variable.dynamic && space == Space::shared))
    return fail("NNT1706", "the device code uses a variable outside itself: " + std::string(variable.name));
  if (accept("=") && !initialiser(variable))
    return false;
  into.push_back(std::move(variable));
  return expect(";");
}

bool Parser::initialiser(Variable &variable) {
  if (variable.space != Space::global && variable.space != Space::constant)
    return fail("NNT1700", "only .global and .const variables have initial values");
  const uint32_t unit = variable.type.bytes;
  variable.initial.assign(variable.bytes, 0);
  if (!accept("{"))
    return initialValue(variable, 0, unit);
  uint64_t at = 0;
  for (int depth = 1; depth;) {
    if (accept("{")) {
      ++depth;
      continue;
    }
    if (accept("}")) {
      --depth;
    } else {
      if (at + unit > variable.bytes)
        return fail("NNT1700", "more initial values than the variable has entries");
      if (!initialValue(variable, at, unit))
        return false;
      at += unit;
    }
    if (depth && !token.is("}") && !expect(","))
      return false;
  }
  return true;
}

bool Parser::initialValue(Variable &variable, uint64_t at, uint32_t unit) {
  if (token.kind == TokenKind::word) {
    const bool generic = token.is("generic");
    InitialAddress address;
    address.at = at;
    if (unit != 8)
      return fail("NNT1700", "an address takes 8 bytes, the entry of the variable has " + std::to_string(unit));
    if (generic)
      advance();
    if ((generic && !expect("(")) || !word(address.symbol) || (generic && !expect(")")) || !offsets(address.offset))
      return false;
    variable.addresses.push_back(address);
    return true;
  }
  Operand value;
  if (!number(value))
    return false;
  uint64_t bits = uint64_t(value.value);
  if (value.form == Operand::real64 && unit == 4) {
    double wide;
    std::memcpy(&wide, &bits, sizeof wide);
    const float narrow = float(wide);
    uint32_t narrowBits;
    std::memcpy(&narrowBits, &narrow, sizeof narrow);
    bits = narrowBits;
  }
  std::memcpy(variable.initial.data() + at, &bits, unit); // little endian: the low bytes come first
  return true;
}

} // namespace nnterp::gpu::emulator
