// The kernel level of PTX: registers, labels, instructions and their operands.
#include "runtime/gpu/emulator/ptx/Parser.h"

namespace nnterp::gpu::emulator {

bool Parser::body(Kernel &kernel) {
  if (!expect("{"))
    return false;
  scopes.assign(1, {});
  while (!scopes.empty()) {
    if (accept("{"))
      scopes.emplace_back();
    else if (accept("}"))
      scopes.pop_back();
    else if (token.kind == TokenKind::end)
      return unexpected("\"}\"");
    else if (!statement(kernel))
      return false;
  }
  return true;
}

bool Parser::statement(Kernel &kernel) {
  if (accept(";"))
    return true;
  Instruction instruction;
  instruction.line = token.line;
  if (accept("@")) {
    instruction.guardNegated = accept("!");
    instruction.guard = findRegister(token.text);
    if (instruction.guard < 0)
      return fail("NNT1704", "no such register: " + std::string(token.text));
    advance();
  } else if (token.kind == TokenKind::word && token.text[0] == '.') {
    return bodyDirective(kernel);
  }
  if (token.kind != TokenKind::word)
    return unexpected("an instruction");
  instruction.opcode = token.text;
  const int line = token.line;
  advance();
  if (instruction.guard < 0 && accept(":")) {
    if (token.is(".branchtargets"))
      return branchTargets(kernel, instruction.opcode);
    if (!kernel.labels.emplace(instruction.opcode, kernel.code.size()).second)
      return fail("NNT1700", "the label " + std::string(instruction.opcode) + " stands twice", line);
    return true;
  }
  return this->instruction(kernel, std::move(instruction));
}

bool Parser::bodyDirective(Kernel &kernel) {
  if (token.is(".loc") || token.is(".file")) {
    skipLine();
    return true;
  }
  if (token.is(".pragma"))
    return skipStatement();
  if (accept(".reg"))
    return registers(kernel);
  bool external = accept(".extern");
  for (auto [text, space] : {std::pair(".shared", Space::shared),
                             {".local", Space::local},
                             {".const", Space::constant},
                             {".global", Space::global}})
    if (accept(text))
      return variable(space, external, kernel.variables);
  return unexpected("a declaration or an instruction");
}

bool Parser::registers(Kernel &kernel) {
  Type type;
  std::string_view text;
  if (!word(text))
    return false;
  if (text[0] != '.' || !parseType(text.substr(1), type) || type.bytes == 1)
    return fail("NNT1700", "expected the type of a register, found \"" + std::string(text) + "\"");
  Scope &scope = scopes.back();
  do {
    std::string_view name;
    if (!word(name))
      return false;
    const int first = int(kernel.registers.size());
    if (!accept("<")) {
      scope.names[name] = first;
      kernel.registers.push_back({std::string(name), type});
      continue;
    }
    int64_t count = 0;
    if (!integer(count) || !expect(">"))
      return false;
    if (count < 1 || count > 1 << 20)
      return fail("NNT1700", "expected 1 to 2^20 registers, found " + std::to_string(count));
    scope.ranges.push_back({name, first, int(count)});
    for (int64_t i = 0; i < count; ++i)
      kernel.registers.push_back({std::string(name) + std::to_string(i), type});
  } while (accept(","));
  return expect(";");
}

int Parser::findRegister(std::string_view name) const {
  const size_t stem = name.find_last_not_of("0123456789") + 1;
  int64_t number = -1;
  if (stem < name.size() && name.size() - stem < 8 && (name[stem] != '0' || stem + 1 == name.size()))
    number = std::stoll(std::string(name.substr(stem)));
  for (size_t s = scopes.size(); s-- > 0;) {
    const auto found = scopes[s].names.find(name);
    if (found != scopes[s].names.end())
      return found->second;
    for (const Range &range : scopes[s].ranges)
      if (range.prefix == name.substr(0, stem) && number >= 0 && number < range.count)
        return range.first + int(number);
  }
  return -1;
}

bool Parser::branchTargets(Kernel &kernel, std::string_view label) {
  advance();
  std::vector<std::string_view> &targets = kernel.branchTables[label];
  do {
    if (!word(targets.emplace_back()))
      return false;
  } while (accept(","));
  return expect(";");
}

bool Parser::instruction(Kernel &kernel, Instruction instruction) {
  if (instruction.opcode.substr(0, 4) == "call")
    return fail("NNT1706", "functions are not called: " + std::string(module.line(instruction.line)), instruction.line);
  if (!token.is(";") && !list(kernel, ";", instruction.operands))
    return false;
  kernel.code.push_back(std::move(instruction));
  return expect(";");
}

bool Parser::list(Kernel &kernel, std::string_view close, std::vector<Operand> &operands) {
  do {
    if (!operand(kernel, operands.emplace_back(), close == "}"))
      return false;
  } while (accept(","));
  return token.is(close) || unexpected("\",\" or \"" + std::string(close) + "\"");
}

bool Parser::number(Operand &operand) {
  const bool negative = accept("-");
  switch (token.kind) {
  case TokenKind::integer:
    operand.form = Operand::integer;
    operand.value = int64_t(negative ? 0 - token.bits : token.bits);
    break;
  case TokenKind::real32:
  case TokenKind::real64:
    operand.form = token.kind == TokenKind::real32 ? Operand::real32 : Operand::real64;
    operand.value = int64_t(token.bits ^ (negative ? uint64_t(1) << (operand.form == Operand::real32 ? 31 : 63) : 0));
    break;
  default:
    return unexpected("a number");
  }
  advance();
  return true;
}

/// `+4`, `+-8`, `-4`, or nothing.
bool Parser::offsets(int64_t &value) {
  while (token.is("+") || token.is("-")) {
    const bool minus = token.is("-");
    advance();
    int64_t part = 0;
    if (!integer(part))
      return false;
    value = int64_t(uint64_t(value) + (minus ? 0 - uint64_t(part) : uint64_t(part)));
  }
  return true;
}

bool Parser::memoryOperand(Kernel &kernel, Operand &operand) {
  operand.form = Operand::memory;
  Operand &base = operand.parts.emplace_back();
  if (token.kind == TokenKind::integer || token.is("-")) {
    if (!number(base))
      return false;
  } else {
    std::string_view name;
    if (!word(name))
      return false;
    base.text = name;
    base.id = findRegister(name);
    base.form = base.id >= 0 ? Operand::reg : Operand::symbol;
    if (base.id < 0 && name[0] == '%')
      return fail("NNT1704", "no such register: " + std::string(name));
  }
  return offsets(operand.value) && expect("]");
}

bool Parser::operand(Kernel &kernel, Operand &operand, bool part) {
  if (!part && accept("{")) {
    operand.form = Operand::vector;
    return list(kernel, "}", operand.parts) && expect("}");
  }
  if (accept("["))
    return memoryOperand(kernel, operand);
  if (token.is("-") || token.kind == TokenKind::integer || token.kind == TokenKind::real32 ||
      token.kind == TokenKind::real64)
    return number(operand);
  operand.negated = accept("!");
  if (token.is("_") && !operand.negated) {
    operand.form = Operand::sink;
  } else if (token.kind == TokenKind::word) {
    operand.text = token.text;
    operand.id = findRegister(token.text);
    operand.form = operand.id >= 0 ? Operand::reg : token.text[0] == '%' ? Operand::special : Operand::symbol;
  } else {
    return unexpected("an operand");
  }
  advance();
  if (operand.form == Operand::symbol)
    return offsets(operand.value);
  if ((operand.form == Operand::reg || operand.form == Operand::sink) && !part && accept("|")) {
    Operand first = std::move(operand), second;
    if (!this->operand(kernel, second, true))
      return false;
    operand = {};
    operand.form = Operand::both;
    operand.parts = {std::move(first), std::move(second)};
  }
  return true;
}

} // namespace nnterp::gpu::emulator
