// Runs one graph on the CPU and, as kernels in PTX, in the emulator, on the same data, and compares the results.
//
// A test of a kernel reads
//
//   test::Graph graph(R"(
//   func.func @main(%x: tensor<?x?x48xbf16> {nnterp.input = "x"}) -> (tensor<?x?x20xbf16> {nnterp.key = "y"}) {
//     %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<20x48xbf16>
//     %y = hybrid.linear %x, %w {nnterp.block = 0 : i64} : tensor<?x?x48xbf16>, tensor<20x48xbf16>
//     return %y : tensor<?x?x20xbf16>
//   })");
//   test::Values in{{"x", test::random(DType::bf16, {2, 5, 48}, 1)}, {"w", test::random(DType::bf16, {20, 48}, 2)}};
//   test::Values cpu = graph.onCpu(in, {{"y", {2, 5, 20}}}), gpu = graph.onDevice(in, {{"y", {2, 5, 20}}});
//   CHECK(test::difference(cpu.at("y"), gpu.at("y")) == "");
//   CHECK(graph.kernels() == std::vector<std::string>{"linear"});
//
// The graph is in the form of stage `simplified`. A result with `nnterp.kind = "state"` is memory that the call reads (hybrid.memory of
// the same name) and writes in place: its value before the call is among the given ones, the one after it among the results. Whatever
// fails, an access that the emulator objects to first of all, fails the test that is running.
#pragma once

#include "runtime/abi/Manifest.h"
#include "runtime/abi/Tensor.h"

#include <map>
#include <string>
#include <vector>

namespace nnterp::test {

using Values = std::map<std::string, Tensor>;
using Shapes = std::map<std::string, Shape>;

class Graph {
public:
  explicit Graph(const std::string &mlir);

  /// The results and states of one call. `results` are the extents of all results that are no states.
  Values onCpu(const Values &given, const Shapes &results) const { return run(cpu, false, given, results); }
  Values onDevice(const Values &given, const Shapes &results) const { return run(device, true, given, results); }

  /// The kinds of the program's kernels, in the order in which they are written: their names without the hash.
  std::vector<std::string> kernels() const;
  const std::string &ptx() const { return deviceCode; }

private:
  struct Compiled {
    Manifest manifest;
    std::string object;
  };
  Compiled compile(const std::string &mlir, bool forDevice);
  static Values run(const Compiled &program, bool onDevice, const Values &given, const Shapes &results);

  std::string deviceCode;
  Compiled cpu, device;
};

/// Floats, roughly normal, of standard deviation `scale`.
Tensor random(DType dtype, Shape shape, unsigned seed, double scale = 1);
/// Integers from `least` to below `end`.
Tensor randomIntegers(Shape shape, unsigned seed, int64_t least, int64_t end);
Tensor integers(Shape shape, const std::vector<int64_t> &values);
/// What stands at `index` of the first axis, as a tensor with an extent of 1 there.
Tensor row(const Tensor &t, int64_t index);

/// "" where two results agree as two orders of summation may: float32 within `bound` of the largest magnitude of the tensor, bfloat16
/// within that and one unit in the last place, and few entries not equal at all; integers are equal. Else what is wrong.
std::string difference(const Tensor &expected, const Tensor &got, double bound = 1e-6, double fewEntries = 0.02);
/// "" where both are the same bytes.
std::string bitDifference(const Tensor &expected, const Tensor &got);

} // namespace nnterp::test
