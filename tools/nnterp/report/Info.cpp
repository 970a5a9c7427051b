// Describes a checkpoint for people and for scripts.
#include "tools/nnterp/report/Info.h"

#include "frontend/families/Qwen35MoeTensors.h"
#include "runtime/weights/Checkpoint.h"
#include "tools/nnterp/report/Points.h"
#include "tools/nnterp/report/Units.h"

#include <algorithm>
#include <map>

namespace nnterp {

namespace {

struct Size {
  std::string name;
  std::optional<int64_t> value;
  std::string absent; ///< said when there is no value
};

/// The sizes that nnterp serves beside the values: spec 7.9.
std::vector<Size> servedSizes(const ModelConfig &c) {
  std::vector<Size> list = {
      {"num_layers", c.numLayers, ""},    {"hidden_size", c.hiddenSize, ""},     {"num_heads", c.numHeads, ""},
      {"num_kv_heads", c.numKvHeads, ""}, {"head_dim", c.headDim, ""},           {"qk_head_dim", c.headDim, ""},
      {"vocab_size", c.vocabSize, ""},    {"mlp.num_experts", c.numExperts, ""}, {"mlp.top_k", c.expertsPerToken, ""}};
  if (c.vision) {
    const VisionConfig &v = *c.vision;
    for (Size size : std::vector<Size>{{"vision.num_layers", v.depth, ""},
                                       {"vision.vision_hidden_size", v.hiddenSize, ""},
                                       {"vision.num_heads", v.numHeads, ""},
                                       {"vision.head_dim", v.hiddenSize / v.numHeads, ""},
                                       {"vision.intermediate_size", v.intermediateSize, ""},
                                       {"vision.patch_size", v.patchSize, ""},
                                       {"vision.spatial_merge_size", v.spatialMergeSize, ""},
                                       {"vision.image_size", std::nullopt, "unavailable: images keep their own size"},
                                       {"vision.window_size", std::nullopt, "none: attention spans the whole image"}})
      list.push_back(size);
  }
  return list;
}

const char *sourceWord(ConfigSource source) {
  switch (source) {
  case ConfigSource::file:
    return "file";
  case ConfigSource::fallback:
    return "default";
  case ConfigSource::derived:
    break;
  }
  return "derived";
}

/// Weights of the text model: all of them, and those that one token passes through.
struct Parameters {
  int64_t all = 0, active = 0;
};

Parameters countParameters(const ModelConfig &c) {
  Parameters count;
  for (const WantedTensor &tensor : wantedTensors(c)) {
    if (c.tieWordEmbeddings && tensor.key == "lm_head.weight")
      continue;
    int64_t n = elementCount(tensor.shape);
    count.all += n;
    if (tensor.key == "model.embed_tokens.weight" && !c.tieWordEmbeddings)
      count.active += c.hiddenSize; // one row of the table
    else
      count.active += tensor.expertParts.empty() ? n : n / c.numExperts * c.expertsPerToken;
  }
  return count;
}

/// Tensors of equal shape and dtype whose keys differ in numbers only.
struct TensorGroup {
  std::string key;
  Shape shape;
  DType dtype;
  int64_t count = 0;
  uint64_t bytes = 0;
};

std::string withoutNumbers(const std::string &key) {
  std::string pattern;
  for (size_t start = 0; start <= key.size();) {
    size_t end = std::min(key.find('.', start), key.size());
    std::string word = key.substr(start, end - start);
    bool number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    pattern += (start ? "." : "") + (number ? std::string("*") : word);
    start = end + 1;
  }
  return pattern;
}

std::vector<TensorGroup> grouped(const std::vector<SafetensorsEntry> &entries) {
  std::vector<TensorGroup> groups;
  std::map<std::string, size_t> places;
  for (const SafetensorsEntry &entry : entries) {
    std::string pattern = withoutNumbers(entry.key);
    std::string id = pattern + toString(entry.shape) + std::string(name(entry.dtype));
    auto [place, added] = places.emplace(id, groups.size());
    if (added)
      groups.push_back({pattern, entry.shape, entry.dtype, 0, 0});
    TensorGroup &group = groups[place->second];
    ++group.count;
    group.bytes += entry.end - entry.begin;
  }
  return groups;
}

struct DTypeTotal {
  int64_t tensors = 0;
  uint64_t bytes = 0;
};

std::map<std::string, DTypeTotal> byDtype(const std::vector<SafetensorsEntry> &entries) {
  std::map<std::string, DTypeTotal> totals;
  for (const SafetensorsEntry &entry : entries) {
    DTypeTotal &total = totals[std::string(name(entry.dtype))];
    ++total.tensors;
    total.bytes += entry.end - entry.begin;
  }
  return totals;
}

int64_t copiedOnLoad(const CheckpointIndex &index) {
  int64_t count = 0;
  for (const FoundTensor &tensor : index.tensors())
    count += !tensor.mapped;
  return count;
}

std::string table(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], displayWidth(row[i]));
  }
  std::string text;
  for (const auto &row : rows) {
    text += "  ";
    for (size_t i = 0; i < row.size(); ++i)
      text += i + 1 < row.size() ? padded(row[i], widths[i] + 2) : row[i];
    text += "\n";
  }
  return text;
}

