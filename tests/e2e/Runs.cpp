// Small runs for the end-to-end tests.
#include "tests/e2e/Runs.h"

#include "runtime/weights/Safetensors.h"
#include "tools/nnterp/verify/Check.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

namespace nnterp::test {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string name = fs::temp_directory_path() / "nnterp-test-XXXXXX";
  folder = mkdtemp(name.data()) ? name : "";
  REQUIRE(!folder.empty());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code failure;
  fs::remove_all(folder, failure);
}

std::string TemporaryFolder::write(const std::string &name, const std::string &bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

namespace {

/// An input file: rows right-aligned, as the reference's tokenizers pad them.
void writeInput(const std::string &path, const Rows &rows, int64_t extraPads) {
  int64_t width = 0;
  for (const auto &row : rows)
    width = std::max(width, int64_t(row.size()));
  width += extraPads;
  const Shape shape{int64_t(rows.size()), width};
  Tensor ids = Tensor::make(DType::i64, shape), mask = Tensor::make(DType::i64, shape);
  for (size_t b = 0; b < rows.size(); ++b)
    for (size_t p = 0; p < rows[b].size(); ++p) {
      const int64_t at = int64_t(b + 1) * width - int64_t(rows[b].size()) + int64_t(p);
      ids.as<int64_t>()[at] = rows[b][p];
      mask.as<int64_t>()[at] = 1;
    }
  Diagnostics diags;
  REQUIRE(writeSafetensors(path, {{"input_ids", ids}, {"attention_mask", mask}}, {}, diags));
}

} // namespace

std::optional<RunResult> tryRun(const Setup &setup, Diagnostics &diags) {
  TemporaryFolder folder;
  RunOptions options;
  options.checkpoint = fs::path(setup.checkpoint).is_absolute() ? setup.checkpoint : checkpointPath(setup.checkpoint);
  options.dtype = setup.dtype;
  options.cacheDir = setup.cache.empty() ? testCache() : setup.cache;
  options.progress = setup.progress;
  options.target = testTarget();
  options.onDevice = testDevice();
  options.plan.json = parseJson(setup.plan, "plan.json", diags);
  if (!options.plan.json)
    return std::nullopt;
  std::map<std::string, Rows> inputs = setup.inputs;
  if (inputs.empty() && !setup.rows.empty())
    inputs["main"] = setup.rows;
  for (const auto &[name, rows] : inputs) {
    const std::string file = folder.path(name + ".safetensors");
    writeInput(file, rows, setup.extraPads);
    options.inputs.push_back({InputKind::file, name + "=" + file});
  }
  options.generation = setup.generation;
  options.chunk = setup.chunk;
  options.saveState = setup.saveState;
  options.loadState = setup.loadState;
  return runModel(options, diags);
}

RunResult run(const Setup &setup) {
  Diagnostics diags;
  std::optional<RunResult> result = tryRun(setup, diags);
  INFO(setup.checkpoint << ", " << name(setup.dtype) << ", " << setup.plan.substr(0, 400) << "\n" << text(diags));
  REQUIRE(result);
  return std::move(*result);
}

Outputs outputsOf(const RunResult &result) { return Outputs(result.outputs.begin(), result.outputs.end()); }
Outputs outputs(const Setup &setup) { return outputsOf(run(setup)); }

std::string tapPlan(const std::vector<std::string> &names) {
  Json taps = Json::list();
  for (const std::string &name : names)
    taps.array.push_back(Json::of(name));
  return Json::dict().add("nnterp_plan", Json::of(int64_t(1))).add("taps", std::move(taps)).dump();
}

std::vector<std::string> everyName(const std::string &checkpoint) {
  Diagnostics diags;
  std::optional<ModelConfig> config = loadConfig(checkpointPath(checkpoint), diags);
  REQUIRE(config);
  std::vector<std::string> names;
  const PointTable table = qwen35MoePoints(*config);
  for (const PointRef &point : table.points())
    names.push_back(point.name());
  return names;
}

Rows someRows(const std::vector<int64_t> &lengths, int64_t vocab) {
  Rows rows;
  uint64_t state = 12345;
  for (int64_t length : lengths) {
    rows.emplace_back();
    for (int64_t i = 0; i < length; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      rows.back().push_back(int64_t((state >> 33) % uint64_t(vocab)));
    }
  }
  return rows;
}

bool sameBits(const Tensor &a, const Tensor &b) {
  return a.dtype == b.dtype && a.shape == b.shape && std::memcmp(a.data, b.data, a.bytes()) == 0;
}

double cutTolerance(DType dtype) { return verify::cutTolerance(testTarget(), dtype); }

bool agreeAcrossCuts(const Tensor &a, const Tensor &b) {
  const double tolerance = cutTolerance(a.dtype);
  if (tolerance == 0 || a.dtype == DType::i64)
    return sameBits(a, b);
  if (a.dtype != b.dtype || a.shape != b.shape)
    return false;
  const int64_t count = elementCount(a.shape);
  const double allowed = tolerance * verify::scaleOf({&b, 0, 1, count, count});
  for (int64_t i = 0; i < count; ++i)
    if (a.at(i) != b.at(i) && !(std::abs(a.at(i) - b.at(i)) <= allowed))
      return false;
  return true;
}

Tensor rowAlone(const Tensor &tensor, Layout layout, int64_t b, int64_t length) {
  const std::vector<std::string> &names = axes(layout);
  REQUIRE(names.size() == tensor.shape.size());
  Shape shape = tensor.shape, offset(shape.size(), 0);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "batch") {
      shape[i] = 1;
      offset[i] = b;
    } else if (isTokenAxis(names[i])) {
      shape[i] = std::min(length, shape[i]);
      offset[i] = tensor.shape[i] - shape[i];
    }
  }
  Tensor part = Tensor::make(tensor.dtype, shape);
  const size_t size = byteSize(tensor.dtype);
  for (int64_t flat = 0; flat < elementCount(shape); ++flat) {
    int64_t rest = flat, source = 0, stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      source += (rest % shape[i] + offset[i]) * stride;
      stride *= tensor.shape[i];
      rest /= shape[i];
    }
    std::memcpy(part.as<char>() + size_t(flat) * size, tensor.as<char>() + size_t(source) * size, size);
  }
  return part;
}

