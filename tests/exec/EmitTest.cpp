// Emission end to end: a program in the form of stage `kernels` becomes a shared object that computes the right
// numbers.
#include "tests/exec/Compiled.h"

#include "passes/Pipelines.h"
#include "runtime/codegen/Emit.h"
#include "runtime/exec/HostTier.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace nnterp;

namespace {

/// One outlined function, called twice with other weights and another tap each time: y = tanh(x W^T), W bfloat16.
const char *twoBlocks = R"(
func.func private @block(%frame: !llvm.ptr, %site: i64, %x: tensor<?x4xf32> {bufferization.writable = false},
                         %destination: tensor<?x4xf32>) -> tensor<?x4xf32>
    attributes {nnterp.sites = dense<[[2, 3], [4, 5]]> : tensor<2x2xi64>} {
  %zero = arith.constant 0.0 : f64
  %axis = arith.constant 0 : index
  %weight = nnterp.slot %frame, %site [0] : memref<4x4xbf16>
  %w = bufferization.to_tensor %weight restrict : memref<4x4xbf16> to tensor<4x4xbf16>
  %tap = nnterp.slot %frame, %site [1] : memref<?x4xf32>
  %rows = tensor.dim %x, %axis : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x4xf64>) -> tensor<?x4xf64>
  %sum = linalg.generic {indexing_maps = [affine_map<(r, n, k) -> (r, k)>, affine_map<(r, n, k) -> (n, k)>,
                                          affine_map<(r, n, k) -> (r, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x4xf32>, tensor<4x4xbf16>) outs(%start : tensor<?x4xf64>) {
  ^bb0(%a: f32, %b: bf16, %o: f64):
    %wideA = arith.extf %a : f32 to f64
    %wideB = arith.extf %b : bf16 to f64
    %product = arith.mulf %wideA, %wideB : f64
    %next = arith.addf %o, %product : f64
    linalg.yield %next : f64
  } -> tensor<?x4xf64>
  %out = tensor.empty(%rows) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, n) -> (r, n)>, affine_map<(r, n) -> (r, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<?x4xf64>) outs(%out : tensor<?x4xf32>) {
  ^bb0(%a: f64, %o: f32):
    %narrow = arith.truncf %a : f64 to f32
    %t = math.tanh %narrow : f32
    linalg.yield %t : f32
  } -> tensor<?x4xf32>
  bufferization.materialize_in_destination %y in restrict writable %tap : (tensor<?x4xf32>, memref<?x4xf32>) -> ()
  %result = bufferization.materialize_in_destination %y in %destination
      : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
func.func @nnterp_main(%frame: !llvm.ptr) attributes {nnterp.sites = dense<[[0, 1]]> : tensor<1x2xi64>} {
  %axis = arith.constant 0 : index
  %first = arith.constant 0 : i64
  %second = arith.constant 1 : i64
  %in = nnterp.slot %frame, %first [0] : memref<?x4xf32>
  %out = nnterp.slot %frame, %first [1] : memref<?x4xf32>
  %x = bufferization.to_tensor %in restrict : memref<?x4xf32> to tensor<?x4xf32>
  %rows = memref.dim %in, %axis : memref<?x4xf32>
  %e0 = tensor.empty(%rows) : tensor<?x4xf32>
  %h = func.call @block(%frame, %first, %x, %e0) : (!llvm.ptr, i64, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  nnterp.progress %frame, 1 of 2
  %e1 = tensor.empty(%rows) : tensor<?x4xf32>
  %y = func.call @block(%frame, %second, %h, %e1) : (!llvm.ptr, i64, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  nnterp.progress %frame, 2 of 2
  nnterp.fail %frame, entry 7 reason 1
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<?x4xf32>, memref<?x4xf32>) -> ()
  return
}
)";

uint16_t toBFloat(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return uint16_t(bits >> 16);
}

/// The same in C++; the weights are multiples of 1/4, exact in bfloat16.
std::vector<float> block(const std::vector<float> &x, const std::vector<float> &w) {
  std::vector<float> y(x.size());
  for (size_t r = 0; r < x.size() / 4; ++r)
    for (size_t n = 0; n < 4; ++n) {
      double sum = 0;
      for (size_t k = 0; k < 4; ++k)
        sum += double(x[4 * r + k]) * double(w[4 * n + k]);
      y[4 * r + n] = float(std::tanh(double(float(sum))));
    }
  return y;
}

std::string compiled(const std::string &text, const std::string &tier) {
  Diagnostics diags;
  std::string bytes = test::compileText(text, tier, diags);
  for (const Diagnostic &diagnostic : diags.all())
    FAIL_CHECK(format(diagnostic));
  REQUIRE_FALSE(bytes.empty());
  return bytes;
}

/// Emits a module that is in the LLVM dialect already.
bool emitLlvm(const char *text, std::string &bytes, Diagnostics &diags) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  return emitSharedObject(*module, tiers().front(), "", bytes, diags);
}

} // namespace

