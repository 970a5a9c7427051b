// Every golden plan of one world without generation and images: it resolves, fills, and each tap has the shape that the
// reference gave it; the same plan with other numbers, indices, vectors and experts has the same structure.
#include "ResolveHelp.h"

#include "runtime/weights/Safetensors.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <functional>

using namespace nnterp;

namespace {

struct Case {
  std::string name, folder, checkpoint;
  Json plan;
  BatchInfo batch;
};

BatchInfo batchOf(const std::string &folder) {
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(folder + "/main.safetensors", diags);
  Tensor ids = *file->tensor("input_ids");
  std::optional<Tensor> mask = file->tensor("attention_mask");
  BatchInfo batch{ids.shape[1], std::vector<int64_t>(size_t(ids.shape[0]), ids.shape[1])};
  for (int64_t row = 0; mask && row < ids.shape[0]; ++row)
    batch.lengths[size_t(row)] =
        std::count(mask->as<int64_t>() + row * batch.seq, mask->as<int64_t>() + (row + 1) * batch.seq, 1);
  return batch;
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const auto &entry : std::filesystem::directory_iterator(NNTERP_TEST_DATA "/cases")) {
    Case found;
    found.folder = entry.path().string();
    found.name = entry.path().filename().string();
    Diagnostics diags;
    std::optional<Json> info = readJsonFile(found.folder + "/case.json", diags),
                        plan = readJsonFile(found.folder + "/plan.json", diags);
    REQUIRE((info && plan));
    found.checkpoint = info->find("checkpoint")->string;
    if (info->find("generate")->integer != 0 || plan->find("worlds") || found.checkpoint == "tiny-vl")
      continue;
    found.plan = std::move(*plan);
    found.batch = batchOf(found.folder);
    result.push_back(std::move(found));
  }
  std::sort(result.begin(), result.end(), [](const Case &a, const Case &b) { return a.name < b.name; });
  return result;
}

std::optional<ResolvedPlan> resolve(const Case &c, const Json &json, Diagnostics &diags) {
  std::optional<Plan> plan = readPlan(json, c.folder, diags);
  const TinyModel &on = model(c.checkpoint);
  return plan ? resolvePlan(std::make_shared<const Plan>(std::move(*plan)), on.points, on.config, diags) : std::nullopt;
}

std::string print(const Diagnostics &diags) {
  std::string text;
  for (const Diagnostic &d : diags.all())
    text += format(d);
  return text;
}

/// Every number of a plan changed and every list of plain indices or experts one entry longer or shorter, so that it
/// stays sound.
void perturb(Json &json, const std::string &key) {
  bool isIndex = key == "seq" || key == "query" || key == "key" || key == "heads" || key == "hidden" ||
                 key == "vocab" || key == "slots" || key == "neurons" || key == "batch" || key == "key_dim" ||
                 key == "experts";
  if (isIndex && !json.isObject()) {
    if (key == "experts")
      json = Json::list({Json::of(int64_t(9)), Json::of(int64_t(6))});
    else if (key == "batch")
      json = Json::list({Json::of(int64_t(0))});
    else if (!(json.isString() && json.string == "*"))
      json = Json::list({Json::of(int64_t(0)), Json::of(int64_t(1))});
    return;
  }
  if (json.isNumber() && key != "nnterp_plan") {
    // Whole stay expert numbers, indices per row and the place of a value in its file.
    bool isWhole = json.kind == Json::Kind::integer && (key == "fill" || key == "data" || key == "index");
    json = isWhole ? Json::of(int64_t(1)) : Json::of(json.number * 0.5 + 0.25);
    return;
  }
  for (Json &entry : json.array)
    perturb(entry, key);
  for (Json::Member &member : json.object)
    perturb(member.value, member.key);
}

} // namespace

TEST_CASE("golden plans: every tap has the shape of the reference") {
  size_t tensors = 0;
  std::vector<Case> all = cases();
  CHECK(all.size() >= 60);
  for (const Case &c : all) {
    INFO(c.name);
    Diagnostics diags;
    std::optional<ResolvedPlan> plan = resolve(c, c.plan, diags);
    INFO(print(diags));
    REQUIRE(plan);
    const TinyModel &on = model(c.checkpoint);
    auto buffers = fillBuffers(*plan, on.points, on.config, c.batch, diags);
    INFO(print(diags));
    REQUIRE(buffers);
    CHECK_FALSE(diags.hasErrors());
    std::optional<Safetensors> expected = Safetensors::open(c.folder + "/expected.safetensors", diags);
    REQUIRE(expected);
    CHECK(plan->taps.size() == expected->entries().size());
    for (const TapSpec &tap : plan->taps) {
      INFO(tap.key);
      const SafetensorsEntry *entry = expected->find(tap.key);
      REQUIRE(entry);
      CHECK(tapShape(tap, on.points, *buffers, c.batch) == entry->shape);
      ++tensors;
    }
  }
  CHECK(tensors >= 500);
}

TEST_CASE("golden plans: other numbers, indices, vectors and experts, equal structure", "[structure]") {
  for (const Case &c : cases()) {
    INFO(c.name);
    Diagnostics diags;
    std::optional<ResolvedPlan> plan = resolve(c, c.plan, diags);
    REQUIRE(plan);
    Json other = c.plan;
    perturb(other, "");
    std::optional<ResolvedPlan> changed = resolve(c, other, diags);
    INFO(other.dump());
    INFO(print(diags));
    REQUIRE(changed);
    CHECK(changed->structure() == plan->structure());
  }
}
