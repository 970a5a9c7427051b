// Reads preprocessor_config.json, and refuses what is not done here.
#include "runtime/images/ImageRules.h"
#include "runtime/images/Picture.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace nnterp {

namespace {

/// Larger patches are nothing that a picture within maxPicturePixels could have.
constexpr int64_t mostSize = 4096;

class RulesReader {
public:
  RulesReader(const Json &json, Diagnostics &diags) : json(json), diags(diags) {}

  std::optional<ImageRules> read(const EncoderSizes &encoder);

private:
  /// The setting, where it is there and not null.
  const Json *setting(const Json &object, const std::string &key) const {
    const Json *value = object.find(key);
    return value && value->kind != Json::Kind::null ? value : nullptr;
  }
  void error(const char *code, const Json &at, const std::string &message) {
    diags.error(code, at.loc, message);
    good = false;
  }
  void unfit(const Json &value, const std::string &key, const std::string &expected) {
    error("NNT1407", value, "expected \"" + key + "\" to be " + expected + ", found " + shown(value));
  }
  static std::string shown(const Json &value) {
    return value.isObject() || value.isArray() ? std::string(kindName(value.kind)) : value.dump();
  }
  void size(const Json &object, const std::string &key, int64_t most, int64_t &into);
  void channels(const char *key, std::array<double, 3> &into);
  void readPixelCounts(ImageRules &rules);
  void only(const char *key, const std::vector<Json> &supported);
  void refuseOthers();
  void compare(const char *key, int64_t found, int64_t expected);

