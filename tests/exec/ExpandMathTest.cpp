// Compares compiled elementary functions with the C library's in long double, over bit patterns of the whole range.
#include "tests/exec/Compiled.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

using namespace nnterp;

namespace {

using Truth = long double (*)(long double);
struct Function {
  const char *name; ///< the op's name in the math dialect
  Truth truth;
};

long double reciprocalRoot(long double x) { return 1 / std::sqrt(x); }

const Function functions[] = {{"exp", std::exp}, {"log", std::log}, {"log1p", std::log1p}, {"tanh", std::tanh},
                              {"erf", std::erf}, {"sin", std::sin}, {"cos", std::cos},     {"rsqrt", reciprocalRoot}};

/// A program with one entry per function and type: slot 0 to slot 1, elementwise.
std::string source() {
  std::string text;
  for (const Function &function : functions)
    for (const char *type : {"f32", "f64"}) {
      std::string memref = std::string("memref<?x") + type + ">", tensor = std::string("tensor<?x") + type + ">";
      text += "func.func @" + std::string(function.name) + "_" + type +
              "(%frame: !llvm.ptr) attributes {nnterp.sites = dense<[[0, 1]]> : tensor<1x2xi64>} {\n"
              "  %site = arith.constant 0 : i64\n"
              "  %in = nnterp.slot %frame, %site [0] : " +
              memref +
              "\n"
              "  %out = nnterp.slot %frame, %site [1] : " +
              memref +
              "\n"
              "  %x = bufferization.to_tensor %in restrict : " +
              memref + " to " + tensor +
              "\n"
              "  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types "
              "= [\"parallel\"]}\n"
              "      ins(%x : " +
              tensor + ") outs(%x : " + tensor +
              ") {\n"
              "  ^bb0(%a: " +
              type + ", %o: " + type +
              "):\n"
              "    %r = math." +
              function.name + " %a : " + type +
              "\n"
              "    linalg.yield %r : " +
              type +
              "\n"
              "  } -> " +
              tensor +
              "\n"
              "  bufferization.materialize_in_destination %y in restrict writable %out : (" +
              tensor + ", " + memref +
              ") -> ()\n"
              "  return\n}\n";
    }
  return text;
}

template <typename T> std::vector<T> evaluate(test::Program &program, const Function &function, std::vector<T> x) {
  std::vector<T> y(x.size());
  std::string name = std::string(function.name) + (sizeof(T) == 4 ? "_f32" : "_f64");
  REQUIRE(program.run(name.c_str(), {test::slot(x, {int64_t(x.size())}), test::slot(y, {int64_t(y.size())})}));
  return y;
}

/// |y - truth| in units of the last place of the truth, rounded to T; 0 where both are the same infinity or NaN.
template <typename T> double ulps(T y, long double truth) {
  if (std::isnan(truth) || std::isnan(y))
    return std::isnan(truth) && std::isnan(y) ? 0 : 1e9;
  T rounded = T(truth);
  if (std::isinf(rounded) || std::isinf(y))
    return rounded == y ? 0 : 1e9;
  int exponent;
  std::frexp(rounded, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return double(std::fabs((long double)y - truth) / std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

struct Worst {
  double ulp = 0;
  double x = 0;
};
template <typename T> Worst worst(const Function &function, const std::vector<T> &x, const std::vector<T> &y) {
  Worst result;
  for (size_t i = 0; i < x.size(); ++i)
    if (double u = ulps(y[i], function.truth(x[i])); u > result.ulp)
      result = {u, double(x[i])};
  return result;
}

/// One compiled program per tier, compiled once for all test cases.
test::Program &programFor(const std::string &tier) {
  static std::map<std::string, std::unique_ptr<test::Program>> programs;
  std::unique_ptr<test::Program> &program = programs[tier];
  if (!program) {
    Diagnostics diags;
    std::string bytes = test::compileText(source(), tier, diags);
    for (const Diagnostic &diagnostic : diags.all())
      FAIL(format(diagnostic));
    program = std::make_unique<test::Program>(bytes);
    INFO(program->error);
    REQUIRE(program->opened());
  }
  return *program;
}

template <typename T, typename Integer> T fromBits(Integer bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

bool isPeriodic(const Function &function) {
  return function.truth == Truth(std::sin) || function.truth == Truth(std::cos);
}

constexpr double reducedExactly = 0x1p20; ///< sin and cos promise accuracy up to here

/// Every 4099th bit pattern of float32: all exponents, both signs, NaNs and infinities.
std::vector<float> float32Samples(const Function &function) {
  std::vector<float> samples;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4099)
    if (float x = fromBits<float>(uint32_t(bits)); !isPeriodic(function) || !(std::fabs(x) > reducedExactly))
      samples.push_back(x);
  return samples;
}

/// Bit patterns of float64 at random, half of them where the function is neither constant nor its argument.
std::vector<double> float64Samples(const Function &function) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-30, isPeriodic(function) ? 20 : 10);
  std::vector<double> samples;
  for (int i = 0; i < 200000; ++i) {
    double x = fromBits<double>(random());
    if (!isPeriodic(function) || !(std::fabs(x) > reducedExactly))
      samples.push_back(x);
    double sign = random() & 1 ? 1 : -1;
    samples.push_back(sign * std::exp2(exponent(random)));
  }
  if (isPeriodic(function)) // the nearest float64 values to multiples of pi/2, where reduction cancels most
    for (int k = 1; k < 667544; k += 3)
      samples.push_back(double(k * 1.57079632679489661923132169163975144L));
  return samples;
}

template <typename T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T x : {T(0), T(1), T(0.5), T(20), T(1e30), Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(),
              Limits::min(), Limits::max(), Limits::epsilon()})
    values.insert(values.end(), {x, -x});
  return values;
}

