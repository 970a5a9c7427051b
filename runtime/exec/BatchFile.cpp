// Batches from input files (spec/plan.md 2): left-padded tensors become left-aligned rows.
#include "runtime/exec/BatchImages.h"
#include "runtime/weights/Safetensors.h"

#include <algorithm>

namespace nnterp {

namespace {

class InputFile {
public:
  InputFile(const Safetensors &file, Diagnostics &diags) : file(file), loc{file.path(), 0, 0}, diags(diags) {}

  std::optional<Batch> read(const InputRules &rules);

private:
  bool checkKeys(const InputRules &rules);
  bool takeImages(Batch &batch, const InputRules &rules);
  std::optional<Tensor> int64Tensor(const char *key);
  bool readIds();
  void readMask();
  void readPositions();
  void takePositions(Batch &batch) const;
  void error(const char *code, const std::string &message) {
    diags.error(code, loc, message);
    good = false;
  }

  const Safetensors &file;
  SourceLoc loc;
  Diagnostics &diags;
  bool good = true;

  Tensor ids;
  std::optional<Tensor> positions;
  int64_t B = 0, S = 0;
  std::vector<int64_t> start; ///< first real token of each row
};

std::string rowOf(const char *key, int64_t row) { return "row " + std::to_string(row) + " of \"" + key + "\""; }

bool InputFile::checkKeys(const InputRules &rules) {
  static const std::vector<std::string> known = {"input_ids", "attention_mask", "position_ids", "pixel_values",
                                                 "image_grid_thw"};
  for (const SafetensorsEntry &entry : file.entries()) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end())
      error("NNT1006",
            "an input file has no tensor \"" + entry.key + "\"; nearest: " + joinOr(nearest(entry.key, known)));
  }
  const bool pixels = file.find("pixel_values"), grids = file.find("image_grid_thw");
  if ((pixels || grids) && !rules.images)
    error("NNT1013", "the file has images, and this model has no image encoder");
  else if (pixels != grids)
    error("NNT1007", std::string("the file has \"") + (pixels ? "pixel_values" : "image_grid_thw") + "\" and no \"" +
                         (pixels ? "image_grid_thw" : "pixel_values") + "\"; images need both");
  if (!file.find("input_ids"))
    error("NNT1007", "the file has no tensor \"input_ids\", which an input must have");
  return file.find("input_ids") != nullptr;
}

/// The tensor under a key; nothing when absent or of another type (then an error was reported).
std::optional<Tensor> InputFile::int64Tensor(const char *key) {
  const SafetensorsEntry *entry = file.find(key);
  if (!entry)
    return std::nullopt;
  if (entry->dtype == DType::i64)
    return file.tensor(key);
  error("NNT1008", "\"" + std::string(key) + "\" is " + std::string(name(entry->dtype)) + "; expected int64");
  return std::nullopt;
}

bool InputFile::readIds() {
  std::optional<Tensor> tensor = int64Tensor("input_ids");
  if (!tensor)
    return false;
  if (tensor->shape.size() != 2) {
    error("NNT1009", "\"input_ids\" has shape " + toString(tensor->shape) + "; expected [batch, tokens]");
    return false;
  }
  ids = std::move(*tensor);
  B = ids.shape[0];
  S = ids.shape[1];
  start.assign(size_t(B), 0);
  if (B == 0 || S == 0)
    error("NNT1004", "\"input_ids\" has shape " + toString(ids.shape) + ": no tokens");
  return B > 0 && S > 0;
}

/// Pads stand on the left: each row of the mask is zeros, then ones.
void InputFile::readMask() {
  constexpr const char *key = "attention_mask";
  std::optional<Tensor> mask = int64Tensor(key);
  if (!mask)
    return;
  if (mask->shape != ids.shape)
    return error("NNT1009", "\"attention_mask\" has shape " + toString(mask->shape) + "; expected " +
                                toString(ids.shape) + ", as \"input_ids\" has");
  for (int64_t b = 0; b < B; ++b) {
    const int64_t *begin = mask->as<int64_t>() + b * S, *end = begin + S;
    const int64_t *odd = std::find_if(begin, end, [](int64_t v) { return v != 0 && v != 1; });
    const int64_t *real = std::find(begin, end, 1), *pad = std::find(real, end, 0);
    start[size_t(b)] = std::min(real - begin, S - 1);
    if (odd != end)
      error("NNT1011", rowOf(key, b) + " holds " + std::to_string(*odd) + "; expected 1 (real) or 0 (pad)");
    else if (real == end)
      error("NNT1004", rowOf(key, b) + " has pads only");
    else if (pad != end)
      error("NNT1010", rowOf(key, b) + " has pads " +
                           (std::find(pad, end, 1) == end ? "on the right" : "between real tokens") + ", from index " +
                           std::to_string(pad - begin) + "; expected pads on the left only");
  }
}

