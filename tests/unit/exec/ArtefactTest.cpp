// Tests of compiled programs kept as folders: they are read whole or not at all, and run only what they were compiled
// for.
#include "tools/nnterp/ArtefactProgram.h"
#include "../weights/Fixtures.h"
#include "runtime/abi/Frame.h"
#include "runtime/exec/Hash.h"
#include "runtime/exec/HostTier.h"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace nnterp;
namespace fs = std::filesystem;

namespace {

/// A plan for the toy model, and the program of the tests as if it were compiled from it.
struct Kept {
  explicit Kept(const std::string &edit = "layers[2].layer_output{seq=1} scale 2", int64_t generate = 0) {
    prepare(edit, generate);
    manifest.abi = abi::version;
    manifest.tier = "generic";
    manifest.target = "cpu";
    manifest.config = hashOf(configFingerprint(prepared->config));
    manifest.structure = prepared->resolved.structure();
  }
  void prepare(const std::string &edit, int64_t generate, const std::string &checkpoint = "toy") {
    PlanSource source;
    source.flags.edits = {edit};
    source.flags.taps = {"logits"};
    prepared = preparePlan(NNTERP_TEST_DATA "/checkpoints/" + checkpoint, source, runShape(generate), diags);
    INFO(text(diags));
    REQUIRE(prepared);
  }
  /// The folder, written and read again.
  std::optional<Artefact> folder(const std::string &plan = "{}") {
    REQUIRE(writeArtefact(dir.path, readBytes(TEST_PROGRAM), manifest, plan, diags));
    return readArtefact(dir.path, diags);
  }
  std::optional<ReadyProgram> open() {
    std::optional<Artefact> artefact = folder();
    REQUIRE(artefact);
    std::optional<OpenWeights> weights =
        openWeights(NNTERP_TEST_DATA "/checkpoints/toy", prepared->config, std::nullopt, diags);
    REQUIRE(weights);
    return openArtefact(*artefact, {*prepared, weights->index, manifest.dtype}, diags, nullptr);
  }
  std::string errors() { return text(diags); }

  TempDir dir;
  Diagnostics diags;
  std::optional<PreparedPlan> prepared;
  Manifest manifest;
};

} // namespace

TEST_CASE("an artefact reads back as it was written", "[artefact]") {
  Kept kept;
  std::optional<Artefact> read = kept.folder("{\"nnterp_plan\": 1}");
  INFO(kept.errors());
  REQUIRE(read);
  CHECK(readBytes(read->object) == readBytes(TEST_PROGRAM));
  CHECK(read->manifest.structure == kept.manifest.structure);
  CHECK(read->plan == "{\"nnterp_plan\": 1}");
  CHECK(kept.dir.names() == std::vector<std::string>{"checksum", "manifest.json", "plan.json", "program.so"});
}

TEST_CASE("an artefact runs every plan of its structure", "[artefact]") {
  Kept kept;
  std::optional<ReadyProgram> same = kept.open();
  INFO(kept.errors());
  REQUIRE(same);
  CHECK_FALSE(same->compiled);
  kept.prepare("layers[2].layer_output{seq=0|3} scale 0.25", 0); // another number, other tokens
  CHECK(kept.open());
}

TEST_CASE("NNT1748: no compiled program", "[artefact]") {
  Diagnostics none;
  CHECK_FALSE(readArtefact("/nowhere", none));
  CHECK(text(none) ==
        "/nowhere: error NNT1748: \"/nowhere\" is no compiled program: cannot read \"/nowhere/program.so\": No such "
        "file or directory; expected a folder that nnterp compile --out wrote\n");
  for (const char *file : {"program.so", "manifest.json", "checksum"}) {
    Kept kept;
    REQUIRE(kept.folder());
    writeBytes(kept.dir / file, readBytes(kept.dir / file) + " ");
    CHECK_FALSE(readArtefact(kept.dir.path, kept.diags));
    CHECK(kept.errors() ==
          kept.dir.path + ": error NNT1748: \"" + kept.dir.path +
              "\" is no compiled program: its files are not those that were written together; expected a folder "
              "that nnterp compile --out wrote\n");
    fs::remove(kept.dir / file);
    Diagnostics missing;
    CHECK_FALSE(readArtefact(kept.dir.path, missing));
    CHECK(missing.all().at(0).code == "NNT1748");
  }
  Kept kept;
  std::optional<Artefact> bare = kept.folder("");
  REQUIRE(bare);
  CHECK_FALSE(keptPlan(*bare, {}, kept.diags));
  CHECK(kept.errors() == bare->folder + ": error NNT1748: \"" + bare->folder +
                             "\" has no plan.json; expected --plan with the plan that it was compiled from\n");
}

