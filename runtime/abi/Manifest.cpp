// Manifests as JSON text.
#include "runtime/abi/Manifest.h"
#include "runtime/abi/Frame.h"
#include "runtime/abi/Json.h"

#include <array>

namespace nnterp {

static constexpr std::array<const char *, 6> kindNames = {"input", "weight", "buffer", "output", "state", "kept"};

std::string_view name(SlotKind kind) { return kindNames[size_t(kind)]; }

static Json listOf(const std::vector<Polynomial> &peaks) {
  std::vector<Json> list;
  for (const Polynomial &peak : peaks)
    list.push_back(peak.toJson());
  return Json::list(std::move(list));
}

std::string Manifest::toJson() const {
  std::vector<Json> table;
  for (const SlotSpec &slot : slots) {
    std::vector<Json> dims;
    for (int64_t dim : slot.dims)
      dims.push_back(Json::of(dim));
    table.push_back(Json::dict());
    table.back()
        .add("kind", Json::of(kindNames[size_t(slot.kind)]))
        .add("name", Json::of(slot.name))
        .add("dtype", Json::of(std::string(safetensorsName(slot.dtype))))
        .add("dims", Json::list(std::move(dims)));
  }
  std::vector<Json> kernelList;
  for (const KernelSpec &kernel : kernels) {
    std::vector<Json> memory;
    for (const KernelSpec::Memory &piece : kernel.memory)
      memory.push_back(listOf({piece.whole, piece.touched}));
    kernelList.push_back(Json::dict()
                             .add("name", Json::of(kernel.name))
                             .add("location", Json::of(kernel.location))
                             .add("flops", kernel.flops.toJson())
                             .add("memory", Json::list(std::move(memory))));
  }
  Json json = Json::dict();
  json.add("nnterp_manifest", Json::of(int64_t(1)))
      .add("abi", Json::of(int64_t(abi)))
      .add("tool", Json::of(tool))
      .add("target", Json::of(target))
      .add("tier", Json::of(tier))
      .add("cpu", Json::of(cpu))
      .add("dtype", Json::of(std::string(safetensorsName(dtype))))
      .add("key", Json::of(key))
      .add("config", Json::of(config))
      .add("structure", Json::of(structure))
      .add("steps", Json::of(steps))
      .add("images", Json::of(images))
      .add("chip", Json::of(chip))
      .add("failure_entries", Json::of(failureEntries))
      .add("blocks", Json::of(blocks))
      .add("functions", Json::of(functions))
      .add("image_peaks", listOf(imagePeaks))
      .add("prompt_peaks", listOf(promptPeaks))
      .add("step_peaks", listOf(stepPeaks))
      .add("kernels", Json::list(std::move(kernelList)))
      .add("slots", Json::list(std::move(table)));
  return json.dump(1) + "\n";
}

namespace {

/// Takes members of objects; whatever is absent or of another kind is reported.
class ManifestReader {
public:
  explicit ManifestReader(Diagnostics &diags) : diags(diags) {}

  bool good = true;

