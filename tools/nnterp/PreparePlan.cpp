// Reads configuration, names, plan and checkpoint headers.
#include "tools/nnterp/PreparePlan.h"
#include "frontend/families/Qwen35MoeTensors.h"

#include <algorithm>
#include <filesystem>

namespace nnterp {

namespace fs = std::filesystem;

std::optional<Plan> loadPlan(const PlanSource &source, Diagnostics &diags) {
  std::optional<Json> json = source.json;
  if (!source.path.empty()) {
    json = readJsonFile(source.path, diags);
    if (!json)
      return std::nullopt;
  }
  json = expandFlags(std::move(json), source.flags, diags);
  return json ? readPlan(*json, fs::path(source.path).parent_path().string(), diags) : std::nullopt;
}

/// Whether a plan names a value that exists only where there are images.
bool namesImages(const Plan &plan, const PointTable &points) {
  auto isOfImage = [&](const std::string &name) {
    NameError unreported; // resolving reports it
    std::optional<std::vector<PointRef>> found = points.expand(name, unreported);
    return found && found->front().info->presence == Presence::image;
  };
  for (const PlanEdit &edit : plan.edits)
    if (isOfImage(edit.at) || (edit.source && edit.source->at && isOfImage(*edit.source->at)))
      return true;
  return std::any_of(plan.taps.begin(), plan.taps.end(), [&](const PlanTap &tap) { return isOfImage(tap.at); });
}

std::optional<PreparedPlan> preparePlan(const std::string &checkpoint, const PlanSource &source, RunShape shape,
                                        Diagnostics &diags, bool textOnly) {
  std::optional<ModelConfig> config = loadConfig(checkpoint, diags, textOnly);
  std::optional<Plan> plan = loadPlan(source, diags);
  if (!config || !plan)
    return std::nullopt;
  PointTable points = qwen35MoePoints(*config);
  shape.images = shape.images || namesImages(*plan, points);
  std::optional<ResolvedPlan> resolved =
      resolvePlan(std::make_shared<const Plan>(std::move(*plan)), points, *config, shape, diags);
  if (!resolved)
    return std::nullopt;
  return PreparedPlan{std::move(*config), std::move(points), std::move(*resolved)};
}

RunShape runShape(int64_t generate, bool chunked, bool save, bool load) {
  RunShape shape;
  shape.next = generate >= 1;
  shape.steps = generate >= 2;
  shape.resume = chunked || load;
  shape.memory = shape.steps || shape.resume || save;
  shape.save = save;
  return shape;
}

bool isConfigAlone(const std::string &checkpoint) {
  std::error_code failure;
  return fs::path(checkpoint).extension() == ".json" && !fs::is_directory(checkpoint, failure);
}

bool haveWeights(const std::string &checkpoint) {
  std::error_code failure;
  if (isConfigAlone(checkpoint))
    return false;
  for (const fs::directory_entry &entry : fs::directory_iterator(checkpoint, failure)) {
    const std::string file = entry.path().filename().string();
    for (const char *suffix : {".safetensors", ".safetensors.index.json", ".bin", ".bin.index.json", ".pt", ".pth"})
      if (file.size() > std::string(suffix).size() && file.rfind(suffix) == file.size() - std::string(suffix).size())
        return true;
  }
  return false;
}

std::string checkpointFolder(const std::string &checkpoint) {
  if (!isConfigAlone(checkpoint))
    return checkpoint;
  const fs::path parent = fs::path(checkpoint).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// What a model runs in whose weights or configuration say `stored`.
static DType runType(DType stored) {
  return stored == DType::bf16 || stored == DType::f8_e4m3 ? DType::bf16 : DType::f32;
}

std::optional<OpenWeights> openWeights(const std::string &checkpoint, const ModelConfig &config,
                                       std::optional<DType> requested, Diagnostics &diags, bool images) {
  std::optional<DType> dtype = requested;
  if (!dtype && config.dtype)
    dtype = runType(*config.dtype);
  if (!dtype && config.fp8)
    dtype = DType::bf16;

  CheckpointIndex::Options options;
  options.fp8 = config.fp8.has_value();
  if (config.fp8) {
    options.blockRows = config.fp8->blockRows;
    options.blockCols = config.fp8->blockCols;
  }
  options.tiedHead = config.tieWordEmbeddings;
  options.fp8Target = dtype.value_or(DType::f32);
  std::optional<CheckpointIndex> index =
      CheckpointIndex::open(checkpointFolder(checkpoint), wantedTensors(config, images), options, diags);
  if (!index)
    return std::nullopt;
  if (!dtype) {
    const FoundTensor *embedding = index->find("model.embed_tokens.weight");
    dtype = embedding ? runType(embedding->dtype) : DType::f32;
  }
  return OpenWeights{std::move(*index), *dtype};
}

std::map<std::string, DType> storageTypes(const CheckpointIndex &index) {
  std::map<std::string, DType> types;
  for (const FoundTensor &tensor : index.tensors())
    types[tensor.wanted.key] = tensor.dtype;
  return types;
}

} // namespace nnterp
