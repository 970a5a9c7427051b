// Tests of where a prompt comes from.
#include "tools/nnterp/InputArguments.h"
#include "../weights/Fixtures.h"
#include "runtime/text/Tokenizer.h"
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
  std::optional<std::map<std::string, Batch>> read(const std::vector<InputArgument> &arguments) {
    return readInputs(arguments, *plan, *config, checkpoint, chat, diags, allowMissing);
  }
  /// Of the one input that is read.
  std::vector<double> ids(const std::vector<InputArgument> &arguments) {
    std::optional<std::map<std::string, Batch>> batches = read(arguments);
    INFO(text(diags));
    REQUIRE(batches);
    REQUIRE(batches->size() == 1);
    return valuesOf(batches->begin()->second.ids);
  }
  /// "a: 1 2; b: 3"
  std::string all(const std::vector<InputArgument> &arguments) {
    std::optional<std::map<std::string, Batch>> batches = read(arguments);
    INFO(text(diags));
    REQUIRE(batches);
    std::string result;
    for (const auto &[name, batch] : *batches) {
      result += (result.empty() ? "" : "; ") + name + ":";
      for (double id : valuesOf(batch.ids))
        result += " " + std::to_string(int(id));
    }
    return result;
  }
  std::string errors(const std::vector<InputArgument> &arguments) {
    CHECK_FALSE(read(arguments));
    return text(diags);
  }

  std::string checkpoint;
  ChatOptions chat;
  bool allowMissing = false;
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
        "plan.json:1:1: error NNT1001: the run has no input \"main\"; expected --prompt, --chat, "
        "--ids or --input, or \"inputs\" in the plan\n");
  CHECK(Reader(R"({"nnterp_plan": 1, "inputs": {"a": {"ids": [[1]]}, "b": {"ids": [[1]]}}})").errors({}) ==
        "plan.json:1:1: error NNT1001: the run has no input \"main\"; expected --prompt, --chat, --ids or --input, or "
        "\"inputs\" in the plan; the plan's other inputs are \"a\", \"b\"\n");
}

TEST_CASE("NNT1002: input given in several ways", "[input]") {
  CHECK(Reader().errors({{InputKind::ids, "1"}, {InputKind::prompt, "The"}}) ==
        "--ids: error NNT1002: the input \"main\" is given by --prompt and --ids at once; expected one of them\n");
  CHECK(Reader().errors({{InputKind::file, "a"}, {InputKind::file, "b"}}) ==
        "--input: error NNT1002: the input \"main\" is given by 2 files; expected one of them\n");
}

namespace {

/// Two worlds on `x`, one on `y`; the plan gives `x` and an input that nobody reads.
const std::string worlds =
    R"({"nnterp_plan": 1, "worlds": {"a": {"input": "x"}, "b": {"input": "y"}, "c": {"input": "x"}},
 "inputs": {"x": {"ids": [[1, 2]]}, "z": {"ids": [[3]]}}})";

} // namespace

TEST_CASE("every input that a world reads, from the command line or else from the plan", "[input]") {
  CHECK(Reader(worlds).all({{InputKind::ids, "y:=4"}}) == "x: 1 2; y: 4");
  CHECK(Reader(worlds).all({{InputKind::ids, "y:=4"}, {InputKind::ids, "x:=5"}, {InputKind::ids, "y:=6"}}) ==
        "x: 5; y: 4 6");
  CHECK(Reader(worlds).all({{InputKind::prompt, "y:=The"}}) == "x: 1 2; y: 273");
  TempDir dir;
  save(dir, "a.safetensors", {{"input_ids", tensorOf(DType::i64, {1, 2}, {3, 4})}});
  CHECK(Reader(worlds).all({{InputKind::file, "y=" + (dir / "a.safetensors")}}) == "x: 1 2; y: 3 4");
}

TEST_CASE("an argument without a name is for main, or for the only input", "[input]") {
  const std::string one = R"({"nnterp_plan": 1, "worlds": {"a": {"input": "x"}, "b": {"input": "x"}}})";
  CHECK(Reader(one).all({{InputKind::ids, "4"}}) == "x: 4");
  const std::string withMain = R"({"nnterp_plan": 1, "worlds": {"a": {"input": "x"}, "b": {"input": "main"}}})";
  CHECK(Reader(withMain).all({{InputKind::ids, "4"}, {InputKind::ids, "x:=5"}}) == "main: 4; x: 5");
  CHECK(Reader(one).all({{InputKind::prompt, "main:=The"}}) != "x: 273"); // `main` is no input of this plan: text
}

TEST_CASE("inputs that nobody gives can be left out", "[input]") {
  Reader reader(worlds);
  reader.allowMissing = true;
  CHECK(reader.all({}) == "x: 1 2");
  Reader nothing;
  nothing.allowMissing = true;
  CHECK(nothing.all({}) == "");
}

TEST_CASE("NNT1001: a world's input is missing", "[input]") {
  CHECK(Reader(worlds).errors({}) ==
        "plan.json:1:52: error NNT1001: the run has no input \"y\", which the world \"b\" reads; expected --prompt, "
        "--chat, --ids or --input, or \"inputs\" in the plan; the plan's other inputs are \"z\"\n");
}

