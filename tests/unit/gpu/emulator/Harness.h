// Runs PTX in the emulator: whole modules, and single instructions on lists of operands.
#pragma once

#include "runtime/gpu/emulator/Emulator.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nnterp::gpu::test {

/// `.version` and the like in front of the text.
std::string module(const std::string &text);

template <class To, class From> To cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline uint64_t bits(float value) { return cast<uint32_t>(value); }
inline uint64_t bits(double value) { return cast<uint64_t>(value); }
inline float real(uint64_t bits) { return cast<float>(uint32_t(bits)); }

/// A device with a program, and memory that is filled and read back. Everything is checked to succeed unless `diags` says otherwise.
class Machine {
public:
  /// Loads all kernels of the text.
  explicit Machine(const std::string &text, const EmulatorOptions &options = {}, const std::vector<KernelSpec> &kernels = {{"k", ""}});

  template <class T> void *put(const std::vector<T> &values) { return putBytes(values.data(), values.size() * sizeof(T)); }
  template <class T> std::vector<T> get(void *memory, size_t count) {
    std::vector<T> values(count);
    getBytes(values.data(), memory, count * sizeof(T));
    return values;
  }
  /// Values of parameters are pointers or integers of 64 bits.
  bool run(const std::vector<uint64_t> &params, uint32_t threads = 32, uint32_t blocks = 1, uint32_t dynamicShared = 0, int64_t kernel = 0);
  bool run(const std::vector<uint64_t> &params, const Launch &geometry);

  /// The text of the first diagnostic, with notes; addresses are replaced by `0x…`.
  std::string error() const;

  Diagnostics diags;
  std::unique_ptr<Device> device;

private:
  void *putBytes(const void *values, size_t bytes);
  void getBytes(void *values, void *memory, size_t bytes);
};

inline uint64_t address(void *memory) { return reinterpret_cast<uint64_t>(memory); }

/// Operands of one thread: up to four sources, and what has to come out.
struct Row {
  std::vector<uint64_t> sources;
  uint64_t expected;
};

/// Executes `instruction` once per row, with %a, %b, %c, %e as sources and %d as result, of the types named in `types` (result first:
/// "b32 b32 b32"; b16, b32, b64 or pred). On every instruction set of this CPU, in whole and in partial warps, behind a branch too.
void check(const std::string &instruction, const std::string &types, const std::vector<Row> &rows);

/// Rows of all pairs of values, by a function that says what has to come out.
std::vector<Row> pairs(const std::vector<uint64_t> &values, const std::function<uint64_t(uint64_t, uint64_t)> &expected);
std::vector<Row> pairs(const std::vector<uint64_t> &first, const std::vector<uint64_t> &second,
                       const std::function<uint64_t(uint64_t, uint64_t)> &expected);
std::vector<Row> singles(const std::vector<uint64_t> &values, const std::function<uint64_t(uint64_t)> &expected);
std::vector<Row> triples(const std::vector<uint64_t> &values, const std::function<uint64_t(uint64_t, uint64_t, uint64_t)> &expected);

/// Values where things happen: zeroes, extremes, subnormals, infinities, NaN, halves.
extern const std::vector<uint64_t> integers, floats, doubles, halves, brains;

/// NaN of a width and kind is one value, so that payloads are not compared.
uint64_t sameNan(uint64_t bits, const std::string &type);

} // namespace nnterp::gpu::test