TEST_CASE("NNT1015: an artefact of another version", "[artefact]") {
  Kept kept;
  kept.manifest.abi = 99;
  CHECK_FALSE(kept.folder());
  CHECK(kept.errors() ==
        kept.dir.path + ": error NNT1015: \"" + kept.dir.path +
            "\" was compiled for version 99 of the interface to programs; this executor has version 3\n");
}

TEST_CASE("NNT1749: program of another model", "[artefact]") {
  Kept kept;
  kept.manifest.config = "another";
  CHECK_FALSE(kept.open());
  CHECK(kept.errors() == kept.dir.path +
                             ": error NNT1749: it was compiled for another configuration than that of " NNTERP_TEST_DATA
                             "/checkpoints/toy/config.json\n");
}

TEST_CASE("NNT1751: plan does not fit the program", "[artefact]") {
  Kept kept;
  kept.prepare("layers[3].layer_output{seq=1} scale 2", 2);
  CHECK_FALSE(kept.open());
  const std::string said = kept.errors();
  CHECK(said.find(kept.dir.path + ": error NNT1751: it was compiled for a plan of another structure\n") == 0);
  CHECK(said.find("  note: it is not for a run that generates tokens (--generate)\n"
                  "  note: it is not for a run that generates two tokens or more (--generate 2)\n") !=
        std::string::npos);
  CHECK(said.find("  note: compiled, but not in this plan: edit main/layers[2].layer_output") != std::string::npos);
  CHECK(said.find("  note: in this plan, but not compiled: edit main/layers[3].layer_output") != std::string::npos);

  Kept other("layers[2].layer_output zero", 2);
  other.prepare("layers[2].layer_output zero", 0);
  CHECK_FALSE(other.open());
  CHECK(other.errors().find("  note: it is for a run that generates tokens (--generate)\n") != std::string::npos);
}

TEST_CASE("NNT1752: program for another processor", "[artefact]") {
  Kept kept;
  kept.manifest.tier = "avx9000";
  CHECK_FALSE(kept.open());
  CHECK(kept.errors() == kept.dir.path + ": error NNT1752: it was compiled for processors with avx9000; this one has " +
                             hostTier() + "\n");
}

TEST_CASE("a machine runs its own tier and all below", "[artefact]") {
  CHECK(runsTier(hostTier()));
  CHECK(runsTier("generic"));
  CHECK_FALSE(runsTier("neon"));
  CHECK_FALSE(runsTier(""));
}

TEST_CASE("the plan that is kept says where its files are", "[artefact]") {
  TempDir dir;
  Diagnostics diags;
  REQUIRE(writeSafetensors(dir / "steer.safetensors", {{"v", tensorOf(DType::f32, {2}, {1, 2})}}, {}, diags));
  writeBytes(dir / "plan.json",
             R"({"nnterp_plan": 1, "values": {"v": {"file": "steer.safetensors", "key": "v"}, "w": {"data": [3]}},
    "inputs": {"main": {"file": "in/../prompt.safetensors"}}, "taps": ["logits"]})");
  PlanSource source;
  source.path = dir / "plan.json";
  std::optional<Plan> plan = loadPlan(source, diags);
  INFO(text(diags));
  REQUIRE(plan);
  Artefact artefact;
  artefact.folder = "kept";
  artefact.plan = planToKeep(*plan);
  std::optional<Json> kept = keptPlan(artefact, {}, diags);
  REQUIRE(kept);
  const Json *values = kept->find("values");
  CHECK(values->find("v")->find("file")->string ==
        (fs::absolute(dir.path) / "steer.safetensors").lexically_normal().string());
  CHECK(kept->find("inputs")->find("main")->find("file")->string ==
        (fs::absolute(dir.path) / "prompt.safetensors").lexically_normal().string());
  // A value that the command line defines anew makes room for it.
  std::optional<Json> other = keptPlan(artefact, {"v=other.safetensors#v"}, diags);
  REQUIRE(other);
  CHECK_FALSE(other->find("values")->find("v"));
  CHECK(other->find("values")->find("w"));
}