/// Long lists are cut for the terminal; `--json` has them whole.
std::string shortened(const std::string &value) {
  constexpr size_t kMost = 60;
  return value.size() <= kMost ? value : value.substr(0, kMost) + "…";
}

std::string configTable(const ModelConfig &c) {
  std::vector<std::vector<std::string>> rows;
  for (const ConfigValue &value : c.values) {
    std::string place = value.source == ConfigSource::file ? ", line " + std::to_string(value.loc.line) : "";
    rows.push_back({value.path, shortened(value.value), sourceWord(value.source) + place});
  }
  std::string text = "\nConfiguration in force (" + c.file + ")\n" + table(rows);
  if (!c.unused.empty()) {
    std::vector<std::string> names;
    for (const ConfigValue &value : c.unused)
      names.push_back(value.path);
    text += wrapped("kept, without effect: " + joined(names, ", "), 2, 120);
  }
  return text;
}

std::string tensorTable(const CheckpointIndex &index) {
  std::vector<std::vector<std::string>> rows;
  for (const TensorGroup &group : grouped(index.stored()))
    rows.push_back({group.key, toString(group.shape), std::string(name(group.dtype)),
                    (group.count > 1 ? std::to_string(group.count) + " x, " : "") + bytesText(double(group.bytes))});
  std::string text = "\nTensors: " + countText(int64_t(index.stored().size())) + ", " +
                     bytesText(double(index.storedBytes())) + "\n" + table(rows);
  for (const auto &[dtype, total] : byDtype(index.stored()))
    text += "  " + dtype + ": " + countText(total.tensors) + " tensors, " + bytesText(double(total.bytes)) + "\n";
  text += "  the graph uses " + std::to_string(index.tensors().size());
  if (int64_t copies = copiedOnLoad(index))
    text +=
        "; " + std::to_string(copies) + " are copied once on loading (FP8 or one tensor per expert), the others mapped";
  else
    text += ", all mapped from the files";
  return text + "\n";
}

} // namespace

std::string blockPattern(const std::vector<BlockKind> &kinds) {
  auto runs = [](auto from, auto to) {
    std::vector<std::string> words;
    while (from != to) {
      auto end = std::find_if(from, to, [&](BlockKind kind) { return kind != *from; });
      words.push_back(std::to_string(end - from) + (*from == BlockKind::linear ? " linear" : " full"));
      from = end;
    }
    return words;
  };
  for (size_t period = 1; period <= kinds.size() / 2; ++period) {
    bool repeats = kinds.size() % period == 0;
    for (size_t i = period; repeats && i < kinds.size(); ++i)
      repeats = kinds[i] == kinds[i - period];
    if (repeats && period > 1)
      return std::to_string(kinds.size() / period) + " x (" +
             joined(runs(kinds.begin(), kinds.begin() + std::ptrdiff_t(period)), ", ") + ")";
    if (repeats)
      break; // all blocks alike
  }
  return joined(runs(kinds.begin(), kinds.end()), ", ");
}

