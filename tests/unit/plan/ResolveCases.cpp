// Every golden plan: it resolves, fills, and each tap has the shape that the reference gave it; the same plan
// with other numbers, indices, vectors and experts has the same structure.
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
  Given given;
};

BatchInfo batchOf(const std::string &path) {
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(path, diags);
  Tensor ids = *file->tensor("input_ids");
  std::optional<Tensor> mask = file->tensor("attention_mask");
  BatchInfo batch{ids.shape[1], std::vector<int64_t>(size_t(ids.shape[0]), ids.shape[1])};
  for (int64_t row = 0; mask && row < ids.shape[0]; ++row)
    batch.lengths[size_t(row)] =
        std::count(mask->as<int64_t>() + row * batch.seq, mask->as<int64_t>() + (row + 1) * batch.seq, 1);
  if (std::optional<Tensor> grids = file->tensor("image_grid_thw"))
    for (int64_t image = 0; image < grids->shape[0]; ++image) {
      const int64_t *sides = grids->as<int64_t>() + 3 * image;
      batch.grids.push_back({sides[0], sides[1], sides[2]});
    }
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
    found.plan = std::move(*plan);
    found.given.generate = info->find("generate")->integer;
    for (const Json::Member &input : info->find("inputs")->object)
      found.given.inputs[input.key] = batchOf(found.folder + "/" + input.value.string);
    result.push_back(std::move(found));
  }
  std::sort(result.begin(), result.end(), [](const Case &a, const Case &b) { return a.name < b.name; });
  return result;
}

std::optional<ResolvedPlan> resolve(const Case &c, const Json &json, Diagnostics &diags) {
  std::optional<Plan> plan = readPlan(json, c.folder, diags);
  const TinyModel &on = model(c.checkpoint);
  return plan
             ? resolvePlan(std::make_shared<const Plan>(std::move(*plan)), on.points, on.config, c.given.shape(), diags)
             : std::nullopt;
}

