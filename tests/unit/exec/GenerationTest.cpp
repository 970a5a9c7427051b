// Tests of how a run generates: flags over the checkpoint's files, end tokens and pads.
#include "tools/nnterp/Generation.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

using Ids = std::vector<int64_t>;

namespace {

ModelConfig model(Ids eos = {}) {
  ModelConfig config;
  config.vocabSize = 640;
  config.eosTokenIds = std::move(eos);
  return config;
}

GenerationOptions some() {
  GenerationOptions options;
  options.tokens = 5;
  return options;
}

GenerationSettings settings(const GenerationOptions &options, const std::string &folder,
                            const ModelConfig &config = model()) {
  Diagnostics diags;
  std::optional<GenerationSettings> s = generationSettings(options, folder, config, diags);
  INFO(text(diags));
  REQUIRE(s);
  return *s;
}

} // namespace

TEST_CASE("the checkpoint's defaults hold", "[generation]") {
  const GenerationSettings tiny = settings(some(), data("checkpoints/tiny-text"));
  CHECK(tiny.tokens == 5);
  CHECK(tiny.sampling.sample);
  CHECK(tiny.sampling.temperature == 1);
  CHECK(tiny.sampling.topK == 20);
  CHECK(tiny.sampling.topP == 0.95);
  CHECK(tiny.eos == Ids{292, 290});
  CHECK(tiny.pad == 290);
  CHECK(tiny.ends(290));
  CHECK_FALSE(tiny.ends(5));
  CHECK_FALSE(settings(some(), data("checkpoints/toy")).sampling.sample); // its file does not ask for it
}

TEST_CASE("flags win", "[generation]") {
  GenerationOptions greedy = some();
  greedy.greedy = true;
  CHECK_FALSE(settings(greedy, data("checkpoints/tiny-text")).sampling.sample);
  GenerationOptions hot = some();
  hot.temperature = 2.5;
  hot.seed = 9;
  const GenerationSettings toy = settings(hot, data("checkpoints/toy"));
  CHECK(toy.sampling.sample); // a temperature asks for sampling
  CHECK(toy.sampling.temperature == 2.5);
  CHECK(toy.sampling.topK == 50); // as transformers has it where nobody says
  CHECK(toy.sampling.topP == 1);
  CHECK(toy.sampling.seed == 9);
  GenerationOptions cut = some();
  cut.topK = 3;
  CHECK(settings(cut, data("checkpoints/tiny-text")).sampling.topK == 3);
  CHECK(settings(cut, data("checkpoints/tiny-text")).sampling.topP == 0.95);
  GenerationOptions ends = some();
  ends.eos = Ids{7};
  CHECK(settings(ends, data("checkpoints/toy")).eos == Ids{7});
  CHECK(settings(ends, data("checkpoints/toy")).pad == 611);
  ends.eos = Ids();
  ends.pad = 0;
  CHECK(settings(ends, data("checkpoints/toy")).eos.empty());
  CHECK(settings(ends, data("checkpoints/toy")).pad == 0);
}

TEST_CASE("end tokens and pad: generation_config.json, else the configuration, else the tokenizer", "[generation]") {
  TempDir dir;
  CHECK(settings(some(), dir.path).eos.empty());
  CHECK(settings(some(), dir.path, model({5, 6})).eos == Ids{5, 6});
  CHECK(settings(some(), dir.path, model({5, 6})).pad == 5); // the first end token
  for (const char *name : {"tokenizer.json", "tokenizer_config.json"})
    writeBytes(dir / name, readBytes(data(std::string("checkpoints/toy/") + name)));
  const GenerationSettings fromTokenizer = settings(some(), dir.path);
  CHECK(fromTokenizer.eos == Ids{611}); // <|endoftext|>
  CHECK(fromTokenizer.pad == 611);
  CHECK(settings(some(), dir.path, model({5, 6})).pad == 611);
  writeBytes(dir / "tokenizer_config.json", R"({"eos_token": {"content": "<|im_end|>", "special": true}})");
  CHECK(settings(some(), dir.path).eos == Ids{613});
  CHECK(settings(some(), dir.path).pad == 613);
  writeBytes(dir / "generation_config.json", R"({"eos_token_id": 3, "pad_token_id": 4})");
  CHECK(settings(some(), dir.path, model({5, 6})).eos == Ids{3});
  CHECK(settings(some(), dir.path, model({5, 6})).pad == 4);
}

TEST_CASE("nothing that only generation needs stops a run without", "[generation]") {
  TempDir dir;
  writeBytes(dir / "generation_config.json", "broken");
  Diagnostics diags;
  CHECK(generationSettings({}, dir.path, model(), diags));
  CHECK(diags.all().empty());
  CHECK_FALSE(generationSettings(some(), dir.path, model(), diags));
}

TEST_CASE("NNT1303: end token outside the vocabulary", "[generation]") {
  GenerationOptions options = some();
  options.eos = Ids{3, 640, -1};
  Diagnostics diags;
  CHECK_FALSE(generationSettings(options, data("checkpoints/toy"), model(), diags));
  CHECK(text(diags) == "--eos: error NNT1303: id 640 is outside the vocabulary (0 to 639)\n"
                       "--eos: error NNT1303: id -1 is outside the vocabulary (0 to 639)\n");
}

TEST_CASE("NNT1302: sampling that cannot be", "[generation]") {
  GenerationOptions options = some();
  options.topP = 2;
  Diagnostics diags;
  CHECK_FALSE(generationSettings(options, data("checkpoints/toy"), model(), diags));
  CHECK(diags.all().at(0).code == "NNT1302");
  options.topP.reset();
  options.greedy = true; // then it does not matter what the file says
  CHECK(generationSettings(options, data("checkpoints/toy"), model(), diags));
}
