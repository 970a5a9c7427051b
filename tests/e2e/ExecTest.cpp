// nnterp-exec: what nnterp compile --out wrote, run without a compiler, gives what nnterp run gives.
#include "tests/e2e/Runs.h"

#include "runtime/weights/Safetensors.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace nnterp;
using namespace nnterp::test;
namespace fs = std::filesystem;

namespace {

using Arguments = std::vector<std::string>;

/// Nothing is there but the tool and what the system's loader finds: no compiler, no linker.
const std::string bare = "NNTERP_LIB_DIR=/nowhere PATH=/nowhere";

std::string contents(const fs::path &file) {
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Tensors of an output file.
Outputs tensorsOf(const std::string &path) {
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(path, diags);
  INFO(text(diags));
  REQUIRE(file);
  Outputs outputs;
  for (const SafetensorsEntry &entry : file->entries())
    outputs[entry.key] = *file->tensor(entry.key);
  return outputs;
}

void mustSucceed(const Command &command) {
  INFO(command.err);
  REQUIRE(command.status == 0);
}

Arguments operator+(Arguments a, const Arguments &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A program as a folder, and what `nnterp run` writes for the same plan.
struct Kept {
  explicit Kept(Arguments compile, std::string target = "cpu") : target(std::move(target)), plan(std::move(compile)) {
    mustSucceed(nnterpTool(Arguments{"compile", checkpoint, "--out", artefact, "--target", this->target} + plan));
  }
  void sameAsRun(const Arguments &inputs, const Arguments &given = {}) {
    const std::string ran = folder.path("ran.safetensors"), executed = folder.path("executed.safetensors");
    mustSucceed(nnterpTool(Arguments{"run", checkpoint, "--out", ran, "--target", target} + plan + inputs));
    mustSucceed(exec(Arguments{"--out", executed} + inputs + given));
    const Outputs a = tensorsOf(ran), b = tensorsOf(executed);
    REQUIRE(a.size() == b.size());
    CHECK_FALSE(a.empty());
    for (const auto &[key, tensor] : a) {
      INFO(key);
      REQUIRE(b.count(key) == 1);
      CHECK(sameBits(tensor, b.at(key)));
    }
  }
  Command exec(const Arguments &arguments, const std::string &environment = bare) const {
    const Arguments aim = target == "cpu" ? Arguments() : Arguments{"--target", target};
    return runTool("nnterp-exec", Arguments{artefact, checkpoint} + aim + arguments, environment);
  }

  TemporaryFolder folder;
  const std::string checkpoint = checkpointPath("toy"), artefact = folder.path("artefact"), target;
  const Arguments plan;
};

const Arguments prompt = {"--prompt", "The capital of Italy is"};

} // namespace

TEST_CASE("an artefact gives what a run gives, bit for bit", "[exec]") {
  Kept kept({"--tap", "layers[*].layer_output", "--tap", "logits", "--edit", "layers[2].layer_output{seq=1} add v*2",
             "--value", "v=" + [] {
               std::string numbers = "1";
               for (int i = 1; i < 128; ++i)
                 numbers += "," + std::to_string(i % 7 - 3);
               return numbers;
             }()});
  kept.sameAsRun(prompt);
  kept.sameAsRun({"--prompt", "7 plus 8 is", "--prompt", "The capital of"});
}

TEST_CASE("a value may take the place of the plan's", "[exec]") {
  std::string ones = "1", twos = "2";
  for (int i = 1; i < 128; ++i) {
    ones += ",1";
    twos += ",2";
  }
  const Arguments edit = {"--edit", "layers[2].layer_output add v", "--tap", "logits"};
  Kept kept(edit + Arguments{"--value", "v=" + ones});
  const std::string ran = kept.folder.path("ran.safetensors"), executed = kept.folder.path("executed.safetensors");
  mustSucceed(nnterpTool(Arguments{"run", kept.checkpoint, "--value", "v=" + twos, "--out", ran} + edit + prompt));
  mustSucceed(kept.exec(Arguments{"--value", "v=" + twos, "--out", executed} + prompt));
  CHECK(sameBits(tensorsOf(ran).at("logits"), tensorsOf(executed).at("logits")));
}

TEST_CASE("an artefact generates, in pieces, from and to states", "[exec]") {
  Kept kept({"--generate", "4"});
  kept.sameAsRun(prompt, {"--generate", "4"});
  Kept all({"--for", "chunk", "--for", "save-state", "--generate", "2", "--quiet"});
  const std::string state = all.folder.path("state.safetensors");
  mustSucceed(all.exec(prompt + Arguments{"--generate", "3", "--chunk", "2", "--save-state", state, "--no-eos"}));
  CHECK(fs::exists(state));
  mustSucceed(all.exec({"--generate", "3", "--load-state", state, "--save-state", state, "--no-eos"}));
}

TEST_CASE("a plan of another structure is refused", "[exec]") {
  Kept kept({"--tap", "logits"});
  const Command generate = kept.exec(prompt + Arguments{"--generate", "2"});
  CHECK(generate.status == 1);
  CHECK(generate.out.empty());
  CHECK(generate.err.find("error NNT1751: it was compiled for a plan of another structure\n") != std::string::npos);
  CHECK(generate.err.find("note: it is not for a run that generates two tokens or more (--generate 2)\n") !=
        std::string::npos);
  const std::string plan = kept.folder.write("other.json", R"({"nnterp_plan": 1, "taps": ["layers[0].layer_output"]})");
  const Command other = kept.exec(prompt + Arguments{"--plan", plan});
  CHECK(other.status == 1);
  CHECK(other.err.find("note: in this plan, but not compiled: tap \"layers[0].layer_output\"") != std::string::npos);
}

TEST_CASE("nothing of LLVM is in the process", "[exec]") {
  Kept kept({"--tap", "logits"});
  const std::string opened = kept.folder.path("opened");
  mustSucceed(kept.exec(prompt, bare + " LD_DEBUG=files LD_DEBUG_OUTPUT='" + opened + "'"));
  std::string all;
  for (const fs::directory_entry &file : fs::directory_iterator(fs::path(opened).parent_path()))
    if (file.path().filename().string().rfind("opened", 0) == 0)
      all += contents(file.path());
  CHECK(all.find("program.so") != std::string::npos); // the loader's own account of what it opened
  for (const char *name : {"LLVM", "MLIR", "nnterp_compiler", "torch"}) {
    INFO(name);
    CHECK(all.find(name) == std::string::npos);
  }
}

TEST_CASE("a program for a GPU runs in the emulator without a compiler", "[exec]") {
  Kept kept({"--tap", "layers[3].layer_output", "--generate", "4"}, "emulator");
  kept.sameAsRun(prompt, {"--generate", "4"});
  const Command cpu = runTool(
      "nnterp-exec", Arguments{kept.artefact, kept.checkpoint, "--target", "cpu", "--generate", "4"} + prompt, bare);
  CHECK(cpu.status == 1);
  CHECK(cpu.err.find("was compiled for a GPU; expected the target cuda or emulator\n") != std::string::npos);
}
