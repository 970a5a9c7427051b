// Puts together how a run generates.
#include "tools/nnterp/Generation.h"
#include "runtime/exec/GenerationConfig.h"
#include "runtime/text/Tokenizer.h"

#include <filesystem>

namespace nnterp {

namespace {

/// Special tokens of tokenizer_config.json, looked up in the tokenizer; a checkpoint need have neither.
class SpecialTokens {
public:
  explicit SpecialTokens(std::string folder) : folder(std::move(folder)) {}

  std::optional<int64_t> idOf(const char *key) const {
    Diagnostics unreported; // an end token is a default: who needs the tokenizer for more is told what is wrong with it
    const std::optional<Json> json =
        readJsonFile((std::filesystem::path(folder) / "tokenizer_config.json").string(), unreported);
    const Json *token = json ? json->find(key) : nullptr;
    if (token && token->isObject()) // {"content": "<|im_end|>", …}
      token = token->find("content");
    if (!token || !token->isString())
      return std::nullopt;
    const std::optional<Tokenizer> tokenizer = Tokenizer::load(folder, unreported);
    return tokenizer ? tokenizer->idOf(token->string) : std::nullopt;
  }

private:
  std::string folder;
};

SamplingSettings samplingOf(const GenerationOptions &options, const GenerationConfig &defaults) {
  SamplingSettings s;
  const bool asked = options.temperature || options.topK || options.topP;
  s.sample = !options.greedy && (asked || defaults.sample.value_or(false));
  s.temperature = options.temperature.value_or(defaults.temperature.value_or(1));
  s.topK = options.topK.value_or(defaults.topK.value_or(50));
  s.topP = options.topP.value_or(defaults.topP.value_or(1));
  s.seed = options.seed;
  return s;
}

} // namespace

std::optional<GenerationSettings> generationSettings(const GenerationOptions &options, const std::string &folder,
                                                     const ModelConfig &config, Diagnostics &diags) {
  GenerationSettings settings;
  settings.tokens = options.tokens;
  if (options.tokens == 0) // nothing of a checkpoint that only generation needs can stop a run without
    return settings;
  const std::optional<GenerationConfig> defaults = loadGenerationConfig(folder, diags);
  if (!defaults)
    return std::nullopt;
  settings.sampling = samplingOf(options, *defaults);
  bool good = !settings.sampling.sample || checkSampling(settings.sampling, {"sampling", 0, 0}, diags);

  const SpecialTokens tokenizer(folder);
  if (options.eos) {
    settings.eos = *options.eos;
    for (int64_t id : settings.eos)
      if (id < 0 || id >= config.vocabSize) {
        diags.error("NNT1303", {"--eos", 0, 0},
                    "id " + std::to_string(id) + " is outside the vocabulary (0 to " +
                        std::to_string(config.vocabSize - 1) + ")");
        good = false;
      }
  } else {
    settings.eos = !defaults->eos.empty() ? defaults->eos : config.eosTokenIds;
    if (settings.eos.empty())
      if (std::optional<int64_t> id = tokenizer.idOf("eos_token"))
        settings.eos = {*id};
  }
  std::optional<int64_t> pad = options.pad ? options.pad : defaults->pad;
  if (!pad && !settings.eos.empty())
    pad = tokenizer.idOf("pad_token").value_or(settings.eos.front());
  settings.pad = pad.value_or(0); // without an end token nothing stands behind one
  return good ? std::optional(std::move(settings)) : std::nullopt;
}

} // namespace nnterp