/// Equal with the sign of zero; any NaN equals any other.
template <typename T> bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

} // namespace

TEST_CASE("float32 functions are rounded correctly but for near ties") {
  for (const std::string &tier : test::runnableTiers())
    for (const Function &function : functions) {
      std::vector<float> x = float32Samples(function);
      Worst found = worst(function, x, evaluate(programFor(tier), function, x));
      CAPTURE(tier, function.name, found.x, found.ulp);
      CHECK(found.ulp < 0.501);
    }
}

TEST_CASE("float64 functions are within two units in the last place") {
  for (const std::string &tier : test::runnableTiers())
    for (const Function &function : functions) {
      std::vector<double> x = float64Samples(function);
      Worst found = worst(function, x, evaluate(programFor(tier), function, x));
      CAPTURE(tier, function.name, found.x, found.ulp);
      CHECK(found.ulp < 2);
    }
}

TEMPLATE_TEST_CASE("special values are those of the C library", "", float, double) {
  for (const std::string &tier : test::runnableTiers())
    for (const Function &function : functions) {
      std::vector<TestType> x = specialValues<TestType>();
      std::vector<TestType> y = evaluate(programFor(tier), function, x);
      for (size_t i = 0; i < x.size(); ++i) {
        TestType truth = TestType(function.truth(x[i]));
        CAPTURE(tier, function.name, x[i], y[i], truth);
        if (isPeriodic(function) && std::isfinite(x[i]) && std::fabs(x[i]) > reducedExactly)
          CHECK(std::fabs(y[i]) <= 1);
        else if (std::isfinite(truth) && truth != 0)
          CHECK(ulps(y[i], function.truth(x[i])) < 2);
        else
          CHECK(same(y[i], truth));
      }
    }
}

TEST_CASE("far arguments of sin and cos stay between -1 and 1") {
  for (const Function &function : functions) {
    if (!isPeriodic(function))
      continue;
    std::vector<double> x;
    for (int exponent = 20; exponent < 1024; ++exponent)
      x.insert(x.end(), {std::ldexp(1.234567, exponent), -std::ldexp(1.7654321, exponent)});
    for (double y : evaluate(programFor("generic"), function, x))
      CHECK(std::fabs(y) <= 1);
  }
}

TEST_CASE("every tier gives the same bits") {
  for (const Function &function : functions) {
    std::vector<double> x = float64Samples(function);
    std::vector<double> reference = evaluate(programFor("generic"), function, x);
    for (const std::string &tier : test::runnableTiers()) {
      std::vector<double> y = evaluate(programFor(tier), function, x);
      size_t different = 0;
      for (size_t i = 0; i < x.size(); ++i)
        different += !same(y[i], reference[i]);
      CAPTURE(tier, function.name);
      CHECK(different == 0);
    }
  }
}
