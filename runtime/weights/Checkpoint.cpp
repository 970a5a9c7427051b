// Matches a checkpoint's stored tensors, in any of the family's layouts, with the ones a graph wants.
#include "runtime/weights/Checkpoint.h"
#include "runtime/weights/CheckpointFiles.h"
#include "runtime/weights/CheckpointPieces.h"

#include <algorithm>

namespace nnterp {

namespace {

bool startsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

constexpr std::string_view encoderPrefix = "model.visual.";

/// Tensors of the file that the graph does not have: multi-token prediction, and in a text graph the image encoder.
bool isSkipped(std::string_view key, bool wantsEncoder) {
  return startsWith(key, "mtp.") || (!wantsEncoder && startsWith(key, encoderPrefix));
}

/// The key under the text-only prefix.
std::string standardKey(const std::string &key) {
  constexpr std::string_view multimodal = "model.language_model.";
  return startsWith(key, multimodal) ? "model." + key.substr(multimodal.size()) : key;
}

bool isWeightType(DType t) { return t == DType::bf16 || t == DType::f16 || t == DType::f32; }

std::string typeAndShape(const SafetensorsEntry &entry) {
  return std::string(name(entry.dtype)) + " " + toString(entry.shape);
}

class Matcher {
public:
  Matcher(const std::string &directory, const CheckpointIndex::Options &options, Diagnostics &diags)
      : directory(directory), options(options), diags(diags) {}

  CheckpointPieces pieces;
  std::vector<FoundTensor> found;

  bool match(const std::vector<WantedTensor> &wanted) {
    const size_t before = diags.all().size();
    wantsEncoder = std::any_of(wanted.begin(), wanted.end(),
                               [](const WantedTensor &tensor) { return startsWith(tensor.key, encoderPrefix); });
    collect();
    for (const WantedTensor &tensor : wanted)
      matchOne(tensor);
    reportMissing();
    reportSurplus();
    return diags.all().size() == before;
  }

private:
  bool wantsEncoder = false;

  Diagnostic &fail(const char *code, const std::string &message) {
    return diags.error(code, {directory, 0, 0}, message);
  }

  std::string fileOf(const StoredTensor &tensor) const {
    return pieces.sources.size() > 1 ? " (in \"" + pieces.sources[tensor.source]->path() + "\")" : "";
  }
  const SafetensorsEntry &entryOf(const StoredTensor &tensor) const {
    return pieces.sources[tensor.source]->entries()[tensor.entry];
  }

  /// Lists the stored tensors under their standard keys.
  void collect() {
    for (size_t s = 0; s < pieces.sources.size(); ++s)
      for (size_t e = 0; e < pieces.sources[s]->entries().size(); ++e) {
        const std::string &key = pieces.sources[s]->entries()[e].key;
        if (isSkipped(key, wantsEncoder))
          continue;
        auto [it, isNew] = stored.emplace(standardKey(key), Use{{s, e}, false});
        if (isNew)
          continue;
        const std::string &first = entryOf(it->second.tensor).key;
        fail("NNT0310", first == key ? "tensor \"" + key + "\" is stored in two files, \"" +
                                           pieces.sources[it->second.tensor.source]->path() + "\" and \"" +
                                           pieces.sources[s]->path() + "\""
                                     : "tensors \"" + first + "\" and \"" + key + "\" are the same one to the model");
      }
  }

  /// Takes the tensor stored under a standard key; null when there is none.
  const StoredTensor *take(const std::string &key) {
    auto it = stored.find(key);
    if (it == stored.end())
      return nullptr;
    it->second.used = true;
    return &it->second.tensor;
  }

  void matchOne(const WantedTensor &wanted) {
    Recipe recipe;
    bool perExpert = !wanted.expertParts.empty() && !stored.count(wanted.key);
    bool ok = true;
    if (wanted.expertParts.empty() || !perExpert) {
      if (!wanted.expertParts.empty())
        reportBothLayouts(wanted);
      const StoredTensor *tensor = take(wanted.key);
      if (!tensor && wanted.key == "lm_head.weight" && options.tiedHead)
        tensor = take("model.embed_tokens.weight");
      if (!tensor)
        return missing.push_back({wanted.key, wanted.shape, false}), void();
      ok = addPart(recipe, wanted.key, *tensor, wanted.shape);
    } else {
      ok = matchExperts(wanted, recipe);
    }
    if (!ok || !chooseType(wanted, recipe))
      return;
    const StoredTensor &first = recipe.parts[0].tensor;
    bool mapped = recipe.parts.size() == 1 && !perExpert && !recipe.parts[0].scale &&
                  pieces.sources[first.source]->inPlace(first.entry);
    recipe.shape = wanted.shape;
    found.push_back({wanted, recipe.dtype, mapped, entryOf(first).key});
    pieces.recipes.emplace(wanted.key, std::move(recipe));
  }

  static std::string expertKey(const WantedTensor &wanted, int64_t expert, const std::string &part) {
    std::string base = wanted.key.substr(0, wanted.key.rfind('.') + 1);
    return base + std::to_string(expert) + "." + part + ".weight";
  }

