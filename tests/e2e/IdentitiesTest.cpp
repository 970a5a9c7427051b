// What the family is known for, and what must not change a bit: one test per check of `nnterp verify`, on every small
// checkpoint and every block (spec/qwen3_5_moe.md 7.3 to 7.8 and 10, spec/plan.md 1).
#include "tests/e2e/Runs.h"
#include "tools/nnterp/verify/Verify.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

using namespace nnterp;
using namespace nnterp::test;

namespace {

struct Model {
  const char *checkpoint;
  DType dtype;
};

/// The models of this process: ctest runs several, with NNTERP_SHARD = "i/n".
std::vector<Model> models() {
  // Two shards: checkpoints that share programs stand in one.
  static const Model all[] = {
      {"tiny-text", DType::f32},       {"tiny-heads", DType::bf16}, {"tiny-text-per-expert", DType::f32},
      {"tiny-heads-fp8", DType::bf16}, {"tiny-vl", DType::bf16},    {"toy", DType::bf16},
      {"tiny-text", DType::bf16},      {"tiny-heads", DType::f32}};
  int shard = 0, shards = 1;
  if (const char *text = std::getenv("NNTERP_SHARD"))
    std::sscanf(text, "%d/%d", &shard, &shards);
  std::vector<Model> mine;
  for (size_t i = 0; i < std::size(all); ++i)
    if (int(i % size_t(shards)) == shard)
      mine.push_back(all[i]);
  return mine;
}

/// Every run of a model is made once, whatever checks look at it.
verify::Verifier &verifierOf(const Model &model) {
  static std::map<std::pair<std::string, DType>, std::unique_ptr<verify::Verifier>> known;
  std::unique_ptr<verify::Verifier> &verifier = known[{model.checkpoint, model.dtype}];
  if (!verifier) {
    verify::VerifyOptions options;
    options.checkpoint = checkpointPath(model.checkpoint);
    options.dtype = model.dtype;
    options.allBlocks = true;
    options.cacheDir = testCache();
    Diagnostics diags;
    std::optional<verify::Verifier> opened = verify::Verifier::open(options, diags);
    INFO(text(diags));
    REQUIRE(opened);
    verifier = std::make_unique<verify::Verifier>(std::move(*opened));
  }
  return *verifier;
}

void holds(const char *name) {
  for (const verify::Check &check : verify::checks()) {
    if (std::string(check.name) != name)
      continue;
    for (const Model &model : models())
      DYNAMIC_SECTION(model.checkpoint << " in " << nnterp::name(model.dtype)) {
        Diagnostics diags;
        std::optional<verify::Outcome> outcome = verifierOf(model).judge(check, diags);
        INFO(text(diags));
        REQUIRE(outcome);
        INFO(outcome->findings.first);
        CHECK(outcome->findings.different == 0);
        CHECK(outcome->findings.compared > 0);
        CHECK(outcome->findings.skipped.empty());
      }
    return;
  }
  FAIL("there is no check " << name);
}

} // namespace

TEST_CASE("every value is finite", "[identities]") { holds("finite"); }
TEST_CASE("a block is (layer_input + attention_output) + mlp_output, and layer_mid the first sum", "[identities]") {
  holds("block-sum");
}
TEST_CASE("points with nothing between them hold the same bytes", "[identities]") { holds("same-points"); }
TEST_CASE("next_token_probs is the softmax of the logits, and the greedy token its largest", "[identities]") {
  holds("next-token");
}

TEST_CASE("routed and shared output add up to the mixture's", "[identities]") { holds("mixture-sum"); }
TEST_CASE("the outputs of the slots, added in their order, are the routed output", "[identities]") {
  holds("slot-sum");
}
TEST_CASE("expert weights are the top of the router's softmax, renormalised, and sum to one", "[identities]") {
  holds("expert-weights");
}
TEST_CASE("shared_expert_output is the shared expert times the sigmoid of its gate", "[identities]") {
  holds("shared-gate");
}
TEST_CASE("the shared expert's neurons are its activation times the other half", "[identities]") {
  holds("shared-neurons");
}
TEST_CASE("zeroing shared_expert_output removes the shared expert whole", "[identities]") { holds("shared-off"); }
TEST_CASE("one expert's weight zeroed leaves the others", "[identities]") { holds("expert-off"); }
TEST_CASE("an expert forbidden through the router's logits gives its slot to the next best", "[identities]") {
  holds("reroute");
}

TEST_CASE("rotary embeddings leave what stands behind the rotated dims untouched", "[identities]") {
  holds("rotary-tail");
}
TEST_CASE("q_proj.output holds, per head, the query and then the gate", "[identities]") { holds("query-and-gate"); }
TEST_CASE("attention_premix is attention_head_outputs times the sigmoid of the gate", "[identities]") {
  holds("gated-heads");
}
TEST_CASE("attention probabilities are the softmax of the scores", "[identities]") { holds("attention-softmax"); }
TEST_CASE("no query looks at a later key", "[identities]") { holds("later-keys"); }
TEST_CASE("a key/value head reaches its own query heads and no other", "[identities]") { holds("key-value-heads"); }

TEST_CASE("DeltaNet heads that share a key head hold copies of it", "[identities]") { holds("head-copies"); }
TEST_CASE("an edit of one copy of a key head moves its value head alone", "[identities]") { holds("copied-head"); }
TEST_CASE("the last of states is state_output, which the next token starts from", "[identities]") {
  holds("last-state");
}
TEST_CASE("conv_state holds the last inputs of the convolution", "[identities]") { holds("conv-memory"); }

TEST_CASE("tapping everything leaves logits and tokens bitwise unchanged", "[invariance]") { holds("taps"); }
TEST_CASE("the same run twice writes the same values", "[invariance]") { holds("repeat"); }
TEST_CASE("cached steps equal a longer prompt at every name", "[invariance]") { holds("cache"); }
TEST_CASE("a prompt in pieces equals the prompt in one at every name", "[invariance]") { holds("chunks"); }
TEST_CASE("a saved and loaded state continues bit for bit at every name", "[invariance]") { holds("state"); }
TEST_CASE("values may be asked for in any order", "[invariance]") { holds("order"); }
TEST_CASE("pads change nothing at any name", "[invariance]") { holds("padding"); }
TEST_CASE("a row alone equals itself in the batch at every name", "[invariance]") { holds("batch"); }