std::string infoText(const ModelConfig &c, const CheckpointIndex *index) {
  Parameters parameters = countParameters(c);
  std::string text = table({
      {"family", "qwen3_5_moe"},
      {"model_type", c.modelType + (c.multimodal ? " (text and images)" : " (text only)")},
      {"architecture", c.architecture.empty() ? "not given" : c.architecture},
      {"blocks", std::to_string(c.numLayers) + ": " + blockPattern(c.layerTypes)},
      {"text weights", countText(parameters.all) + ", of which a token passes " + countText(parameters.active)},
      {"dtype", (c.dtype ? std::string(name(*c.dtype)) : std::string("not given")) +
                    (c.fp8 ? ", weights in FP8 blocks of " + std::to_string(c.fp8->blockRows) + " x " +
                                 std::to_string(c.fp8->blockCols)
                           : std::string()) +
                    "; runs in " + std::string(name(dtypeWithoutWeights(c)))},
  });
  text += "\nSizes\n";
  std::vector<std::vector<std::string>> rows;
  for (const Size &size : servedSizes(c))
    rows.push_back({size.name, size.value ? std::to_string(*size.value) : size.absent});
  text += table(rows) + configTable(c);
  return text + (index ? tensorTable(*index) : "\nNo weights were read.\n");
}

std::string infoJson(const ModelConfig &c, const CheckpointIndex *index) {
  Parameters parameters = countParameters(c);
  Json result = Json::dict();
  result.set("family", Json::of("qwen3_5_moe"));
  result.set("model_type", Json::of(c.modelType));
  result.set("architecture", c.architecture.empty() ? Json() : Json::of(c.architecture));
  result.set("block_pattern", Json::of(blockPattern(c.layerTypes)));
  Json kinds = Json::list();
  for (BlockKind kind : c.layerTypes)
    kinds.array.push_back(Json::of(kind == BlockKind::linear ? "linear" : "full"));
  result.set("blocks", std::move(kinds));
  result.set("dtype", c.dtype ? Json::of(std::string(name(*c.dtype))) : Json());
  result.set("run_dtype", Json::of(std::string(name(dtypeWithoutWeights(c)))));
  result.set("text_weights", Json::of(parameters.all));
  result.set("text_weights_per_token", Json::of(parameters.active));
  Json sizes = Json::dict();
  for (const Size &size : servedSizes(c))
    sizes.set(size.name, size.value ? Json::of(*size.value) : Json());
  result.set("sizes", std::move(sizes));

  Json values = Json::list();
  auto addValue = [&](const ConfigValue &value, const char *source) {
    Json row = Json::dict();
    row.set("path", Json::of(value.path));
    Diagnostics ignored; // the text was written by `dump`
    auto parsed = parseJson(value.value, c.file, ignored);
    row.set("value", parsed ? std::move(*parsed) : Json::of(value.value));
    row.set("source", Json::of(source));
    if (value.source == ConfigSource::file)
      row.set("line", Json::of(int64_t(value.loc.line)));
    values.array.push_back(std::move(row));
  };
  for (const ConfigValue &value : c.values)
    addValue(value, sourceWord(value.source));
  for (const ConfigValue &value : c.unused)
    addValue(value, "file, without effect");
  result.set("config", std::move(values));

  if (index) {
    Json tensors = Json::list();
    for (const SafetensorsEntry &entry : index->stored()) {
      Json shape = Json::list(), row = Json::dict();
      for (int64_t extent : entry.shape)
        shape.array.push_back(Json::of(extent));
      row.set("key", Json::of(entry.key));
      row.set("dtype", Json::of(std::string(name(entry.dtype))));
      row.set("shape", std::move(shape));
      row.set("bytes", Json::of(int64_t(entry.end - entry.begin)));
      tensors.array.push_back(std::move(row));
    }
    Json dtypes = Json::dict();
    for (const auto &[dtype, total] : byDtype(index->stored())) {
      Json row = Json::dict();
      row.set("tensors", Json::of(total.tensors));
      row.set("bytes", Json::of(int64_t(total.bytes)));
      dtypes.set(dtype, std::move(row));
    }
    result.set("stored_bytes", Json::of(int64_t(index->storedBytes())));
    result.set("dtypes", std::move(dtypes));
    result.set("used_tensors", Json::of(int64_t(index->tensors().size())));
    result.set("copied_tensors", Json::of(copiedOnLoad(*index)));
    result.set("tensors", std::move(tensors));
  }
  return result.dump(2) + "\n";
}

} // namespace nnterp
