// Tests of the files a run leaves.
#include "tools/nnterp/OutputFile.h"
#include "RunResults.h"

using namespace nnterp;

TEST_CASE("tensors, metadata and the index are written", "[output]") {
  RunResult result = toyResult({"layers[0].layer_output@before=early", "logits"}, {{1, 2}});
  result.outputs[0].second.as<float>()[5] = 1.5f;
  TempDir dir;
  Diagnostics diags;
  REQUIRE(writeOutputs(dir / "o.safetensors", result, diags));
  CHECK(dir.names() == std::vector<std::string>{"index.json", "o.safetensors"});

  std::optional<Safetensors> file = Safetensors::open(dir / "o.safetensors", diags);
  REQUIRE(file);
  CHECK(same(*file->tensor("early@before"), result.outputs[0].second));
  CHECK(file->metadata() == outputMetadata(result.prepared));
  CHECK(file->metadata().at("nnterp_plan").find("early") != std::string::npos);
  CHECK(file->metadata().at("nnterp_plan_hash").size() == 32);

  std::optional<Json> index = readJsonFile(dir / "index.json", diags);
  REQUIRE(index);
  CHECK(index->find("file")->string == "o.safetensors");
  const Json &first = index->find("tensors")->array.at(0);
  CHECK(first.find("key")->string == "early@before");
  CHECK(first.find("at")->string == "layers[0].layer_output");
  CHECK(first.find("when")->string == "before");
  CHECK(first.find("layout")->string == "Residual");
  CHECK(first.find("axes")->dump() == R"(["batch","seq","hidden"])");
  CHECK(first.find("shape")->dump() == "[1,2,128]");
}

TEST_CASE("NNT0102: a path that cannot be written is refused before the run", "[output]") {
  TempDir dir;
  Diagnostics diags;
  CHECK(checkOutputPath(dir / "o.safetensors", diags));
  CHECK(checkOutputPath("/dev/null", diags));
  CHECK(diags.all().empty());
  CHECK_FALSE(checkOutputPath(dir.path, diags));
  CHECK_FALSE(checkOutputPath(dir / "no/o.safetensors", diags));
  CHECK(text(diags) == dir.path + ": error NNT0102: cannot write \"" + dir.path +
                           "\": it is a folder; expected the name of a file\n" + (dir / "no/o.safetensors") +
                           ": error NNT0102: cannot write \"" + (dir / "no/o.safetensors") +
                           "\": there is no folder \"" + (dir / "no") + "\"\n");
}