  /// Both layouts of the same experts leave open which one is meant.
  void reportBothLayouts(const WantedTensor &wanted) {
    std::string other = expertKey(wanted, 0, wanted.expertParts[0]);
    if (stored.count(other))
      fail("NNT0310", "the experts are stored twice: as \"" + entryOf(stored.at(wanted.key).tensor).key +
                          "\" and one by one, as \"" + entryOf(stored.at(other).tensor).key + "\"");
  }

  /// Parts [rows / parts, cols] of every expert, in the order in which their rows follow one another.
  bool matchExperts(const WantedTensor &wanted, Recipe &recipe) {
    const int64_t parts = int64_t(wanted.expertParts.size());
    const Shape shape = {wanted.shape[1] / parts, wanted.shape[2]};
    if (!stored.count(expertKey(wanted, 0, wanted.expertParts[0]))) {
      bool any = false;
      for (int64_t e = 0; e < wanted.shape[0] && !any; ++e)
        for (const std::string &part : wanted.expertParts)
          any = any || stored.count(expertKey(wanted, e, part));
      if (!any)
        return missing.push_back({wanted.key, wanted.shape, true}), false;
    }
    bool ok = true;
    for (int64_t e = 0; e < wanted.shape[0]; ++e)
      for (const std::string &part : wanted.expertParts) {
        std::string key = expertKey(wanted, e, part);
        const StoredTensor *tensor = take(key);
        if (!tensor)
          missing.push_back({key, shape, false});
        ok = tensor && addPart(recipe, key, *tensor, shape) && ok;
      }
    return ok;
  }

  /// Checks shape and type of one stored tensor, and finds its scales when it is FP8.
  bool addPart(Recipe &recipe, const std::string &key, const StoredTensor &tensor, const Shape &shape) {
    const SafetensorsEntry &entry = entryOf(tensor);
    const StoredTensor *scale = nullptr;
    if (entry.dtype == DType::f8_e4m3)
      scale = take(key + "_scale_inv"); // also after an error below, so that it is not called surplus
    if (entry.shape != shape) {
      fail("NNT0308", "tensor \"" + entry.key + "\"" + fileOf(tensor) + ": expected shape " + toString(shape) +
                          ", found " + toString(entry.shape));
      return false;
    }
    if (entry.dtype != DType::f8_e4m3 && !isWeightType(entry.dtype)) {
      fail("NNT0309", "tensor \"" + entry.key + "\"" + fileOf(tensor) + ": expected bfloat16, float16 or float32" +
                          (options.fp8 ? " or float8_e4m3fn" : "") + ", found " + std::string(name(entry.dtype)));
      return false;
    }
    if (entry.dtype == DType::f8_e4m3 && !checkScale(key, shape, tensor, scale))
      return false;
    Recipe::Part &part = recipe.parts.emplace_back();
    part.tensor = tensor;
    if (scale)
      part.scale = *scale;
    return true;
  }

  bool checkScale(const std::string &key, const Shape &shape, const StoredTensor &tensor, const StoredTensor *scale) {
    const SafetensorsEntry &entry = entryOf(tensor);
    if (!options.fp8 || shape.size() < 2) {
      fail("NNT0309", "tensor \"" + entry.key + "\"" + fileOf(tensor) + ": found float8_e4m3fn, but " +
                          (options.fp8 ? "only matrices can have scales per block"
                                       : "the configuration has no \"quantization_config\" that says fp8"));
      return false;
    }
    Shape blocks = shape;
    int64_t &rows = blocks[blocks.size() - 2], &cols = blocks[blocks.size() - 1];
    rows = (rows + options.blockRows - 1) / options.blockRows;
    cols = (cols + options.blockCols - 1) / options.blockCols;
    if (!scale) {
      missing.push_back({key + "_scale_inv", blocks, false});
      return false;
    }
    const SafetensorsEntry &found = entryOf(*scale);
    if (found.shape != blocks)
      fail("NNT0308", "tensor \"" + found.key + "\"" + fileOf(*scale) + ": expected shape " + toString(blocks) +
                          " (one scale per block of " + std::to_string(options.blockRows) + " x " +
                          std::to_string(options.blockCols) + "), found " + toString(found.shape));
    else if (!isWeightType(found.dtype))
      fail("NNT0309", "tensor \"" + found.key + "\"" + fileOf(*scale) +
                          ": expected bfloat16, float16 or float32, found " + std::string(name(found.dtype)));
    return found.shape == blocks && isWeightType(found.dtype);
  }