TEST_CASE("a program of two blocks computes, taps, reports and frees") {
  std::vector<float> x = {0.5f, -1, 2, 0.25f, 1, 1, -3, 0.125f, 0, -0.5f, 0.75f, 1.5f};
  std::vector<float> w[2];
  for (int block = 0; block < 2; ++block)
    for (int i = 0; i < 16; ++i)
      w[block].push_back(float((i * 7 + block * 5) % 9 - 4) / 4);
  std::vector<float> h = block(x, w[0]), expected = block(h, w[1]);
  std::vector<uint16_t> narrow[2];
  for (int block = 0; block < 2; ++block)
    for (float value : w[block])
      narrow[block].push_back(toBFloat(value));

  for (const std::string &tier : test::runnableTiers()) {
    CAPTURE(tier);
    test::Program program(compiled(twoBlocks, tier));
    REQUIRE(program.opened());
    std::vector<float> y(x.size()), tap0(x.size()), tap1(x.size());
    REQUIRE(program.run("nnterp_main",
                        {test::slot(x, {3, 4}), test::slot(y, {3, 4}), test::slot(narrow[0], {4, 4}),
                         test::slot(tap0, {3, 4}), test::slot(narrow[1], {4, 4}), test::slot(tap1, {3, 4})}));
    CHECK(tap0 == h);
    CHECK(tap1 == expected);
    CHECK(y == expected);
    CHECK(program.allocations > 0);
    CHECK(program.allocations == program.releases);
    REQUIRE(program.events.size() == 3);
    CHECK((program.events[1].what == "progress" && program.events[1].first == 2 && program.events[1].second == 2));
    CHECK((program.events[2].what == "fail" && program.events[2].first == 7 && program.events[2].second == 1));
    CHECK_FALSE(program.run("block", {})); // outlined functions are not exported
  }
}

TEST_CASE("float16 is widened exactly") {
  std::string text;
  for (const char *type : {"f32", "f64"}) {
    std::string t = type;
    text += "func.func @widen_" + t +
            "(%frame: !llvm.ptr) attributes {nnterp.sites = dense<[[0, 1]]> : tensor<1x2xi64>} {\n"
            "  %site = arith.constant 0 : i64\n"
            "  %in = nnterp.slot %frame, %site [0] : memref<?xf16>\n"
            "  %out = nnterp.slot %frame, %site [1] : memref<?x" +
            t +
            ">\n"
            "  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = "
            "[\"parallel\"]}\n"
            "      ins(%in : memref<?xf16>) outs(%out : memref<?x" +
            t +
            ">) {\n"
            "  ^bb0(%a: f16, %o: " +
            t +
            "):\n"
            "    %r = arith.extf %a : f16 to " +
            t +
            "\n"
            "    linalg.yield %r : " +
            t +
            "\n"
            "  }\n"
            "  return\n}\n";
  }
  std::vector<uint16_t> half(1 << 16);
  for (size_t i = 0; i < half.size(); ++i)
    half[i] = uint16_t(i);
  test::Program program(compiled(text, "generic"));
  std::vector<float> y32(half.size());
  std::vector<double> y64(half.size());
  REQUIRE(program.run("widen_f32", {test::slot(half, {1 << 16}), test::slot(y32, {1 << 16})}));
  REQUIRE(program.run("widen_f64", {test::slot(half, {1 << 16}), test::slot(y64, {1 << 16})}));
  size_t wrong = 0;
  for (int i = 0; i < 1 << 16; ++i) {
    int exponent = (i >> 10) & 31, fraction = i & 1023;
    double expected = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
      expected = fraction ? std::nan("") : HUGE_VAL;
    if (i & 0x8000)
      expected = -expected;
    auto same = [&](double y) {
      return std::isnan(expected) ? std::isnan(y) : y == expected && std::signbit(y) == std::signbit(expected);
    };
    wrong += !same(double(y32[size_t(i)])) || !same(y64[size_t(i)]);
  }
  CHECK(wrong == 0);
}

TEST_CASE("narrowing to bfloat16 rounds to even on every tier, denormals included") {
  std::string text = R"(
func.func @nnterp_main(%frame: !llvm.ptr) attributes {nnterp.sites = dense<[[0, 1]]> : tensor<1x2xi64>} {
  %site = arith.constant 0 : i64
  %in = nnterp.slot %frame, %site [0] : memref<?xf32>
  %out = nnterp.slot %frame, %site [1] : memref<?xbf16>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%in : memref<?xf32>) outs(%out : memref<?xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  }
  return
})";
  std::vector<float> x;
  std::vector<uint16_t> expected;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 0x3fff) {
    float value;
    uint32_t low = uint32_t(bits);
    std::memcpy(&value, &low, 4);
    if (std::isnan(value))
      continue;
    x.push_back(value);
    uint32_t upper = low >> 16, rest = low & 0xffff;
    expected.push_back(uint16_t(upper + (rest > 0x8000 || (rest == 0x8000 && (upper & 1)))));
  }
  for (const std::string &tier : test::runnableTiers()) {
    test::Program program(compiled(text, tier));
    std::vector<uint16_t> y(x.size());
    REQUIRE(program.run("nnterp_main", {test::slot(x, {int64_t(x.size())}), test::slot(y, {int64_t(y.size())})}));
    CAPTURE(tier);
    CHECK((y == expected));
  }
}

