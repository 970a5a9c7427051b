// Reads generation_config.json.
#include "runtime/exec/GenerationConfig.h"

#include <filesystem>

namespace nnterp {

namespace {

class GenerationReader {
public:
  GenerationReader(const Json &json, Diagnostics &diags) : json(json), diags(diags) {}

  std::optional<GenerationConfig> read();

private:
  const Json *member(const char *key) const {
    const Json *value = json.find(key);
    return value && value->kind != Json::Kind::null ? value : nullptr;
  }
  void expected(const Json &value, const char *key, const char *what) {
    diags.error("NNT1301", value.loc,
                "expected \"" + std::string(key) + "\" to be " + what + ", found " + std::string(kindName(value.kind)));
    good = false;
  }
  std::optional<int64_t> integer(const char *key) {
    const Json *value = member(key);
    if (!value || value->kind == Json::Kind::integer)
      return value ? std::optional(value->integer) : std::nullopt;
    expected(*value, key, "an integer");
    return std::nullopt;
  }
  std::optional<double> number(const char *key) {
    const Json *value = member(key);
    if (!value || value->isNumber())
      return value ? std::optional(value->number) : std::nullopt;
    expected(*value, key, "a number");
    return std::nullopt;
  }
  void readEos(GenerationConfig &config);

  const Json &json;
  Diagnostics &diags;
  bool good = true;
};

/// One id, or a list of ids.
void GenerationReader::readEos(GenerationConfig &config) {
  const Json *eos = member("eos_token_id");
  if (!eos)
    return;
  if (eos->kind == Json::Kind::integer) {
    config.eos = {eos->integer};
    return;
  }
  if (!eos->isArray())
    return expected(*eos, "eos_token_id", "an id or a list of ids");
  for (const Json &id : eos->array)
    if (id.kind == Json::Kind::integer)
      config.eos.push_back(id.integer);
    else
      expected(id, "eos_token_id", "an id or a list of ids");
}

std::optional<GenerationConfig> GenerationReader::read() {
  if (!json.isObject()) {
    diags.error("NNT1301", json.loc, "expected an object, found " + std::string(kindName(json.kind)));
    return std::nullopt;
  }
  GenerationConfig config;
  readEos(config);
  config.pad = integer("pad_token_id");
  config.topK = integer("top_k");
  config.temperature = number("temperature");
  config.topP = number("top_p");
  if (const Json *sample = member("do_sample")) {
    if (sample->kind == Json::Kind::boolean)
      config.sample = sample->boolean;
    else
      expected(*sample, "do_sample", "true or false");
  }
  return good ? std::optional(std::move(config)) : std::nullopt;
}

} // namespace

std::optional<GenerationConfig> readGenerationConfig(const Json &json, Diagnostics &diags) {
  return GenerationReader(json, diags).read();
}

std::optional<GenerationConfig> loadGenerationConfig(const std::string &folder, Diagnostics &diags) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(folder) / "generation_config.json";
  std::error_code failure;
  if (!fs::exists(path, failure))
    return GenerationConfig();
  const std::optional<Json> json = readJsonFile(path.string(), diags);
  return json ? readGenerationConfig(*json, diags) : std::nullopt;
}

} // namespace nnterp
