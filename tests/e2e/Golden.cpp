// Golden cases: where they are, how one is run, and the rule by which numbers are judged.
#include "tests/e2e/Golden.h"

#include "runtime/weights/Safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace nnterp::test {

/// The folder of the tests' data, also where the tests were carried to another machine.
static std::string dataFolder() {
  const char *elsewhere = std::getenv("NNTERP_TEST_DATA");
  return elsewhere ? elsewhere : NNTERP_TEST_DATA;
}

std::string checkpointPath(const std::string &name) { return dataFolder() + "/checkpoints/" + name; }

std::string testCache() { return NNTERP_TEST_CACHE; }

Target testTarget() {
  const char *wanted = std::getenv("NNTERP_TARGET");
  std::optional<Target> target = wanted ? targetByName(wanted) : Target::cpu;
  if (!target)
    std::abort(); // a misspelt target would test another one
  return *target;
}

std::shared_ptr<gpu::Device> testDevice() {
  static Diagnostics diags; // without a GPU every run says so itself
  static const std::shared_ptr<gpu::Device> device =
      testTarget() == Target::cuda ? openDevice(Target::cuda, {}, diags) : nullptr;
  return device;
}

std::string text(const Diagnostics &diags) {
  std::string out;
  for (const Diagnostic &d : diags.all())
    out += format(d);
  return out;
}

/// Whether a run of the case encodes images.
static bool encodesImages(const GoldenCase &golden) {
  Diagnostics diags;
  for (const auto &[name, path] : golden.inputs)
    if (std::optional<Safetensors> file = Safetensors::open(golden.directory + "/" + path, diags))
      if (file->find("pixel_values"))
        return true;
  return false;
}

std::vector<GoldenCase> goldenCases() {
  std::vector<GoldenCase> cases;
  const char *elsewhere = std::getenv("NNTERP_CASES"); // cases made by hand, for example random ones
  for (const auto &entry : std::filesystem::directory_iterator(elsewhere ? elsewhere : dataFolder() + "/cases")) {
    Diagnostics diags;
    std::optional<Json> json = readJsonFile(entry.path() / "case.json", diags);
    if (!json)
      continue;
    GoldenCase c;
    c.name = entry.path().filename();
    c.directory = entry.path();
    c.checkpoint = json->find("checkpoint")->string;
    c.dtype = json->find("dtype")->string;
    c.generation.tokens = json->find("generate")->integer;
    c.generation.greedy = true;
    c.generation.eos.emplace();
    for (const Json &id : json->find("eos")->array)
      c.generation.eos->push_back(id.integer);
    c.generation.pad = json->find("pad")->integer;
    for (const Json::Member &input : json->find("inputs")->object)
      c.inputs.emplace_back(input.key, input.value.string);
    if (testTarget() == Target::cpu || !encodesImages(c)) // programs for a GPU are those of text
      cases.push_back(std::move(c));
  }
  std::sort(cases.begin(), cases.end(), [](const GoldenCase &a, const GoldenCase &b) { return a.name < b.name; });
  return cases;
}

std::optional<RunResult> runCase(const GoldenCase &golden, Diagnostics &diags) {
  RunOptions options;
  options.checkpoint = checkpointPath(golden.checkpoint);
  options.plan.path = golden.directory + "/plan.json";
  for (const auto &[name, file] : golden.inputs)
    options.inputs.push_back({InputKind::file, name + "=" + golden.directory + "/" + file});
  options.generation = golden.generation;
  options.dtype = fromTorchName(golden.dtype);
  options.cacheDir = testCache();
  options.target = testTarget();
  options.onDevice = testDevice();
  options.device.checkRaces = std::getenv("NNTERP_CHECK_RACES") != nullptr;
  if (const char *kept = std::getenv("NNTERP_ARTEFACTS")) { // compiled elsewhere, by tests/device/run.sh --pack
    std::optional<Artefact> artefact = readArtefact(std::string(kept) + "/" + golden.name, diags);
    if (!artefact)
      return std::nullopt;
    options.artefact = std::make_shared<Artefact>(std::move(*artefact));
  }
  return runModel(options, diags);
}

Distance judge(const Tensor &ours, const Tensor &golden, double noiseMax, double noiseRms, bool bfloat16) {
  Distance d;
  auto violate = [&](std::string why) {
    if (d.within)
      d.why = std::move(why);
    d.within = false;
  };
  if (ours.shape != golden.shape) {
    violate("shape " + toString(ours.shape) + ", expected " + toString(golden.shape));
    return d;
  }
  int64_t n = elementCount(golden.shape), counted = 0;
  if (golden.dtype == DType::i64) {
    for (int64_t i = 0; i < n; ++i)
      if (ours.at(i) != golden.at(i))
        violate("element " + std::to_string(i) + " is " + std::to_string(ours.at(i)) + ", expected " +
                std::to_string(golden.at(i)));
    return d;
  }
  auto masked = [](double x) { return std::abs(x) > 1e30; };
  double largest = 0;
  for (int64_t i = 0; i < n; ++i)
    if (!masked(golden.at(i)))
      largest = std::max(largest, std::abs(golden.at(i)));
  double limit = 3 * noiseMax + 2e-6 * largest, sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    double x = ours.at(i), y = golden.at(i);
    if (masked(y) || masked(x)) {
      if (!(masked(x) && masked(y) && (x < 0) == (y < 0)))
        violate("element " + std::to_string(i) + ": one of " + std::to_string(x) + " and " + std::to_string(y) +
                " is a mask value");
      continue;
    }
    ++counted;
    sum += (x - y) * (x - y);
    if (!bfloat16 && !(std::abs(x - y) <= limit))
      violate("element " + std::to_string(i) + " is " + std::to_string(x) + ", expected " + std::to_string(y) +
              " within " + std::to_string(limit));
  }
  d.rms = counted ? std::sqrt(sum / double(counted)) : 0;
  if (bfloat16 && !(d.rms <= 1.5 * noiseRms + 2e-6 * largest))
    violate("rms " + std::to_string(d.rms) + ", the reference's is " + std::to_string(noiseRms));
  if (noiseRms > 0)
    d.ratio = d.rms / noiseRms;
  return d;
}

} // namespace nnterp::test