TEST_CASE("products and sums are not contracted") {
  // (1 + 2^-12)^2 - (1 + 2^-11) is 0 with two roundings and 2^-24 with one.
  std::string text = R"(
func.func @nnterp_main(%frame: !llvm.ptr) attributes {nnterp.sites = dense<[[0, 1]]> : tensor<1x2xi64>} {
  %site = arith.constant 0 : i64
  %in = nnterp.slot %frame, %site [0] : memref<?xf32>
  %out = nnterp.slot %frame, %site [1] : memref<?xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%in : memref<?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %r = arith.subf %p, %o : f32
    linalg.yield %r : f32
  }
  return
})";
  for (const std::string &tier : test::runnableTiers()) {
    test::Program program(compiled(text, tier));
    std::vector<float> x(37, 1 + 0x1p-12f), y(37, 1 + 0x1p-11f);
    REQUIRE(program.run("nnterp_main", {test::slot(x, {37}), test::slot(y, {37})}));
    CHECK(y == std::vector<float>(37, 0.0f));
  }
}

TEST_CASE("the same module gives the same bytes") {
  CHECK(compiled(twoBlocks, "generic") == compiled(twoBlocks, "generic"));
}

TEST_CASE("a module of another dialect is refused") {
  mlir::DialectRegistry registry;
  registerForPipelines(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>("func.func @f() {\n  return\n}", &context);
  REQUIRE(module);
  std::string bytes;
  Diagnostics diags;
  CHECK_FALSE(emitSharedObject(*module, tiers().front(), "", bytes, diags));
  REQUIRE(diags.all().size() == 1);
  CHECK(format(diags.all()[0]) ==
        "error NNT1110: no code can be generated for tier generic: cannot be converted to LLVM IR: missing "
        "`LLVMTranslationDialectInterface` registration for dialect for op: func.func\n");
  CHECK(llvmIrText(*module, tiers().front()).empty());
}

TEST_CASE("without a linker there is no shared object") {
  std::string bytes, path = std::getenv("PATH");
  Diagnostics diags;
  setenv("PATH", "/nowhere", 1);
  bool done = emitLlvm("llvm.func @f() {\n  llvm.return\n}", bytes, diags);
  setenv("PATH", path.c_str(), 1);
  CHECK_FALSE(done);
  REQUIRE(diags.all().size() == 1);
  CHECK(format(diags.all()[0]) == "error NNT1112: expected ld.lld in PATH, found no such program\n");
}

TEST_CASE("LLVM IR text is for the tier's machine") {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>("llvm.func @f() {\n  llvm.return\n}", &context);
  std::string text = llvmIrText(*module, tiers().front());
  CHECK(text.find("target triple = ") != std::string::npos);
  CHECK(text.find("target datalayout = ") != std::string::npos);
  CHECK(text.find("define void @f()") != std::string::npos);
}

TEST_CASE("a call of a library is refused by name") {
  std::string bytes;
  Diagnostics diags;
  CHECK_FALSE(
      emitLlvm("llvm.func @expf(f32) -> f32\n"
               "llvm.func @f(%x: f32) -> f32 {\n  %y = llvm.call @expf(%x) : (f32) -> f32\n  llvm.return %y : f32\n}",
               bytes, diags));
  REQUIRE(diags.all().size() == 1);
  CHECK(format(diags.all()[0]) ==
        "error NNT1111: the generated code calls \"expf\", expected calls through the host's table only\n");
  CHECK(bytes.empty());
}

TEST_CASE("an intrinsic that becomes a call of a library is refused") {
  std::string bytes;
  Diagnostics diags;
  CHECK_FALSE(
      emitLlvm("llvm.func @f(%x: f64) -> f64 {\n  %y = llvm.intr.exp(%x) : (f64) -> f64\n  llvm.return %y : f64\n}",
               bytes, diags));
  REQUIRE(diags.all().size() == 1);
  CHECK(diags.all()[0].code == "NNT1111");
}

TEST_CASE("tiers are found by name and the host has one") {
  CHECK(tierByName("avx1024") == nullptr);
  REQUIRE(tierByName(hostTier()) != nullptr);
  CHECK(tierByName(hostTier())->name == hostTier());
}
