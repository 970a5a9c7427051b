// Writes the results of a run.
#include "tools/nnterp/OutputFile.h"
#include "runtime/exec/Hash.h"
#include "runtime/exec/Key.h"
#include "runtime/weights/Safetensors.h"

#include <filesystem>
#include <unistd.h>

namespace nnterp {

namespace fs = std::filesystem;

static fs::path folderOf(const std::string &path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

/// A pipe or a device takes the tensors, but has no place beside it.
static bool isSpecial(const std::string &path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

bool checkOutputPath(const std::string &path, Diagnostics &diags) {
  std::error_code failure;
  std::string reason;
  if (fs::is_directory(path, failure))
    reason = "it is a folder; expected the name of a file";
  else if (!fs::is_directory(folderOf(path), failure))
    reason = "there is no folder \"" + folderOf(path).string() + "\"";
  else if (!isSpecial(path) && access(folderOf(path).c_str(), W_OK) != 0)
    reason = "the folder \"" + folderOf(path).string() + "\" cannot be written";
  else
    return true;
  diags.error("NNT0102", {path, 0, 0}, "cannot write \"" + path + "\": " + reason);
  return false;
}

std::map<std::string, std::string> outputMetadata(const PreparedPlan &prepared) {
  const std::string plan = prepared.resolved.plan->json.dump();
  return {{"nnterp_plan", plan},
          {"nnterp_plan_hash", hashOf(plan)},
          {"nnterp_config_hash", hashOf(configFingerprint(prepared.config))},
          {"nnterp_version", std::string(toolVersion())}};
}

static Json describe(const std::string &key, const Tensor &tensor, const TapSpec *tap) {
  std::vector<Json> shape;
  for (int64_t extent : tensor.shape)
    shape.push_back(Json::of(extent));
  Json json = Json::dict();
  json.add("key", Json::of(key));
  if (tap) {
    std::vector<std::string> names = axes(tap->gather.layout);
    if (names.size() < tensor.shape.size()) // generated tokens of a value that has no axis for them
      names.insert(names.begin() + 1, "seq");
    std::vector<Json> axisNames;
    for (const std::string &axis : names)
      axisNames.push_back(Json::of(axis));
    json.add("world", Json::of(tap->gather.world))
        .add("at", Json::of(tap->gather.point))
        .add("when", Json::of(tap->gather.when == When::before ? "before" : "after"))
        .add("layout", Json::of(std::string(name(tap->gather.layout))))
        .add("axes", Json::list(std::move(axisNames)));
  } else { // the generated tokens
    json.add("layout", Json::of(std::string(name(Layout::Tokens))))
        .add("axes", Json::list({Json::of("batch"), Json::of("seq")}));
  }
  json.add("shape", Json::list(std::move(shape))).add("dtype", Json::of(std::string(name(tensor.dtype))));
  return json;
}

bool writeOutputs(const std::string &path, const RunResult &result, Diagnostics &diags) {
  const std::map<std::string, std::string> metadata = outputMetadata(result.prepared);
  if (!writeSafetensors(path, result.outputs, metadata, diags))
    return false;
  if (isSpecial(path))
    return true;
  std::vector<Json> tensors;
  for (const auto &[key, tensor] : result.outputs)
    tensors.push_back(describe(key, tensor, result.tapOf(key)));
  Json index = Json::dict();
  index.add("file", Json::of(fs::path(path).filename().string()))
      .add("plan_hash", Json::of(metadata.at("nnterp_plan_hash")))
      .add("config_hash", Json::of(metadata.at("nnterp_config_hash")))
      .add("version", Json::of(metadata.at("nnterp_version")))
      .add("dtype", Json::of(std::string(name(result.manifest.dtype))))
      .add("tensors", Json::list(std::move(tensors)));
  return writeFileAtomically((folderOf(path) / "index.json").string(), index.dump(1) + "\n", diags);
}

} // namespace nnterp
