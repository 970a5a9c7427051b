// Tests of where a prompt comes from.
#include "tools/nnterp/InputArguments.h"
#include "../weights/Fixtures.h"
#include "tools/nnterp/PreparePlan.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

const std::string toy = NNTERP_TEST_DATA "/checkpoints/toy";

struct Reader {
  explicit Reader(const std::string &planText = R"({"nnterp_plan": 1})", const std::string &checkpoint = toy)
      : checkpoint(checkpoint) {
    std::optional<Json> json = parseJson(planText, "plan.json", diags);
    PlanSource source;
    source.json = json;
    plan = loadPlan(source, diags);
    config = loadConfig(checkpoint, diags);
    INFO(text(diags));
    REQUIRE(plan);
    REQUIRE(config);
  }
  std::optional<Batch> read(const std::vector<InputArgument> &arguments) {
    return readInput(arguments, *plan, *config, checkpoint, diags);
  }
  std::vector<double> ids(const std::vector<InputArgument> &arguments) {
    std::optional<Batch> batch = read(arguments);
    INFO(text(diags));
    REQUIRE(batch);
    return valuesOf(batch->ids);
  }
  std::string errors(const std::vector<InputArgument> &arguments) {
    CHECK_FALSE(read(arguments));
    return text(diags);
  }

  std::string checkpoint;
  Diagnostics diags;
  std::optional<Plan> plan;
  std::optional<ModelConfig> config;
};

using Ids = std::vector<double>;

} // namespace

TEST_CASE("ids are rows of a batch", "[input]") {
  CHECK(Reader().ids({{InputKind::ids, "1,2,3"}, {InputKind::ids, " 4 , 5"}}) == Ids{1, 2, 3, 4, 5, 0});
}

TEST_CASE("texts go through the tokenizer", "[input]") {
  CHECK(Reader().ids({{InputKind::prompt, "The capital of"}}) == Ids{273, 366, 363});
  CHECK(Reader(R"({"nnterp_plan": 1})", toy + "/config.json").ids({{InputKind::prompt, "The"}}) == Ids{273});
}

TEST_CASE("a prefix counts only if the plan has an input of that name", "[input]") {
  CHECK(Reader().ids({{InputKind::ids, "main:=7"}}) == Ids{7});
  CHECK(Reader().ids({{InputKind::prompt, "main:=The"}}) == Ids{273});
  CHECK(Reader().ids({{InputKind::prompt, "x:=The"}}).size() > 1); // it is text
  const std::string other = R"({"nnterp_plan": 1, "inputs": {"main": {"ids": [[9]]}, "other": {"ids": [[8]]}}})";
  CHECK(Reader(other).ids({{InputKind::ids, "other:=7"}}) == Ids{9}); // not what this plan's world reads
  CHECK(Reader(other).ids({{InputKind::ids, "7"}}) == Ids{7});
}

TEST_CASE("files are read, with or without a name", "[input]") {
  TempDir dir;
  Diagnostics diags;
  REQUIRE(writeSafetensors(dir / "a=b.safetensors", {{"input_ids", tensorOf(DType::i64, {1, 2}, {3, 4})}}, {}, diags));
  CHECK(Reader().ids({{InputKind::file, dir / "a=b.safetensors"}}) == Ids{3, 4});
  CHECK(Reader().ids({{InputKind::file, "main=" + (dir / "a=b.safetensors")}}) == Ids{3, 4});
}

TEST_CASE("the plan's input is used when the command line gives none", "[input]") {
  CHECK(Reader(R"({"nnterp_plan": 1, "inputs": {"main": {"ids": [[1, 2], [3]]}}})").ids({}) == Ids{1, 2, 3, 0});
  CHECK(Reader(R"({"nnterp_plan": 1, "inputs": {"main": {"prompt": ["The"]}}})").ids({}) == Ids{273});
}

TEST_CASE("NNT1001: no input", "[input]") {
  CHECK(Reader().errors({}) ==
        "plan.json:1:1: error NNT1001: the run has no input \"main\"; expected --prompt, --ids or "
        "--input, or \"inputs\" in the plan\n");
  CHECK(
      Reader(R"({"nnterp_plan": 1, "inputs": {"a": {"ids": [[1]]}, "b": {"ids": [[1]]}}})").errors({}) ==
      "plan.json:1:1: error NNT1001: the run has no input \"main\"; expected --prompt, --ids or --input, or \"inputs\" "
      "in the plan; the plan's inputs are \"a\", \"b\"\n");
}

TEST_CASE("NNT1002: input given in several ways", "[input]") {
  CHECK(Reader().errors({{InputKind::ids, "1"}, {InputKind::prompt, "The"}}) ==
        "--ids: error NNT1002: the input \"main\" is given by --prompt and --ids at once; expected one of them\n");
  CHECK(Reader().errors({{InputKind::file, "a"}, {InputKind::file, "b"}}) ==
        "--input: error NNT1002: the input \"main\" is given by 2 files; expected one of them\n");
}

TEST_CASE("NNT1003: not a list of ids", "[input]") {
  for (const std::string bad : {"", "1,", "1 2", "1,x", "1.5", ",1", "99999999999999999999"})
    CHECK(Reader().errors({{InputKind::ids, bad}}) ==
          "--ids: error NNT1003: expected ids with commas between them, such as 1,2,3; found \"" + bad + "\"\n");
}

TEST_CASE("NNT1004, NNT1005: errors of a batch name the flag, or the plan's place", "[input]") {
  CHECK(Reader().errors({{InputKind::prompt, ""}}) == "--prompt: error NNT1004: row 0 has no tokens\n");
  CHECK(Reader(R"({"nnterp_plan": 1, "inputs": {"main": {"ids": [[640]]}}})").errors({}) ==
        "plan.json:1:39: error NNT1005: row 0, token 0: id 640 is outside the vocabulary (0 to 639)\n");
}

TEST_CASE("NNT1013: a multimodal model's picture token needs a picture", "[input]") {
  const std::string vl = NNTERP_TEST_DATA "/checkpoints/tiny-vl";
  CHECK(Reader(R"({"nnterp_plan": 1})", vl).errors({{InputKind::ids, "1,300"}}) ==
        "--ids: error NNT1013: row 0, token 1: id 300 stands for a part of a picture, and the input has no picture\n");
}