TEST_CASE("NNT1021: not said which input is meant", "[input]") {
  CHECK(Reader(worlds).errors({{InputKind::ids, "1"}, {InputKind::file, "a=b"}}) ==
        "--ids: error NNT1021: it is not said which of the inputs \"x\", \"y\" this is for; expected, for example, "
        "x:=IDS\n"
        "--input: error NNT1021: it is not said which of the inputs \"x\", \"y\" this is for; expected, for example, "
        "x=FILE\n");
}

TEST_CASE("NNT1022: an input that no world reads", "[input]") {
  CHECK(Reader(worlds).errors({{InputKind::ids, "z:=1"}, {InputKind::ids, "y:=1"}}) ==
        "--ids: error NNT1022: no world reads the input \"z\"; expected one of those that are read: \"x\", \"y\"\n");
}

TEST_CASE("chats go through the chat template and the tokenizer", "[input]") {
  TempDir dir;
  writeBytes(dir / "c.json", R"([{"role": "user", "content": "hi"}])");
  writeBytes(dir / "two.json", R"([[{"role": "user", "content": "hi"}], [{"role": "user", "content": "ho"}]])");
  auto read = [&](const InputArgument &argument) {
    Reader reader;
    reader.chat.enableThinking = false;
    return reader.ids({argument});
  };
  const Ids chat = read({InputKind::chat, dir / "c.json"});
  Diagnostics diags;
  const Tokenizer tokenizer = *Tokenizer::load(toy, diags);
  auto text = [&](const Ids &ids) { return tokenizer.decode({ids.begin(), ids.end()}); };
  CHECK(text(chat) == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n");
  CHECK(read({InputKind::chatPrompt, "hi"}) == chat);
  CHECK(read({InputKind::chatPrompt, "main:=hi"}) == chat);
  CHECK(read({InputKind::chat, "main:=" + (dir / "c.json")}) == chat);
  CHECK(read({InputKind::chat, dir / "two.json"}).size() == 2 * chat.size());
  Reader options;
  options.chat.enableThinking = true;
  CHECK(text(options.ids({{InputKind::chatPrompt, "hi"}})) ==
        "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n");
  options.chat.generationPrompt = false;
  CHECK(text(options.ids({{InputKind::chatPrompt, "hi"}})) == "<|im_start|>user\nhi<|im_end|>\n");
  Reader fromPlan(R"({"nnterp_plan": 1, "inputs": {"main": {"chat": ")" + (dir / "c.json") + R"("}}})");
  fromPlan.chat.enableThinking = false;
  CHECK(fromPlan.ids({}) == chat);
}

TEST_CASE("switches of chats are noted where no input is a chat", "[input]") {
  Reader reader;
  reader.chat.enableThinking = false;
  CHECK(reader.all({{InputKind::ids, "1"}}) == "main: 1");
  CHECK(text(reader.diags) == "--no-thinking: note: it has no effect, because no input is a chat\n");
  Reader other;
  other.chat.enableThinking = true;
  other.chat.generationPrompt = false;
  CHECK(other.all({{InputKind::ids, "1"}}) == "main: 1");
  CHECK(text(other.diags) == "--enable-thinking: note: it has no effect, because no input is a chat\n"
                             "--no-generation-prompt: note: it has no effect, because no input is a chat\n");
}

TEST_CASE("errors of chats name the flag, the file or the plan's place", "[input]") {
  TempDir dir;
  writeBytes(dir / "picture.json", R"([{"role": "user", "content": [{"type": "image"}]}])");
  writeBytes(dir / "robot.json", R"({"messages": [{"role": "robot", "content": ""}], "enable_thinking": true})");
  CHECK(Reader().errors({{InputKind::chatPrompt, "hi"}}) == "--chat-prompt: error NNT0415: the chat template knows the "
                                                            "switch enable_thinking, and what it renders depends on "
                                                            "it; expected --enable-thinking or --no-thinking\n");
  CHECK(Reader().errors({{InputKind::chat, "/nowhere.json"}}) ==
        "--chat: error NNT0101: cannot read \"/nowhere.json\": No such file or directory\n");
  CHECK(Reader(R"({"nnterp_plan": 1, "inputs": {"main": {"chat": "/nowhere.json"}}})").errors({}) ==
        "plan.json:1:39: error NNT0101: cannot read \"/nowhere.json\": No such file or directory\n");
  Reader pictured;
  pictured.chat.enableThinking = false;
  CHECK(pictured.errors({{InputKind::chat, dir / "picture.json"}, {InputKind::image, "p.png"}}) ==
        "--image: error NNT1013: this model has no image encoder\n");
  CHECK(Reader().errors({{InputKind::chat, dir / "robot.json"}}) ==
        (dir / "robot.json") + ":1:1: error NNT0412: no user query\n  " + toy +
            "/chat_template.jinja:26: note: the chat template stops here\n");
  const std::string bare = NNTERP_TEST_DATA "/checkpoints/tiny-heads";
  CHECK(
      Reader(R"({"nnterp_plan": 1})", bare).errors({{InputKind::chatPrompt, "hi"}}).find(bare + ": error NNT0410: ") ==
      0);
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
