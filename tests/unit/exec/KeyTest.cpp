// Tests of cache keys and hashes: whatever changes a program changes its key.
#include "runtime/exec/Key.h"
#include "runtime/exec/Hash.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <set>

using namespace nnterp;

static ProgramKey sample() {
  ProgramKey key;
  key.config = "config";
  key.inventory = {{"a", {2, 3}, DType::f32}, {"b", {4}, DType::bf16}};
  key.structure = "structure";
  key.tier = "avx2";
  key.compiler = "1-2";
  return key;
}

TEST_CASE("every part of a key counts", "[key]") {
  const std::vector<std::function<void(ProgramKey &)>> changes = {
      [](ProgramKey &) {},
      [](ProgramKey &k) { k.config += "x"; },
      [](ProgramKey &k) { k.structure += "x"; },
      [](ProgramKey &k) { k.target = "cuda"; },
      [](ProgramKey &k) { k.tier = "generic"; },
      [](ProgramKey &k) { k.dtype = DType::bf16; },
      [](ProgramKey &k) { k.compiler = "1-3"; },
      [](ProgramKey &k) { k.inventory[0].name = "c"; },
      [](ProgramKey &k) {
        k.inventory[0].shape = {3, 2};
      },
      [](ProgramKey &k) { k.inventory[1].dtype = DType::f16; },
      [](ProgramKey &k) { k.inventory.pop_back(); },
      [](ProgramKey &k) { k.config = "confi", k.structure = "gstructure"; }, // fields do not run together
  };
  std::set<std::string> keys;
  for (const auto &change : changes) {
    ProgramKey key = sample();
    change(key);
    keys.insert(key.hex());
  }
  CHECK(keys.size() == changes.size());
}

TEST_CASE("the order of the inventory does not count", "[key]") {
  ProgramKey key = sample();
  std::reverse(key.inventory.begin(), key.inventory.end());
  CHECK(key.hex() == sample().hex());
}

TEST_CASE("keys are 32 hexadecimal digits", "[key]") {
  const std::string key = sample().hex();
  CHECK(key.size() == 32);
  CHECK(key.find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("a hash covers fields and where they end", "[hash]") {
  CHECK(hashOf("x") == Hash().add("x").hex());
  CHECK(Hash().add("ab").add("c").hex() != Hash().add("a").add("bc").hex());
  CHECK(Hash().add("").hex() != Hash().hex());
  CHECK(hashOf("").size() == 32);
}
