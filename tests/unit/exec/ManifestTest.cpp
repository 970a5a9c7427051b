// Tests of manifests: they survive being written and read, and broken ones are refused.
#include "runtime/abi/Manifest.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static Manifest sample() {
  Manifest m;
  m.abi = 1;
  m.tool = "0.1.0";
  m.target = "cpu";
  m.tier = "avx512";
  m.cpu = "x86-64-v4";
  m.dtype = DType::bf16;
  m.key = "00ff";
  m.config = "c0ffee";
  m.structure = "run next\ntap \"logits\"\n";
  m.blocks = 8;
  m.functions = 2;
  m.steps = true;
  m.chip = "sm_80";
  m.kernels = {{"linear_3f2a", "hybrid.linear at plan.json:3:5"}, {"softmax_00ff", ""}};
  m.kernels[0].flops = Polynomial::extent("p3") * 2;
  m.kernels[0].memory = {{4096, Polynomial::extent("blocks") * 4}, {63, 0}};
  m.failureEntries = 4;
  m.slots = {{SlotKind::input, "ids", DType::i64, {-1, -1}},
             {SlotKind::weight, "model.norm.weight", DType::bf16, {64}},
             {SlotKind::buffer, "e0.source", DType::f32, {}},
             {SlotKind::state, "layers[3].self_attn.keys", DType::bf16, {-1, 2, -1, 32}},
             {SlotKind::kept, "e1.src@gen", DType::f32, {-1, 64}},
             {SlotKind::output, "odd \"name\"\n", DType::f32, {-1, -1, 4, 5, 6}}};
  return m;
}

TEST_CASE("a manifest reads back as it was", "[manifest]") {
  Diagnostics diags;
  std::optional<Manifest> read = Manifest::fromJson(sample().toJson(), "m.json", diags);
  INFO(text(diags));
  REQUIRE(read);
  CHECK(read->abi == 1);
  CHECK(read->tool == "0.1.0");
  CHECK(read->target == "cpu");
  CHECK(read->tier == "avx512");
  CHECK(read->cpu == "x86-64-v4");
  CHECK(read->dtype == DType::bf16);
  CHECK(read->key == "00ff");
  CHECK(read->config == "c0ffee");
  CHECK(read->structure == "run next\ntap \"logits\"\n");
  CHECK(read->blocks == 8);
  CHECK(read->functions == 2);
  CHECK(read->steps);
  CHECK(read->chip == "sm_80");
  REQUIRE(read->kernels.size() == 2);
  CHECK(read->kernels[0].name == "linear_3f2a");
  CHECK(read->kernels[0].location == "hybrid.linear at plan.json:3:5");
  CHECK(read->kernels[0].flops == sample().kernels[0].flops);
  REQUIRE(read->kernels[0].memory.size() == 2);
  CHECK(read->kernels[0].memory[0].whole == Polynomial(4096));
  CHECK(read->kernels[0].memory[0].touched == sample().kernels[0].memory[0].touched);
  CHECK(read->kernels[1].name == "softmax_00ff");
  CHECK(read->kernels[1].memory.empty());
  CHECK(read->failureEntries == 4);
  REQUIRE(read->slots.size() == 6);
  for (size_t i = 0; i < 6; ++i) {
    CHECK(read->slots[i].kind == sample().slots[i].kind);
    CHECK(read->slots[i].name == sample().slots[i].name);
    CHECK(read->slots[i].dtype == sample().slots[i].dtype);
    CHECK(read->slots[i].dims == sample().slots[i].dims);
  }
}

/// What is said when `from` in the sample's text is replaced.
static std::string errorsWith(const std::string &from, const std::string &to) {
  std::string json = sample().toJson();
  const size_t at = json.find(from);
  REQUIRE(at != std::string::npos);
  json.replace(at, from.size(), to);
  Diagnostics diags;
  CHECK_FALSE(Manifest::fromJson(json, "m", diags));
  return text(diags);
}

TEST_CASE("NNT1019: broken manifest", "[manifest]") {
  CHECK(errorsWith("\"nnterp_manifest\": 1", "\"nnterp_manifest\": 2") ==
        "m:1:1: error NNT1019: expected a manifest of version 1\n");
  CHECK(errorsWith("\"abi\": 1", "\"abi\": \"1\"") ==
        "m:3:9: error NNT1019: expected \"abi\" to be an integer, found a string\n");
  CHECK(errorsWith("\"key\": \"00ff\",", "") ==
        "m:1:1: error NNT1019: expected \"key\" to be a string, found nothing\n");
  CHECK(errorsWith("\"steps\": true", "\"steps\": 1") ==
        "m:12:11: error NNT1019: expected \"steps\" to be a boolean, found an integer\n");
  CHECK(errorsWith("\"blocks\": 8", "\"blocks\": -8").find("\"blocks\" is negative") != std::string::npos);
  CHECK(errorsWith("\"kind\": \"weight\"", "\"kind\": \"wait\"").find("unknown kind of slot \"wait\"") !=
        std::string::npos);
  CHECK(errorsWith("\"blocks\": 4", "\"blocks\": \"4\"").find("expected products of extents with integer coefficients") !=
        std::string::npos);
  CHECK(errorsWith("\"memory\": []", "\"memory\": [[{}]]").find("a piece of memory is two amounts of bytes") != std::string::npos);
  CHECK(errorsWith("\"name\": \"softmax_00ff\"", "\"name\": 5").find("expected \"name\" to be a string") !=
        std::string::npos);
  CHECK(errorsWith("\"failure_entries\": 4", "\"failure_entries\": -4").find("\"failure_entries\" is negative") !=
        std::string::npos);
  CHECK(errorsWith("\"I64\"", "\"I65\"").find("unknown element type \"I65\"") != std::string::npos);
  CHECK(errorsWith("64\n", "-2\n").find("an extent is a number, or -1 for what a run decides") != std::string::npos);
  CHECK(errorsWith("64\n", "1, 2, 3, 4, 5, 6, 7\n").find("a slot has at most 6 axes") != std::string::npos);
}

TEST_CASE("NNT0103: a manifest that is no JSON", "[manifest]") {
  Diagnostics diags;
  CHECK_FALSE(Manifest::fromJson("{", "m", diags));
  CHECK(diags.all().at(0).code == "NNT0103");
  CHECK_FALSE(Manifest::fromJson("[]", "m", diags));
}
