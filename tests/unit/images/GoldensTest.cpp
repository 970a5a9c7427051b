// The ten pictures of the goldens, bit for bit.
#include "../weights/Fixtures.h"
#include "runtime/abi/Json.h"
#include "runtime/images/Preprocess.h"
#include "runtime/weights/Safetensors.h"

#include <catch2/catch.hpp>

namespace nnterp {

static ImageRules rulesOf(const std::string &checkpoint) {
  Diagnostics diags;
  const std::optional<ImageRules> rules = loadImageRules(data(checkpoint), {}, diags);
  INFO(text(diags));
  REQUIRE(rules);
  return *rules;
}

TEST_CASE("Goldens: patches and grids of ten files are exactly the reference's", "[images]") {
  const ImageRules rules = rulesOf("checkpoints/tiny-vl");
  Diagnostics diags;
  const std::optional<Json> facts = readJsonFile(data("images/images.json"), diags);
  const std::optional<Safetensors> expected = Safetensors::open(data("images/pixel_values.safetensors"), diags);
  REQUIRE(facts);
  REQUIRE(expected);
  std::vector<std::string> paths;
  for (const SafetensorsEntry &entry : expected->entries()) {
    INFO(entry.key);
    paths.push_back(data("images/" + entry.key));
    const std::optional<ImagePatches> patches = loadImage(paths.back(), rules, diags);
    REQUIRE(patches);
    CHECK(same(patches->pixelValues, expected->tensor(entry)));
    const std::vector<Json> &grid = facts->find(entry.key)->find("grid_thw")->array;
    REQUIRE(patches->grids.size() == 1);
    CHECK(patches->grids[0] == ImageGrid{grid[0].integer, grid[1].integer, grid[2].integer});
  }
  CHECK(paths.size() == 10);

  const std::optional<ImagePatches> all = loadImages(paths, rules, diags);
  REQUIRE(all);
  const float *at = all->pixelValues.as<float>();
  for (const SafetensorsEntry &entry : expected->entries()) {
    Tensor part = expected->tensor(entry);
    CHECK(std::memcmp(at, part.data, part.bytes()) == 0);
    at += elementCount(part.shape);
  }
  CHECK(at == all->pixelValues.as<float>() + elementCount(all->pixelValues.shape));
  CHECK(text(diags) == "");
}

} // namespace nnterp