Tensor part(const Tensor &tensor, size_t axis, int64_t begin, int64_t count) {
  REQUIRE(axis < tensor.shape.size());
  REQUIRE((begin >= 0 && begin + count <= tensor.shape[axis]));
  Shape shape = tensor.shape;
  shape[axis] = count;
  Tensor result = Tensor::make(tensor.dtype, shape);
  size_t outer = 1, inner = byteSize(tensor.dtype);
  for (size_t i = 0; i < axis; ++i)
    outer *= size_t(shape[i]);
  for (size_t i = axis + 1; i < shape.size(); ++i)
    inner *= size_t(shape[i]);
  for (size_t o = 0; o < outer; ++o)
    std::memcpy(result.as<char>() + o * size_t(count) * inner,
                tensor.as<char>() + (o * size_t(tensor.shape[axis]) + size_t(begin)) * inner, size_t(count) * inner);
  return result;
}

std::optional<size_t> axisOf(Layout layout, std::string_view name) {
  const std::vector<std::string> &names = axes(layout);
  auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(size_t(found - names.begin()));
}

Command nnterpTool(const std::vector<std::string> &arguments) { return runTool("nnterp", arguments); }

Command runTool(const std::string &tool, const std::vector<std::string> &arguments, const std::string &environment) {
  TemporaryFolder folder;
  auto quoted = [](const std::string &s) {
    std::string q = "'";
    for (char c : s)
      q += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return q + "'";
  };
  std::string line =
      "XDG_CACHE_HOME=" + quoted(testCache()) + " " + environment + " " + quoted(std::string(NNTERP_BIN) + "/" + tool);
  for (const std::string &argument : arguments)
    line += " " + quoted(argument);
  line += " >" + quoted(folder.path("out")) + " 2>" + quoted(folder.path("err")) + " </dev/null";
  const int raw = std::system(line.c_str());
  auto contents = [&](const char *name) {
    std::stringstream s;
    s << std::ifstream(folder.path(name), std::ios::binary).rdbuf();
    return s.str();
  };
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, contents("out"), contents("err")};
}

} // namespace nnterp::test
