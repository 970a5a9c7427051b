// The table against the reference's numbers: every value that a golden case holds is a point with that shape and type.
#include "ConfigHelp.h"

#include "runtime/weights/Safetensors.h"

#include <filesystem>

using namespace nnterp;
using namespace nnterp::test;

namespace {

const PointTable &tableOf(const std::string &checkpoint) {
  static std::map<std::string, PointTable> tables;
  auto found = tables.find(checkpoint);
  if (found == tables.end())
    found = tables.emplace(checkpoint, qwen35MoePoints(checkpointConfig("checkpoints/" + checkpoint))).first;
  return found->second;
}

/// Every name under `at` and in `taps`, wherever it stands in a plan.
void collectNames(const Json &json, std::vector<std::string> &names) {
  for (const Json &item : json.array)
    collectNames(item, names);
  for (const Json::Member &member : json.object) {
    if (member.key == "at" && member.value.isString())
      names.push_back(member.value.string);
    if (member.key == "taps")
      for (const Json &tap : member.value.array)
        if (tap.isString())
          names.push_back(tap.string);
    collectNames(member.value, names);
  }
}

struct Case {
  std::string name, checkpoint;
  Json plan;
  bool textOnly = false;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const auto &entry : std::filesystem::directory_iterator(NNTERP_TEST_DATA "/cases")) {
    Diagnostics diags;
    auto description = readJsonFile(entry.path() / "case.json", diags);
    auto plan = readJsonFile(entry.path() / "plan.json", diags);
    REQUIRE(description);
    REQUIRE(plan);
    std::string checkpoint = description->find("checkpoint")->string;
    list.push_back({entry.path().filename(), checkpoint, *plan, checkpoint != "tiny-vl"});
  }
  REQUIRE(list.size() > 50);
  return list;
}

} // namespace

TEST_CASE("every name of the golden plans is known") {
  size_t checked = 0;
  for (const Case &test : cases()) {
    std::vector<std::string> names;
    collectNames(test.plan, names);
    for (const std::string &pattern : names) {
      INFO(test.name << ": " << pattern);
      NameError error;
      auto points = tableOf(test.checkpoint).expand(pattern, error, 0);
      // That of generation is known where tokens are generated.
      CHECK((points || error.code == "NNT0608"));
      ++checked;
    }
  }
  CHECK(checked > 300);
}

TEST_CASE("every golden tensor under a value's name has the table's shape and type") {
  size_t checked = 0;
  for (const Case &test : cases()) {
    Diagnostics diags;
    auto file = Safetensors::open(NNTERP_TEST_DATA "/cases/" + test.name + "/expected.safetensors", diags);
    REQUIRE(file);
    std::map<std::string, bool> selected; // values tapped with a selection have other extents
    if (const Json *taps = test.plan.find("taps"))
      for (const Json &tap : taps->array)
        if (tap.find("select"))
          selected[tap.find("at")->string] = true;
    if (!selected.empty())
      continue;
    for (const SafetensorsEntry &entry : file->entries()) {
      std::string key = entry.key.substr(entry.key.find('/') + 1); // without the world
      if (key.find("@gen") != std::string::npos)
        continue;
      key = key.substr(0, key.find('@'));
      NameError error;
      auto points = tableOf(test.checkpoint).expand(key, error);
      if (!points)
        continue;
      INFO(test.name << ": " << key);
      REQUIRE(points->size() == 1);
      CHECK(points->front().name() == key); // keys are standard names
      const PointInfo &row = *points->front().info;
      REQUIRE(entry.shape.size() == row.shape.size());
      for (size_t i = 0; i < row.shape.size(); ++i)
        if (row.shape[i].kind == Dim::fixed)
          CHECK(entry.shape[i] == row.shape[i].size);
      CHECK((entry.dtype == DType::i64) == (row.type == ValueType::int64));
      ++checked;
    }
  }
  CHECK(checked > 500);
}