void InputFile::readPositions() {
  constexpr const char *key = "position_ids";
  positions = int64Tensor(key);
  if (!positions)
    return;
  if (positions->shape == ids.shape)
    positions->shape.insert(positions->shape.begin(), 1);
  else if (positions->shape != Shape{3, B, S}) {
    error("NNT1009", "\"position_ids\" has shape " + toString(positions->shape) + "; expected " + toString(ids.shape) +
                         " or " + toString({3, B, S}));
    positions.reset();
    return;
  }
  for (int64_t plane = 0; plane < positions->shape[0]; ++plane)
    for (int64_t b = 0; b < B; ++b) {
      const int64_t *row = positions->as<int64_t>() + (plane * B + b) * S, *end = row + S;
      const int64_t *wrong =
          std::find_if(row + start[size_t(b)], end, [](int64_t p) { return p < 0 || p >= maxPosition; });
      if (wrong != end)
        error("NNT1012", rowOf(key, b) + " holds position " + std::to_string(*wrong) + " at index " +
                             std::to_string(wrong - row) + "; expected 0 to " + std::to_string(maxPosition - 1));
    }
}

void InputFile::takePositions(Batch &batch) const {
  for (int64_t axis = 0; axis < 3; ++axis)
    for (int64_t b = 0; b < B; ++b) {
      const int64_t plane = positions->shape[0] == 3 ? axis : 0;
      const int64_t *row = positions->as<int64_t>() + (plane * B + b) * S;
      std::copy(row + start[size_t(b)], row + S, batch.positions.as<int64_t>() + (axis * B + b) * S);
    }
}

std::optional<Batch> InputFile::read(const InputRules &rules) {
  if (!checkKeys(rules) || !readIds())
    return std::nullopt;
  readMask();
  readPositions();
  std::vector<std::vector<int64_t>> rows;
  for (int64_t b = 0; b < B; ++b) {
    const int64_t *row = ids.as<int64_t>() + b * S;
    rows.emplace_back(row + start[size_t(b)], row + S);
  }
  InputRules own = rules;
  if (file.find("pixel_values")) // whether its tokens are in order is seen with the images
    own.imageTokens.clear();
  std::optional<Batch> batch = batchFromIds(rows, own, loc, diags, S);
  if (!batch || !good)
    return std::nullopt;
  batch->ownPositions = positions.has_value();
  if (positions)
    takePositions(*batch);
  return !file.find("pixel_values") || takeImages(*batch, rules) ? std::move(batch) : std::nullopt;
}

bool InputFile::takeImages(Batch &batch, const InputRules &rules) {
  std::optional<Tensor> thw = int64Tensor("image_grid_thw");
  const SafetensorsEntry *entry = file.find("pixel_values");
  if (entry->dtype != DType::f32 && entry->dtype != DType::bf16 && entry->dtype != DType::f16 &&
      entry->dtype != DType::f64)
    error("NNT1008", "\"pixel_values\" is " + std::string(name(entry->dtype)) + "; expected floats");
  if (!thw || !good)
    return false;
  std::optional<std::vector<ImageGrid>> grids = readGrids(*thw, *rules.images, loc, diags);
  return grids && addImages(batch, file.tensor("pixel_values")->to(DType::f32), std::move(*grids), *rules.images,
                            rules.patchValues, loc, diags);
}

} // namespace

std::optional<Batch> batchFromFile(const std::string &path, const InputRules &rules, Diagnostics &diags) {
  std::optional<Safetensors> file = Safetensors::open(path, diags);
  return file ? InputFile(*file, diags).read(rules) : std::nullopt;
}

} // namespace nnterp
