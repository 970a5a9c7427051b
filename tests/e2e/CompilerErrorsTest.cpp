// What only the compiler itself can report: a request it cannot serve, and a fault of its own.
#include "runtime/codegen/Compiler.h"
#include "tests/e2e/Golden.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// Compiles an empty plan, after `change` has spoiled the request or the resolved plan; the errors as text.
template <class Change> std::string errors(Change change) {
  Diagnostics diags;
  std::optional<PreparedPlan> prepared = preparePlan(checkpointPath("tiny-text"), PlanSource(), {}, diags);
  REQUIRE(prepared);
  CompileFunction compile = loadCompiler(diags);
  REQUIRE(compile);
  CompileRequest request;
  request.config = &prepared->config;
  request.plan = &prepared->resolved;
  request.emit = Stage::checked;
  change(request, prepared->resolved);
  CompileResult result;
  CHECK_FALSE(compile(request, result, diags));
  CHECK(result.text.empty());
  return text(diags);
}

} // namespace

TEST_CASE("an unknown instruction tier is refused") {
  CHECK(errors([](CompileRequest &request, ResolvedPlan &) { request.tier = "avx9000"; }) ==
        "error NNT1103: unknown instruction tier \"avx9000\"\n");
}

TEST_CASE("a resolved plan that does not fit the graph is a fault of the compiler, with the plan's place") {
  std::string found =
      errors([](CompileRequest &, ResolvedPlan &plan) { plan.taps.front().gather.point = "layers[0].nothing"; });
  CHECK(found.find("error NNT1102: the compiler failed: the graph has no value named 'layers[0].nothing'\n") !=
        std::string::npos);
}
