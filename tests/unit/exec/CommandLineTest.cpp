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

TEST_CASE("targets are known by name", "[cli]") {
  for (const char *target : {"cpu", "cuda", "emulator"})
    CHECK(call("check " + checkpoints + "toy --generate 0 --target " + target).status == 0);
  const Finished other = call("run " + checkpoints + "toy --prompt x --target tpu");
  CHECK(other.status == 2);
  CHECK(contains(other.err, "--target: tpu not in {cpu,cuda,emulator}"));
}

TEST_CASE("NNT1747: stage of programs for a GPU", "[cli]") {
  const Finished run = call("compile " + checkpoints + "toy --emit ptx");
  CHECK(run.status == 1);
  CHECK(run.out == "");
  CHECK(run.err ==
        "--emit: error NNT1747: programs for the CPU have no stage \"ptx\"; expected --target=cuda with it\n");
}

TEST_CASE("flags that exclude each other, and numbers that are none, are wrong usage", "[cli]") {
  const std::string run = "run " + checkpoints + "toy --ids 1 ";
  for (const char *flags :
       {"--greedy --temperature 1", "--top-k 3 --greedy", "--eos 1 --no-eos", "--enable-thinking --no-thinking",
        "--generate -1", "--generate x", "--chunk 0", "--seed x", "--temperature hot"}) {
    INFO(flags);
    CHECK(call(run + flags).status == 2);
  }
}

TEST_CASE("what generation takes is checked with everything else, before anything is compiled", "[cli]") {
  const std::string run = "run " + checkpoints + "toy --ids 1 --generate 3 ";
  auto says = [&](const std::string &flags, const std::string &message) {
    const Finished finished = call(run + flags);
    INFO(flags << "\n" << finished.err);
    CHECK(finished.status == 1);
    CHECK(contains(finished.err, message));
  };
  says("--temperature 0", "sampling: error NNT1302: the temperature is 0;");
  says("--top-p 1.5", "sampling: error NNT1302: top-p is 1.5;");
  says("--eos 1,x", "--eos: error NNT1003: expected ids with commas between them, such as 1,2,3; found \"1,x\"");
  says("--eos 640", "--eos: error NNT1303: id 640 is outside the vocabulary (0 to 639)");
  says("--max-memory lots",
       "--max-memory: error NNT1305: expected a size, such as 12G, 512M or a number of bytes; found \"lots\"");
  says("--save-state /nowhere/s", "/nowhere/s: error NNT0102: cannot write \"/nowhere/s\"");
  says("--load-state /nowhere/s", "error NNT0101: cannot read \"/nowhere/s\"");
  says("--save-state out --out ./out", "--save-state: error NNT0102: the state cannot go into the file of the tapped "
                                       "values, ./out");
  CHECK(contains(call("run " + checkpoints + "toy --ids 1,2 --generate 1048576").err,
                 "error NNT1012: input \"main\", row 0: 1048575 generated tokens behind position 1 go beyond"));
}

TEST_CASE("a plan for generated tokens is checked for as many as there are", "[cli]") {
  const std::string check = "check " + checkpoints + "toy --tap 'layers[2].layer_output{seq=gen[*]}' --generate ";
  CHECK(call(check + "3").status == 0);
  CHECK(contains(call(check + "3").out, "no errors"));
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
  CHECK(call("tokenize " + toy, "a\n\xff").err ==
        "standard input:2:1: error NNT0401: the text is not UTF-8: byte 0xff at "
        "offset 2; expected a whole UTF-8 character\n");
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
