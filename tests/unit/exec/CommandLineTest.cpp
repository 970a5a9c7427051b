// Tests of the tool as a process: exit statuses, where output goes, exact messages. No compiler is needed.
#include "../weights/Fixtures.h"
#include "runtime/abi/Json.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sys/wait.h>

using namespace nnterp;

namespace {

const std::string checkpoints = NNTERP_TEST_DATA "/checkpoints/";

struct Finished {
  int status;
  std::string out, err;
};

/// Runs nnterp through the shell, with a folder that has no compiler in it.
Finished call(const std::string &arguments, const std::string &input = "") {
  TempDir dir;
  writeBytes(dir / "in", input);
  const std::string command = "NNTERP_LIB_DIR=/nowhere NNTERP_CACHE_DIR=" + dir.path + "/cache " NNTERP_BIN "/nnterp " +
                              arguments + " <" + (dir / "in") + " >" + (dir / "out") + " 2>" + (dir / "err");
  const int result = std::system(command.c_str());
  REQUIRE(WIFEXITED(result));
  return {WEXITSTATUS(result), readBytes(dir / "out"), readBytes(dir / "err")};
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("bad usage is status 2, with a hint on standard error", "[cli]") {
  CHECK(call("").status == 2);
  const Finished unknown = call("rnu");
  CHECK(unknown.status == 2);
  CHECK(unknown.out == "");
  CHECK(contains(unknown.err, "rnu is not known here; nearest: \"run\""));
  const Finished flag = call("run toy --prmpt x");
  CHECK(flag.status == 2);
  CHECK(contains(flag.err, "--prmpt is not known here; nearest: \"--prompt\""));
  CHECK(contains(flag.err, "nnterp run --help shows how it is used"));
  CHECK(call("run").status == 2);
  CHECK(call("run toy --dtype float16").status == 2);
  CHECK(call("compile toy --emit=objet").status == 2);
}

TEST_CASE("every command has a help with examples", "[cli]") {
  CHECK(call("--help").status == 0);
  for (const char *command :
       {"info", "points", "import", "check", "compile", "run", "tokenize", "detokenize", "errors"}) {
    const Finished help = call(std::string(command) + " --help");
    CHECK(help.status == 0);
    CHECK(help.err == "");
    CHECK(contains(help.out, "Example"));
    CHECK(contains(help.out, std::string("nnterp ") + command));
  }
  CHECK(contains(call("--version").out, "nnterp "));
}

TEST_CASE("NNT0906 to NNT0910: what is not in this version is refused by code", "[cli]") {
  const Finished run = call("run " + checkpoints +
                            "toy --chat c.json --chat-prompt hi --generate 3 --image p.png "
                            "--target cuda --save-state s --load-state l");
  CHECK(run.status == 1);
  CHECK(run.out == "");
  CHECK(run.err == "--chat: error NNT0906: a chat as input (--chat) is not in this version\n"
                   "--chat-prompt: error NNT0906: a chat as input (--chat-prompt) is not in this version\n"
                   "--generate: error NNT0907: generating tokens (--generate) is not in this version\n"
                   "--image: error NNT0908: a picture as input (--image) is not in this version\n"
                   "--target: error NNT0909: the target \"cuda\" (--target) is not in this version\n"
                   "--save-state: error NNT0910: saving a state (--save-state) is not in this version\n"
                   "--load-state: error NNT0910: loading a state (--load-state) is not in this version\n");
  CHECK(call("check " + checkpoints + "toy --target emulator").err ==
        "--target: error NNT0909: the target \"emulator\" (--target) is not in this version\n"
        "note: edits that reach no output were not looked for: there is no compiler at "
        "/nowhere/libnnterp_compiler.so\n");
  CHECK(call("check " + checkpoints + "toy --target cpu --generate 0").status == 0);
}

TEST_CASE("independent errors of a run are reported together", "[cli]") {
  const Finished run = call("run " + checkpoints + "toy --ids 1,700 --tap logitz");
  CHECK(run.status == 1);
  CHECK(run.err == "--ids: error NNT1005: row 0, token 1: id 700 is outside the vocabulary (0 to 639)\n"
                   "--tap:1:1: error NNT0601: no value is named \"logitz\"\n"
                   "  note: nearest: \"logits\", \"input_ids\" or \"input_size\"\n");
}

TEST_CASE("a run without a compiler says what is missing", "[cli]") {
  const Finished run = call("run " + checkpoints + "toy --ids 1");
  CHECK(run.status == 1);
  CHECK(contains(run.err, "error NNT1101"));
}

TEST_CASE("check tells what a plan asks for, on a configuration alone", "[cli]") {
  const std::string arguments = checkpoints + "toy/config.json --quiet --tap 'layers[*].layer_output' "
                                              "--edit 'layers[linear].linear_attn.betas zero'";
  CHECK(call("check " + arguments).status == 0);
  const Finished said = call("check " + checkpoints + "toy/config.json --edit 'layers[0,1].mlp.mlp_output zero'");
  CHECK(contains(said.out, "1 edit at 2 points, 1 tap, "));
  Diagnostics diags;
  std::optional<Json> json = parseJson(call("check --json " + arguments).out, "out", diags);
  REQUIRE(json);
  CHECK(json->find("ok")->boolean);
  CHECK(json->find("points")->integer == 6);
  CHECK(json->find("taps")->integer == 8);
  const Finished wrong = call("check --json " + checkpoints + "toy --tap a --tap b");
  CHECK(wrong.status == 1);
  json = parseJson(wrong.out, "out", diags);
  REQUIRE(json);
  CHECK_FALSE(json->find("ok")->boolean);
  CHECK(json->find("diagnostics")->array.size() == 2);
}

TEST_CASE("a plan can be printed with its flags", "[cli]") {
  const Finished printed = call("run " + checkpoints + "toy --print-plan --tap logits --edit 'logits scale 2'");
  CHECK(printed.status == 0);
  Diagnostics diags;
  std::optional<Json> json = parseJson(printed.out, "out", diags);
  REQUIRE(json);
  CHECK(json->find("taps")->dump() == R"(["logits"])");
  CHECK(json->find("edits")->array.size() == 1);
}

TEST_CASE("values of flags may hold commas and brackets", "[cli]") {
  CHECK(contains(call("check " + checkpoints + "toy --tap '[0,1]'").err, "\"[0,1]\""));
  CHECK(contains(call("run " + checkpoints + "toy --ids '[1,2]'").err, "found \"[1,2]\""));
  CHECK(contains(call("run " + checkpoints + "toy --tap layers[0,1].layer_output --ids 1 2").err, "not expected: 2"));
}

TEST_CASE("info and points take a configuration alone", "[cli]") {
  CHECK(contains(call("info " + checkpoints + "toy/config.json").out, "qwen3_5_moe"));
  CHECK(contains(call("points " + checkpoints + "toy/config.json").out, "self_attn.attention_premix"));
  CHECK(call("info nowhere").status == 1);
  CHECK(call("points nowhere").status == 1);
  CHECK(call("points --tree --json " + checkpoints + "toy").status == 2);
}

TEST_CASE("text and ids go both ways", "[cli]") {
  const std::string toy = checkpoints + "toy";
  CHECK(call("tokenize " + toy, "The capital of").out == "273 366 363\n");
  CHECK(call("detokenize " + toy, "273, 366\n363").out == "The capital of");
  CHECK(call("tokenize --json " + toy, "The capital").out ==
        R"({"ids":[273,366],"pieces":["The"," capital"],"offsets":[[0,3],[3,11]]})"
        "\n");
  CHECK(call("tokenize " + toy, "").out == "\n");
  const Finished bad = call("detokenize " + toy, "273\n x");
  CHECK(bad.status == 1);
  CHECK(bad.err == "standard input:2:2: error NNT1003: expected token ids, separated by blanks or commas\n");
  CHECK(contains(call("detokenize " + toy, "-1 9999999").err, "error NNT1005: id -1 is outside the vocabulary"));
}

TEST_CASE("errors lists and explains codes", "[cli]") {
  CHECK(contains(call("errors").out, "NNT1010  pads not on the left\n"));
  CHECK(call("errors NNT1010").out == "NNT1010: pads not on the left\n\nRows are padded on the left only.\n");
  CHECK(call("errors NNT9999").status == 2);
}

TEST_CASE("a result that cannot be written is an error", "[cli]") {
  const int result = std::system(NNTERP_BIN "/nnterp errors >/dev/full 2>/dev/null");
  CHECK(WEXITSTATUS(result) == 1);
}