/// Buffers of the program of one phase are all there, with their types and extents.
void checkBuffers(const ResolvedPlan &plan, Phase phase, const BufferMap &filled) {
  for (const BufferSpec &spec : plan.buffers) {
    if (spec.phase != phase || spec.kept)
      continue;
    INFO(spec.name);
    REQUIRE(filled.count(spec.name));
    const Tensor &tensor = filled.at(spec.name);
    CHECK(tensor.dtype == spec.dtype);
    REQUIRE(tensor.shape.size() == spec.dims.size());
    for (size_t i = 0; i < spec.dims.size(); ++i)
      CHECK((spec.dims[i] == BufferSpec::dynamic || spec.dims[i] == tensor.shape[i]));
  }
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
                 key == "experts" || key == "window" || key == "patches" || key == "image_tokens";
  if (json.isString() && (json.string.find("gen[") == 0 || json.string.find("prompt[") == 0)) {
    json.string = json.string[0] == 'g' ? "gen[0,-1]" : "prompt[-1]";
    return;
  }
  if (isIndex && json.isArray() && json.array[0].isString()) {
    for (Json &entry : json.array)
      perturb(entry, key);
    return;
  }
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
  CHECK(all.size() >= 86);
  for (const Case &c : all) {
    INFO(c.name);
    Diagnostics diags;
    std::optional<ResolvedPlan> plan = resolve(c, c.plan, diags);
    INFO(print(diags));
    REQUIRE(plan);
    const TinyModel &on = model(c.checkpoint);
    RunInfo info{c.given.inputs, c.given.generate, 0, {}};
    std::optional<RunBuffers> buffers = RunBuffers::make(*plan, on.points, on.config, info, diags);
    INFO(print(diags));
    REQUIRE(buffers);
    CHECK_FALSE(diags.hasErrors());
    BufferMap filled = buffers->common();
    checkBuffers(*plan, Phase::images, filled);
    buffers->fill(buffers->promptCalls().at(0), {}, filled);
    checkBuffers(*plan, Phase::prompt, filled);
    for (int64_t step = 0; step < info.steps(); ++step) {
      Call call;
      call.phase = Phase::gen;
      call.step = step;
      buffers->fill(call, {}, filled);
      checkBuffers(*plan, Phase::gen, filled);
    }
    std::optional<Safetensors> expected = Safetensors::open(c.folder + "/expected.safetensors", diags);
    REQUIRE(expected);
    size_t written = plan->tokenKeys.size();
    for (const auto &[world, key] : plan->tokenKeys)
      CHECK(expected->find(key));
    REQUIRE(buffers->taps().size() == plan->taps.size());
    for (const TapLayout &tap : buffers->taps()) {
      INFO(tap.key);
      if (elementCount(tap.shape) == 0) {
        CHECK_FALSE(expected->find(tap.key));
        continue;
      }
      const SafetensorsEntry *entry = expected->find(tap.key);
      REQUIRE(entry);
      CHECK(tap.shape == entry->shape);
      ++written;
    }
    CHECK(written == expected->entries().size());
    tensors += written;
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

namespace {

/// A table over tokens of each row, [rows, extent].
Rows tableOf(const Tensor &t) {
  Rows result;
  for (int64_t r = 0; r < t.shape.at(0); ++r)
    result.emplace_back(t.as<int64_t>() + r * t.shape.at(1), t.as<int64_t>() + (r + 1) * t.shape.at(1));
  return result;
}

/// Whether an axis is one that chunks cut.
bool isCut(Layout layout, size_t axis) { return axes(layout)[axis] == "seq" || axes(layout)[axis] == "query"; }

} // namespace

TEST_CASE("golden plans: chunks have together what one call has", "[plan1]") {
  size_t tables = 0;
  for (const Case &c : cases())
    for (int64_t chunk : {1, 3, 5}) {
      INFO(c.name << " in chunks of " << chunk);
      Diagnostics diags;
      std::optional<Plan> read = readPlan(c.plan, c.folder, diags);
      REQUIRE(read);
      const TinyModel &on = model(c.checkpoint);
      std::optional<ResolvedPlan> plan =
          resolvePlan(std::make_shared<const Plan>(std::move(*read)), on.points, on.config,
                      {false, false, true, true, false, c.given.shape().images}, diags);
      if (!plan)
        continue; // edits of generated tokens
      RunInfo info{c.given.inputs, 0, 0, {}}, cut = info;
      cut.chunk = chunk;
      std::optional<RunBuffers> one = RunBuffers::make(*plan, on.points, on.config, info, diags),
                                many = RunBuffers::make(*plan, on.points, on.config, cut, diags);
      REQUIRE((one && many));
      BufferMap whole, part;
      one->fill(one->promptCalls().at(0), {}, whole);
      std::map<std::string, std::string> inputs;
      for (const WorldSpec &world : plan->worlds)
        inputs[world.name] = world.input;
      std::map<std::string, Rows> joined; // what all chunks have, where one call has it
      for (const Call &call : many->promptCalls()) {
        many->fill(call, {}, part);
        auto past = [&](const std::string &world, int64_t row) {
          return rowWindow(cut, inputs.at(world), row, call).past;
        };
        for (const EditSpec &edit : plan->edits)
          for (size_t axis = 0; axis < edit.ordinals.size(); ++axis) {
            if (!isCut(edit.layout, axis))
              continue;
            const std::string &name = edit.ordinals[axis].buffer;
            Rows &all = joined.try_emplace(name, tableOf(whole.at(name)).size(), Row(whole.at(name).shape[1], -1))
                            .first->second;
            Rows here = tableOf(part.at(name));
            for (size_t row = 0; row < here.size(); ++row)
              for (size_t i = 0; i < here[row].size(); ++i)
                if (here[row][i] >= 0)
                  all[row].at(size_t(past(edit.world, int64_t(row))) + i) = here[row][i];
          }
        for (size_t t = 0; t < plan->taps.size(); ++t) {
          const GatherSpec &gather = plan->taps[t].gather;
          CHECK(one->taps()[t].shape == many->taps()[t].shape);
          for (size_t axis = 0; axis < gather.tables.size(); ++axis) {
            if (!isCut(gather.layout, axis))
              continue;
            const std::string &name = gather.tables[axis].buffer;
            Rows &all = joined.try_emplace(name, tableOf(whole.at(name)).size(), Row(whole.at(name).shape[1], -1))
                            .first->second;
            Rows here = tableOf(part.at(name));
            for (size_t rank = 0; rank < here.size(); ++rank)
              for (size_t i = 0; i < here[rank].size(); ++i)
                if (here[rank][i] >= 0)
                  all[rank].at(i) = here[rank][i] + past(gather.world, one->taps()[t].rows[rank]);
          }
        }
      }
      for (const auto &[name, rows] : joined) {
        INFO(name);
        CHECK(rows == tableOf(whole.at(name)));
        ++tables;
      }
    }
  CHECK(tables >= 500);
}