  /// The type handed to the graph: the stored one, which all parts must share; where any part is FP8, the target of
  /// FP8.
  bool chooseType(const WantedTensor &wanted, Recipe &recipe) {
    const SafetensorsEntry &first = entryOf(recipe.parts[0].tensor);
    recipe.dtype = first.dtype;
    if (std::any_of(recipe.parts.begin(), recipe.parts.end(), [](const Recipe::Part &part) { return part.scale; })) {
      recipe.dtype = options.fp8Target;
      return true;
    }
    for (const Recipe::Part &part : recipe.parts)
      if (entryOf(part.tensor).dtype != recipe.dtype) {
        const SafetensorsEntry &other = entryOf(part.tensor);
        fail("NNT0309", "the parts of \"" + wanted.key + "\" differ in type: \"" + first.key + "\" is " +
                            std::string(name(first.dtype)) + ", \"" + other.key + "\" is " +
                            std::string(name(other.dtype)));
        return false;
      }
    return true;
  }

  void reportMissing() {
    std::vector<std::string> unused;
    for (const auto &[key, use] : stored)
      if (!use.used && unused.size() < maxCandidates)
        unused.push_back(key);
    for (size_t i = 0; i < missing.size(); ++i) {
      const Missing &tensor = missing[i];
      std::string message = "missing tensor \"" + tensor.key + "\" of shape " + toString(tensor.shape);
      if (tensor.experts)
        message += ", whole or one per expert";
      Diagnostic &error = fail("NNT0306", message);
      if (i < maxNearest && !unused.empty()) {
        const SafetensorsEntry &entry = entryOf(stored.at(nearest(tensor.key, unused, 1)[0]).tensor);
        error.notes.emplace_back().message =
            "the nearest tensor without a place is \"" + entry.key + "\", " + typeAndShape(entry);
      }
      if (tensor.key == "lm_head.weight")
        error.notes.emplace_back().message =
            "the configuration does not tie the head to the embedding (\"tie_word_embeddings\")";
    }
  }

  void reportSurplus() {
    for (const auto &[key, use] : stored)
      if (!use.used) {
        const SafetensorsEntry &entry = entryOf(use.tensor);
        fail("NNT0307", "surplus tensor \"" + entry.key + "\"" + fileOf(use.tensor) + ", " + typeAndShape(entry) +
                            ": the model that the configuration describes has no such tensor");
      }
  }

  static constexpr size_t maxCandidates = 500, maxNearest = 20; // the search for near names is slow

  struct Use {
    StoredTensor tensor;
    bool used;
  };
  struct Missing {
    std::string key;
    Shape shape;
    bool experts;
  };

  const std::string &directory;
  const CheckpointIndex::Options &options;
  Diagnostics &diags;
  std::map<std::string, Use> stored; ///< by standard key
  std::vector<Missing> missing;
};

} // namespace

struct CheckpointIndex::Impl {
  CheckpointPieces pieces;
  Options options;
  std::map<std::string, Tensor, std::less<>> copies; ///< made once
  std::map<std::string, size_t, std::less<>> index;  ///< into `found`
};

std::optional<CheckpointIndex> CheckpointIndex::open(const std::string &directory,
                                                     const std::vector<WantedTensor> &wanted, const Options &options,
                                                     Diagnostics &diags) {
  Matcher matcher(directory, options, diags);
  matcher.pieces.sources = openCheckpointFiles(directory, diags);
  if (matcher.pieces.sources.empty() || !matcher.match(wanted))
    return std::nullopt;
  CheckpointIndex result;
  for (const auto &source : matcher.pieces.sources)
    result.all.insert(result.all.end(), source->entries().begin(), source->entries().end());
  result.found = std::move(matcher.found);
  result.impl = std::make_shared<Impl>();
  result.impl->pieces = std::move(matcher.pieces);
  result.impl->options = options;
  for (size_t i = 0; i < result.found.size(); ++i)
    result.impl->index.emplace(result.found[i].wanted.key, i);
  return result;
}

const FoundTensor *CheckpointIndex::find(std::string_view key) const {
  auto it = impl->index.find(key);
  return it == impl->index.end() ? nullptr : &found[it->second];
}

std::optional<Tensor> CheckpointIndex::load(std::string_view key, Diagnostics &diags) {
  const FoundTensor *tensor = find(key);
  if (!tensor) {
    std::vector<std::string> keys;
    for (const FoundTensor &f : found)
      keys.push_back(f.wanted.key);
    diags.error("NNT0306", {},
                "no tensor \"" + std::string(key) + "\" was asked for; the nearest are " + joinOr(nearest(key, keys)));
    return std::nullopt;
  }
  const Recipe &recipe = impl->pieces.recipes.at(tensor->wanted.key);
  if (tensor->mapped)
    return impl->pieces.sources[recipe.parts[0].tensor.source]->tensor(recipe.parts[0].tensor.entry);
  auto it = impl->copies.find(key);
  if (it == impl->copies.end()) {
    it = impl->copies.emplace(std::string(key), assemble(impl->pieces, recipe, impl->options)).first;
    copied += it->second.bytes();
    ++copies;
  }
  return it->second;
}

uint64_t CheckpointIndex::storedBytes() const {
  uint64_t bytes = 0;
  for (const SafetensorsEntry &entry : all)
    bytes += entry.end - entry.begin;
  return bytes;
}

} // namespace nnterp
