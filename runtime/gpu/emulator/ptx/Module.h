// PTX as parsed: variables, kernels, instructions with resolved registers. Texts point into the module's own copy of the source.
#pragma once

#include "runtime/abi/Diagnostic.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp::gpu::emulator {

enum class Kind : uint8_t { pred, bits, unsignedInt, signedInt, real, half, half2, brain, brain2 };

/// A scalar type: `.u32` is {unsignedInt, 4}. The paired types (`.f16x2`) have four bytes.
struct Type {
  Kind kind = Kind::bits;
  uint8_t bytes = 0; ///< of .pred: 0

  bool operator==(const Type &other) const { return kind == other.kind && bytes == other.bytes; }
  bool isFloat() const { return kind >= Kind::real; }
  bool isInteger() const { return kind == Kind::unsignedInt || kind == Kind::signedInt; }
};

/// `text` without the dot; false if it names no type.
bool parseType(std::string_view text, Type &type);
std::string name(Type type);

/// Where a named piece of memory lies.
enum class Space : uint8_t { generic, global, shared, local, constant, param };

/// Part of an initialiser: bytes, or the address of a variable plus an offset.
struct InitialAddress {
  uint64_t at = 0; ///< offset in the variable
  std::string_view symbol;
  int64_t offset = 0;
};

struct Variable {
  std::string_view name;
  Space space = Space::global;
  uint64_t bytes = 0; ///< 0 for `.extern .shared name[]`
  uint32_t align = 1;
  bool dynamic = false;
  int line = 0;
  Type type;
  std::vector<uint8_t> initial; ///< empty: zeroes
  std::vector<InitialAddress> addresses;
};

struct Operand {
  enum Form : uint8_t {
    none,
    reg,     ///< `id`; `negated` for `!%p`
    integer, ///< `value`
    real32,  ///< `value` holds the bits
    real64,
    special, ///< %tid.x: `text`
    symbol,  ///< variable `text` (+ `value`)
    memory,  ///< [parts[0] + value]
    vector,  ///< {parts}
    both,    ///< parts[0]|parts[1]
    sink     ///< `_`
  };
  Form form = none;
  bool negated = false;
  int id = -1;
  int64_t value = 0;
  std::string_view text;
  std::vector<Operand> parts;
};

struct Instruction {
  std::string_view opcode; ///< with its modifiers
  int line = 0;
  int guard = -1; ///< register of `@%p`
  bool guardNegated = false;
  std::vector<Operand> operands;
};

struct Register {
  std::string name;
  Type type;
};

struct Kernel {
  std::string_view name;
  int line = 0;
  std::vector<Variable> params; ///< `bytes` of a scalar is its type's
  std::vector<Register> registers;
  std::vector<Instruction> code;
  std::map<std::string_view, size_t> labels; ///< index of the instruction behind the label
  std::map<std::string_view, std::vector<std::string_view>> branchTables;
  std::vector<Variable> variables; ///< .shared, .local (and .const, .global) of the kernel's own
  uint32_t maxThreads = 0, exactThreads[3] = {0, 0, 0}; ///< .maxntid (product), .reqntid; 0: not given
};

struct Module {
  std::string text;
  std::vector<std::string_view> lines; ///< of `text`
  std::vector<Variable> variables;
  std::vector<Kernel> kernels;

  /// The text of a line (from 1) without blanks around it.
  std::string_view line(int number) const;
};

/// Errors: NNT1700, NNT1701, NNT1704, NNT1706.
std::unique_ptr<Module> parseModule(std::string_view text, Diagnostics &diags);

/// What errors in device code give as their place.
SourceLoc place(int line);

} // namespace nnterp::gpu::emulator