  void error(const SourceLoc &loc, const std::string &message) {
    diags.error("NNT1019", loc, message);
    good = false;
  }
  const Json *member(const Json &object, const char *key, Json::Kind kind) {
    const Json *value = object.find(key);
    if (value && value->kind == kind)
      return value;
    error(value ? value->loc : object.loc, "expected \"" + std::string(key) + "\" to be " +
                                               std::string(kindName(kind)) + ", found " +
                                               (value ? std::string(kindName(value->kind)) : "nothing"));
    return nullptr;
  }
  std::string text(const Json &object, const char *key) {
    const Json *value = member(object, key, Json::Kind::string);
    return value ? value->string : "";
  }
  int64_t count(const Json &object, const char *key) {
    const Json *value = member(object, key, Json::Kind::integer);
    if (value && value->integer < 0)
      error(value->loc, "\"" + std::string(key) + "\" is negative");
    return value ? value->integer : 0;
  }
  bool flag(const Json &object, const char *key) {
    const Json *value = member(object, key, Json::Kind::boolean);
    return value && value->boolean;
  }
  DType dtype(const Json &object) {
    const Json *value = member(object, "dtype", Json::Kind::string);
    std::optional<DType> type = value ? fromSafetensorsName(value->string) : std::nullopt;
    if (value && !type)
      error(value->loc, "unknown element type \"" + value->string + "\"");
    return type.value_or(DType::f32);
  }
  std::vector<Polynomial> peaks(const Json &object, const char *key) {
    std::vector<Polynomial> result;
    if (const Json *list = member(object, key, Json::Kind::array))
      for (const Json &json : list->array)
        result.push_back(amount(json));
    return result;
  }
  Polynomial amount(const Json &json) {
    std::optional<Polynomial> polynomial = Polynomial::fromJson(json);
    if (!polynomial)
      error(json.loc, "expected products of extents with integer coefficients");
    return polynomial.value_or(Polynomial());
  }
  SlotSpec slot(const Json &json);
  KernelSpec kernel(const Json &json);

private:
  Diagnostics &diags;
};

SlotSpec ManifestReader::slot(const Json &json) {
  SlotSpec spec{SlotKind::input, text(json, "name"), dtype(json), {}};
  const std::string kind = text(json, "kind");
  size_t index = 0;
  while (index < kindNames.size() && kind != kindNames[index])
    ++index;
  if (index == kindNames.size())
    error(json.loc, "unknown kind of slot \"" + kind + "\"");
  else
    spec.kind = SlotKind(index);
  if (const Json *dims = member(json, "dims", Json::Kind::array)) {
    if (dims->array.size() > size_t(abi::maxRank))
      error(dims->loc, "a slot has at most " + std::to_string(abi::maxRank) + " axes");
    for (const Json &dim : dims->array) {
      if (dim.kind != Json::Kind::integer || dim.integer < -1)
        error(dim.loc, "an extent is a number, or -1 for what a run decides");
      spec.dims.push_back(dim.integer);
    }
  }
  return spec;
}

KernelSpec ManifestReader::kernel(const Json &json) {
  KernelSpec spec{text(json, "name"), text(json, "location")};
  if (const Json *flops = member(json, "flops", Json::Kind::object))
    spec.flops = amount(*flops);
  if (const Json *memory = member(json, "memory", Json::Kind::array))
    for (const Json &piece : memory->array) {
      if (!piece.isArray() || piece.array.size() != 2)
        error(piece.loc, "a piece of memory is two amounts of bytes, of all of it and of all accesses");
      else
        spec.memory.push_back({amount(piece.array[0]), amount(piece.array[1])});
    }
  return spec;
}

} // namespace

std::optional<Manifest> Manifest::fromJson(const std::string &text, const std::string &file, Diagnostics &diags) {
  std::optional<Json> json = parseJson(text, file, diags);
  if (!json)
    return std::nullopt;
  ManifestReader reader(diags);
  if (reader.count(*json, "nnterp_manifest") != 1 && reader.good)
    reader.error(json->loc, "expected a manifest of version 1");
  if (!reader.good)
    return std::nullopt;
  Manifest manifest;
  manifest.abi = uint32_t(reader.count(*json, "abi"));
  manifest.tool = reader.text(*json, "tool");
  manifest.target = reader.text(*json, "target");
  manifest.tier = reader.text(*json, "tier");
  manifest.cpu = reader.text(*json, "cpu");
  manifest.dtype = reader.dtype(*json);
  manifest.key = reader.text(*json, "key");
  manifest.config = reader.text(*json, "config");
  manifest.structure = reader.text(*json, "structure");
  manifest.steps = reader.flag(*json, "steps");
  manifest.images = reader.flag(*json, "images");
  manifest.chip = reader.text(*json, "chip");
  manifest.failureEntries = reader.count(*json, "failure_entries");
  manifest.blocks = reader.count(*json, "blocks");
  manifest.functions = reader.count(*json, "functions");
  manifest.imagePeaks = reader.peaks(*json, "image_peaks");
  manifest.promptPeaks = reader.peaks(*json, "prompt_peaks");
  manifest.stepPeaks = reader.peaks(*json, "step_peaks");
  if (const Json *kernels = reader.member(*json, "kernels", Json::Kind::array))
    for (const Json &kernel : kernels->array)
      manifest.kernels.push_back(reader.kernel(kernel));
  if (const Json *slots = reader.member(*json, "slots", Json::Kind::array))
    for (const Json &slot : slots->array)
      manifest.slots.push_back(reader.slot(slot));
  return reader.good ? std::optional(std::move(manifest)) : std::nullopt;
}

} // namespace nnterp
