// Resizes, normalises and cuts into patches.
#include "runtime/images/Preprocess.h"
#include "runtime/images/Resize.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace nnterp {

namespace {

/// Longer pictures are refused, as by the reference.
constexpr double mostAspect = 200;

/// Normalised values of all bytes, by channel: rescaling is part of mean and deviation, all of it in float32.
class Normaliser {
public:
  explicit Normaliser(const ImageRules &rules) {
    const auto unscale = float(1.0 / rules.rescale);
    for (size_t c = 0; c < 3; ++c) {
      const float mean = float(rules.mean[c]) * unscale, deviation = float(rules.std[c]) * unscale;
      for (int byte = 0; byte < 256; ++byte)
        values[c][size_t(byte)] = (float(byte) - mean) / deviation;
    }
  }
  const float *channel(int64_t c) const { return values[size_t(c)].data(); }

private:
  std::array<std::array<float, 256>, 3> values;
};

/// Fills the rows of `out` with the patches of a picture, whose sides are multiples of rules.factor().
void patchify(const Picture &picture, const ImageRules &rules, const Normaliser &normaliser, float *out) {
  const int64_t side = rules.patchSize, merge = rules.mergeSize, frames = rules.temporalPatchSize;
  const int64_t blocks = picture.width / rules.factor();
  for (int64_t y = 0; y < picture.height; ++y) {
    const int64_t row = y / side;
    for (int64_t x = 0; x < picture.width; x += side) {
      const int64_t col = x / side;
      const int64_t patch = ((row / merge * blocks + col / merge) * merge + row % merge) * merge + col % merge;
      const uint8_t *pixels = picture.row(y) + x * 3;
      for (int64_t c = 0; c < 3; ++c) {
        const float *value = normaliser.channel(c);
        float *first = out + patch * rules.patchValues() + (c * frames * side + y % side) * side;
        for (int64_t i = 0; i < side; ++i)
          first[i] = value[pixels[i * 3 + c]];
        for (int64_t t = 1; t < frames; ++t) // all frames of an image are the same
          std::copy(first, first + side, first + t * side * side);
      }
    }
  }
}

/// Decodes and resizes one file.
std::optional<Picture> prepare(const std::string &path, const ImageRules &rules, Diagnostics &diags,
                               const SourceLoc &from) {
  std::optional<Picture> picture = readPicture(path, diags, from);
  if (!picture)
    return std::nullopt;
  const auto size = targetSize(picture->height, picture->width, rules, path, diags);
  return size ? std::optional(resized(std::move(*picture), size->second, size->first)) : std::nullopt;
}

std::optional<ImagePatches> load(const std::vector<std::string> &paths, const ImageRules &rules, Diagnostics &diags,
                                 const SourceLoc &from) {
  std::vector<Picture> pictures;
  ImagePatches patches;
  int64_t total = 0;
  for (const std::string &path : paths)
    if (std::optional<Picture> picture = prepare(path, rules, diags, from)) {
      patches.grids.push_back({1, picture->height / rules.patchSize, picture->width / rules.patchSize});
      total += patches.grids.back().patches();
      pictures.push_back(std::move(*picture));
    }
  if (pictures.size() != paths.size())
    return std::nullopt;
  patches.pixelValues = Tensor::make(DType::f32, {total, rules.patchValues()});
  const Normaliser normaliser(rules);
  float *out = patches.pixelValues.as<float>();
  for (size_t i = 0; i < pictures.size(); ++i) {
    patchify(pictures[i], rules, normaliser, out);
    out += patches.grids[i].patches() * rules.patchValues();
    pictures[i].rgb.reset();
  }
  return patches;
}

} // namespace

std::optional<std::pair<int64_t, int64_t>> targetSize(int64_t height, int64_t width, const ImageRules &rules,
                                                      const std::string &file, Diagnostics &diags) {
  const auto h = double(height), w = double(width), f = double(rules.factor());
  const auto least = double(rules.minPixels), most = double(rules.maxPixels);
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (std::max(h, w) / std::min(h, w) > mostAspect) {
    diags.error("NNT1405", {file, 0, 0},
                "the picture has " + size + "; expected one side to be at most 200 times the other");
    return std::nullopt;
  }
  double newH = std::nearbyint(h / f) * f, newW = std::nearbyint(w / f) * f; // halves to even
  if (newH * newW > most) {
    const double beta = std::sqrt(h * w / most);
    newH = std::max(f, std::floor(h / beta / f) * f);
    newW = std::max(f, std::floor(w / beta / f) * f);
  } else if (newH * newW < least) {
    const double beta = std::sqrt(least / (h * w));
    newH = std::ceil(h * beta / f) * f;
    newW = std::ceil(w * beta / f) * f;
  }
  if (newH * newW > double(maxPicturePixels)) {
    diags.error("NNT1403", {file, 0, 0},
                "the picture of " + size + " would be resized to " + std::to_string(int64_t(newW)) + " x " +
                    std::to_string(int64_t(newH)) + "; expected at most " + std::to_string(maxPicturePixels) +
                    " pixels in all");
    return std::nullopt;
  }
  return std::pair(int64_t(newH), int64_t(newW));
}

std::optional<ImagePatches> loadImages(const std::vector<std::string> &paths, const ImageRules &rules,
                                       Diagnostics &diags, const SourceLoc &from) {
  try {
    return load(paths, rules, diags, from);
  } catch (const std::bad_alloc &) {
    diags.error("NNT1017", from, "no memory is left to decode the pictures");
    return std::nullopt;
  }
}

std::optional<ImagePatches> loadImage(const std::string &path, const ImageRules &rules, Diagnostics &diags,
                                      const SourceLoc &from) {
  return loadImages({path}, rules, diags, from);
}

} // namespace nnterp
