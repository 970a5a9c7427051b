// Every golden case, through generated code and the path of `nnterp run`.
#include "tests/e2e/Golden.h"

#include "runtime/weights/Safetensors.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// Whether NNTERP_ONLY, names with commas between them, has the case in it; without it, every case is.
bool isWanted(const GoldenCase &golden) {
  const char *only = std::getenv("NNTERP_ONLY");
  return !only || ("," + std::string(only) + ",").find("," + golden.name + ",") != std::string::npos;
}

/// The cases of this process: ctest runs several, with NNTERP_SHARD = "i/n".
std::vector<GoldenCase> cases() {
  int shard = 0, shards = 1;
  if (const char *text = std::getenv("NNTERP_SHARD"))
    std::sscanf(text, "%d/%d", &shard, &shards);
  std::vector<GoldenCase> all = goldenCases(), mine;
  all.erase(std::remove_if(all.begin(), all.end(), [](const GoldenCase &golden) { return !isWanted(golden); }),
            all.end());
  for (size_t i = 0; i < all.size(); ++i)
    if (int(i % size_t(shards)) == shard)
      mine.push_back(all[i]);
  return mine;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

} // namespace

TEST_CASE("golden cases", "[goldens]") {
  std::vector<double> all;
  for (const GoldenCase &golden : cases()) {
    DYNAMIC_SECTION(golden.name) {
      Diagnostics diags;
      std::optional<RunResult> result = runCase(golden, diags);
      INFO(text(diags));
      REQUIRE(result);
      std::optional<Safetensors> expected = Safetensors::open(golden.directory + "/expected.safetensors", diags);
      REQUIRE(expected);
      std::optional<Json> noise = parseJson(expected->metadata().at("noise"), "noise", diags);
      std::map<std::string, Tensor> outputs(result->outputs.begin(), result->outputs.end());
      for (const auto &[key, tensor] :
           outputs) { // a run that generates writes its tokens, whether they were tapped or not
        const size_t slash = key.find('/');
        CHECK((expected->find(key) || key.substr(slash == std::string::npos ? 0 : slash + 1) == "tokens"));
      }
      std::vector<double> ratios;
      for (const SafetensorsEntry &entry : expected->entries()) {
        INFO(entry.key);
        REQUIRE(outputs.count(entry.key) == 1);
        const Json *pair = noise->find(entry.key);
        Distance d = judge(outputs.at(entry.key), *expected->tensor(entry.key), pair ? pair->array[0].number : 0,
                           pair ? pair->array[1].number : 0, golden.dtype == "bfloat16");
        INFO(d.why);
        CHECK(d.within);
        if (d.ratio > 0)
          ratios.push_back(d.ratio);
      }
      if (!ratios.empty())
        std::printf("%-32s ratio to the reference's rms: median %.3f, worst %.3f over %zu tensors; %.0f ms\n",
                    golden.name.c_str(), median(ratios), *std::max_element(ratios.begin(), ratios.end()), ratios.size(),
                    result->times.run);
    }
  }
}
