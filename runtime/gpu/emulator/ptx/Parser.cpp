// The module level of PTX: header, declarations, entries with parameters.
#include "runtime/gpu/emulator/ptx/Parser.h"

#include <algorithm>
#include <cstring>

namespace nnterp::gpu::emulator {

bool Parser::fail(std::string code, std::string message, int line) {
  diags.error(std::move(code), place(line ? line : token.line), std::move(message));
  return false;
}

bool Parser::unexpected(const std::string &wanted) {
  const std::string found =
      token.kind == TokenKind::end ? "the end of the text" : "\"" + std::string(token.text) + "\"";
  return fail("NNT1700", "expected " + wanted + ", found " + found);
}

bool Parser::accept(std::string_view mark) {
  if (!token.is(mark))
    return false;
  advance();
  return true;
}

bool Parser::expect(std::string_view mark) { return accept(mark) || unexpected("\"" + std::string(mark) + "\""); }

bool Parser::integer(int64_t &value) {
  const bool negative = accept("-");
  if (token.kind != TokenKind::integer)
    return unexpected("a number");
  value = int64_t(negative ? 0 - token.bits : token.bits);
  advance();
  return true;
}

bool Parser::word(std::string_view &text) {
  if (token.kind != TokenKind::word)
    return unexpected("a name");
  text = token.text;
  advance();
  return true;
}

void Parser::skipLine() {
  for (const int line = token.line; token.kind != TokenKind::end && token.line == line;)
    advance();
}

bool Parser::skipBraces() {
  while (token.kind != TokenKind::end && !token.is("{"))
    advance();
  int depth = 0;
  do {
    if (token.kind == TokenKind::end)
      return unexpected("\"}\"");
    depth += token.is("{") - token.is("}");
    advance();
  } while (depth);
  return true;
}

bool Parser::skipStatement() {
  while (token.kind != TokenKind::end && !token.is(";"))
    advance();
  return expect(";");
}

bool Parser::run() {
  if (!header())
    return false;
  while (token.kind != TokenKind::end)
    if (!declaration())
      return false;
  return true;
}

bool Parser::header() {
  if (!expect(".version"))
    return false;
  if (token.kind != TokenKind::real64)
    return unexpected("a version such as 7.0");
  const int line = token.line;
  double version = 0;
  std::memcpy(&version, &token.bits, sizeof version);
  if (version < 6.0 || version >= 10.0)
    return fail("NNT1701", "the emulator reads PTX of version 6.0 to 9.x, found " + std::string(token.text), line);
  advance();
  return target();
}

bool Parser::target() {
  if (!expect(".target"))
    return false;
  const std::string text(token.text);
  const int number = text.compare(0, 3, "sm_") == 0 ? std::atoi(text.c_str() + 3) : 0;
  if (number < 70 || number > 80)
    return fail("NNT1701", "the emulator executes code for sm_70 to sm_80, found \"" + text + "\"");
  advance();
  while (accept(","))
    advance(); // `debug` and the like change no results
  if (!expect(".address_size"))
    return false;
  if (token.bits != 64)
    return fail("NNT1701", "addresses have 64 bits, found " + std::string(token.text));
  advance();
  return true;
}

bool Parser::declaration() {
  if (token.is(".file") || token.is(".loc")) {
    skipLine();
    return true;
  }
  if (token.is(".section"))
    return skipBraces();
  if (token.is(".pragma"))
    return skipStatement();
  bool external = false;
  while (token.is(".visible") || token.is(".extern") || token.is(".weak") || token.is(".common")) {
    external |= token.is(".extern");
    advance();
  }
  if (accept(".entry"))
    return entry();
  if (token.is(".func"))
    return fail("NNT1706",
                external ? "the device code calls a function outside itself: " + std::string(module.line(token.line))
                         : "functions besides kernels are not executed: " + std::string(module.line(token.line)));
  for (auto [text, space] :
       {std::pair(".global", Space::global), {".const", Space::constant}, {".shared", Space::shared}})
    if (accept(text))
      return variable(space, external, module.variables);
  return unexpected("a declaration");
}

bool Parser::entry() {
  Kernel kernel;
  kernel.line = token.line;
  if (!word(kernel.name) || (token.is("(") && !parameters(kernel)) || !kernelDirectives(kernel) || !body(kernel))
    return false;
  module.kernels.push_back(std::move(kernel));
  return true;
}

bool Parser::parameters(Kernel &kernel) {
  if (!expect("("))
    return false;
  while (!accept(")")) {
    if (!kernel.params.empty() && !expect(","))
      return false;
    if (!expect(".param"))
      return false;
    Variable param;
    param.space = Space::param;
    param.line = token.line;
    while (token.kind == TokenKind::word && token.text[0] == '.') {
      const std::string_view text = token.text.substr(1);
      advance();
      int64_t align = 0;
      if (text == "align") {
        if (!integer(align))
          return false;
        if (!param.type.bytes) // behind `.ptr` it is the alignment of what the pointer points to
          param.align = uint32_t(align);
      } else if (text != "ptr" && text != "global" && text != "const" && text != "shared" && text != "local" &&
                 !(parseType(text, param.type) && param.type.bytes)) {
        return fail("NNT1700", "expected the type of a parameter, found \"." + std::string(text) + "\"");
      }
    }
    if (!param.type.bytes)
      return unexpected("the type of a parameter");
    if (!word(param.name))
      return false;
    int64_t extent = 1;
    if (accept("[") && (!integer(extent) || !expect("]")))
      return false;
    if (extent < 1 || extent > 4096)
      return fail("NNT1700", "a parameter has 1 to 4096 entries, found " + std::to_string(extent));
    param.bytes = uint64_t(extent) * param.type.bytes;
    param.align = std::max<uint32_t>(param.align, param.type.bytes);
    kernel.params.push_back(param);
  }
  return true;
}

bool Parser::kernelDirectives(Kernel &kernel) {
  while (!token.is("{")) {
    const bool exact = token.is(".reqntid"), most = token.is(".maxntid");
    if (exact || most || token.is(".minnctapersm") || token.is(".maxnreg")) {
      advance();
      int64_t sizes[3] = {1, 1, 1}, n = 0;
      do {
        if (n == 3)
          return unexpected("at most three numbers");
        if (!integer(sizes[n++]))
          return false;
      } while (accept(","));
      for (int i = 0; exact && i < 3; ++i)
        kernel.exactThreads[i] = uint32_t(sizes[i]);
      if (most)
        kernel.maxThreads = uint32_t(sizes[0] * sizes[1] * sizes[2]);
    } else if (token.is(".pragma")) {
      if (!skipStatement())
        return false;
    } else {
      return unexpected("\"{\"");
    }
  }
  return true;
}

std::unique_ptr<Module> parseModule(std::string_view text, Diagnostics &diags) {
  auto module = std::make_unique<Module>();
  module->text = std::string(text);
  const std::string_view whole = module->text;
  for (size_t at = 0; at <= whole.size();) {
    const size_t stop = std::min(whole.find('\n', at), whole.size());
    module->lines.push_back(whole.substr(at, stop - at));
    at = stop + 1;
  }
  if (!Parser(*module, diags).run())
    return nullptr;
  return module;
}

} // namespace nnterp::gpu::emulator