  const Json &json;
  Diagnostics &diags;
  bool good = true;
};

/// Keys that change no number, whatever they hold.
const std::vector<std::string> withoutEffect = {"processor_class",  "feature_extractor_type", "default_to_square",
                                                "disable_grouping", "return_tensors",         "crop_size",
                                                "pad_size"};
/// Keys that are read.
const std::vector<std::string> withEffect = {
    "image_processor_type", "size",           "min_pixels",     "max_pixels", "patch_size", "temporal_patch_size",
    "merge_size",           "image_mean",     "image_std",      "do_resize",  "do_rescale", "rescale_factor",
    "do_normalize",         "do_convert_rgb", "do_center_crop", "do_pad",     "resample",   "data_format",
    "input_data_format",    "device"};

void RulesReader::size(const Json &object, const std::string &key, int64_t most, int64_t &into) {
  const Json *value = setting(object, key);
  if (!value)
    return;
  if (value->kind == Json::Kind::integer && value->integer >= 1 && value->integer <= most)
    into = value->integer;
  else
    unfit(*value, key, "an integer from 1 to " + std::to_string(most));
}

/// One number for each channel, or one for all.
void RulesReader::channels(const char *key, std::array<double, 3> &into) {
  const Json *value = setting(json, key);
  if (!value)
    return;
  const bool deviation = std::string_view(key) == "image_std";
  auto fits = [&](const Json &number) { return number.isNumber() && (!deviation || float(number.number) != 0); };
  const std::string expected = deviation ? "three numbers that are not 0" : "three numbers";
  if (value->isNumber() && fits(*value))
    into.fill(value->number);
  else if (!value->isArray() || value->array.size() != 3 ||
           !std::all_of(value->array.begin(), value->array.end(), fits))
    unfit(*value, key, expected);
  else
    for (size_t c = 0; c < 3; ++c)
      into[c] = value->array[c].number;
}

/// `size` has both bounds; the older keys win over it, as in the reference.
void RulesReader::readPixelCounts(ImageRules &rules) {
  if (const Json *object = setting(json, "size")) {
    const std::vector<std::string> known = {"shortest_edge", "longest_edge"};
    bool whole = object->isObject();
    for (const std::string &key : known)
      whole = whole && setting(*object, key);
    if (!whole)
      unfit(*object, "size", "an object with \"shortest_edge\" and \"longest_edge\"");
    for (const Json::Member &member : object->object)
      if (std::find(known.begin(), known.end(), member.key) == known.end())
        error("NNT1409", member.value, "\"size\" has no setting \"" + member.key + "\"; known: " + joinOr(known));
    size(*object, known[0], maxPicturePixels, rules.minPixels);
    size(*object, known[1], int64_t(1) << 53, rules.maxPixels);
  }
  size(json, "min_pixels", maxPicturePixels, rules.minPixels);
  size(json, "max_pixels", int64_t(1) << 53, rules.maxPixels);
  if (good && rules.minPixels > rules.maxPixels)
    error("NNT1407", json,
          "the least number of pixels, " + std::to_string(rules.minPixels) + ", is above the largest, " +
              std::to_string(rules.maxPixels));
}

/// A setting that is supported with some values only; the first is what it means to leave it out.
void RulesReader::only(const char *key, const std::vector<Json> &supported) {
  const Json *value = setting(json, key);
  if (!value)
    return;
  const std::string found = value->dump();
  std::string expected;
  for (const Json &one : supported) {
    if (one.dump() == found)
      return;
    expected += (expected.empty() ? "" : " or ") + one.dump();
  }
  error("NNT1408", *value, "\"" + std::string(key) + "\" " + shown(*value) + " is not supported; expected " + expected);
}

void RulesReader::refuseOthers() {
  for (const Json::Member &member : json.object) {
    auto known = [&](const std::vector<std::string> &keys) {
      return std::find(keys.begin(), keys.end(), member.key) != keys.end();
    };
    if (known(withEffect) || known(withoutEffect))
      continue;
    diags.error("NNT1409", member.keyLoc,
                "the setting \"" + member.key + "\" is not known; nearest: " + joinOr(nearest(member.key, withEffect)));
    good = false;
  }
}

void RulesReader::compare(const char *key, int64_t found, int64_t expected) {
  const Json *value = setting(json, key);
  if (found != expected)
    error("NNT1410", value ? *value : json,
          "\"" + std::string(key) + "\" is " + std::to_string(found) +
              (value ? "," : ", as it is where nothing is said,") + " and the image encoder takes " +
              std::to_string(expected));
}

std::optional<ImageRules> RulesReader::read(const EncoderSizes &encoder) {
  if (!json.isObject()) {
    error("NNT1407", json, "expected an object, found " + std::string(kindName(json.kind)));
    return std::nullopt;
  }
  refuseOthers();
  // The other classes resize in other arithmetic.
  only("image_processor_type", {Json::of("Qwen2VLImageProcessorFast"), Json::of("Qwen2VLImageProcessor")});
  for (const char *key : {"do_resize", "do_rescale", "do_normalize", "do_convert_rgb"})
    only(key, {Json::of(true)});
  for (const char *key : {"do_center_crop", "do_pad"})
    only(key, {Json::of(false)});
  only("resample", {Json::of(int64_t(3))}); // bicubic
  only("data_format", {Json::of("channels_first")});
  only("input_data_format", {Json()});
  only("device", {Json::of("cpu")}); // on others the reference rounds differently

  ImageRules rules;
  readPixelCounts(rules);
  size(json, "patch_size", mostSize, rules.patchSize);
  size(json, "temporal_patch_size", mostSize, rules.temporalPatchSize);
  size(json, "merge_size", mostSize, rules.mergeSize);
  channels("image_mean", rules.mean);
  channels("image_std", rules.std);
  if (const Json *value = setting(json, "rescale_factor")) {
    rules.rescale = value->number;
    if (!value->isNumber() || !(float(value->number) > 0))
      unfit(*value, "rescale_factor", "a number above 0");
  }
  if (!good)
    return std::nullopt;
  compare("patch_size", rules.patchSize, encoder.patchSize);
  compare("temporal_patch_size", rules.temporalPatchSize, encoder.temporalPatchSize);
  compare("merge_size", rules.mergeSize, encoder.mergeSize);
  if (encoder.inChannels != 3)
    error("NNT1410", json,
          "pictures have 3 channels, and the image encoder takes " + std::to_string(encoder.inChannels));
  return good ? std::optional(rules) : std::nullopt;
}

} // namespace

std::optional<ImageRules> readImageRules(const Json &json, const EncoderSizes &encoder, Diagnostics &diags) {
  return RulesReader(json, diags).read(encoder);
}

std::optional<ImageRules> loadImageRules(const std::string &folder, const EncoderSizes &encoder, Diagnostics &diags) {
  namespace fs = std::filesystem;
  const fs::path whole = fs::path(folder) / "processor_config.json",
                 own = fs::path(folder) / "preprocessor_config.json";
  std::error_code failure;
  if (fs::exists(whole, failure)) {
    const std::optional<Json> json = readJsonFile(whole.string(), diags);
    if (!json)
      return std::nullopt;
    if (const Json *part = json->find("image_processor"))
      return readImageRules(*part, encoder, diags);
  }
  if (!fs::exists(own, failure)) {
    diags.error("NNT1406", {own.string(), 0, 0},
                "the checkpoint does not say how pictures are prepared: it has no preprocessor_config.json");
    return std::nullopt;
  }
  const std::optional<Json> json = readJsonFile(own.string(), diags);
  return json ? readImageRules(*json, encoder, diags) : std::nullopt;
}

} // namespace nnterp
