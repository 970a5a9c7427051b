// Recursive descent over PTX tokens; the first error ends it.
#pragma once

#include "runtime/gpu/emulator/ptx/Lexer.h"
#include "runtime/gpu/emulator/ptx/Module.h"

namespace nnterp::gpu::emulator {

class Parser {
public:
  Parser(Module &module, Diagnostics &diags) : module(module), diags(diags), lexer(module.text) { advance(); }
  bool run();

private:
  // Names of registers in one pair of braces: each on its own, or `%r<39>` as a range.
  struct Range {
    std::string_view prefix;
    int first, count;
  };
  struct Scope {
    std::map<std::string_view, int> names;
    std::vector<Range> ranges;
  };

  void advance() { token = lexer.next(); }
  bool fail(std::string code, std::string message, int line = 0);
  bool unexpected(const std::string &wanted);
  bool expect(std::string_view mark);
  bool accept(std::string_view mark);
  bool integer(int64_t &value);
  bool word(std::string_view &text);
  void skipLine();
  bool skipBraces();
  bool skipStatement();

  // Module.cpp level: ParserModule.cpp
  bool header();
  bool target();
  bool declaration();
  bool variable(Space space, bool external, std::vector<Variable> &into);
  bool initialiser(Variable &variable);
  bool initialValue(Variable &variable, uint64_t at, uint32_t unit);
  bool entry();
  bool parameters(Kernel &kernel);
  bool kernelDirectives(Kernel &kernel);

  // Kernel level: ParserKernel.cpp
  bool body(Kernel &kernel);
  bool statement(Kernel &kernel);
  bool bodyDirective(Kernel &kernel);
  bool registers(Kernel &kernel);
  bool branchTargets(Kernel &kernel, std::string_view label);
  bool instruction(Kernel &kernel, Instruction instruction);
  bool operand(Kernel &kernel, Operand &operand, bool part = false); ///< a part has no parts
  bool memoryOperand(Kernel &kernel, Operand &operand);
  bool list(Kernel &kernel, std::string_view close, std::vector<Operand> &operands);
  bool number(Operand &operand);
  bool offsets(int64_t &value);
  int findRegister(std::string_view name) const;

  Module &module;
  Diagnostics &diags;
  Lexer lexer;
  Token token;
  std::vector<Scope> scopes;
};

} // namespace nnterp::gpu::emulator
