// Tests of saved states: bits survive, and what does not fit is refused in words.
#include "States.h"

#include <catch2/catch.hpp>

#include <functional>

using namespace nnterp;

namespace {

struct Saved {
  explicit Saved(const SavedStates &states, bool prefixed = false) {
    Diagnostics diags;
    INFO(text(diags));
    REQUIRE(saveStates(path(), states, prefixed, smallIdentity(), diags));
  }
  std::string path() const { return dir / "s.safetensors"; }
  std::optional<SavedStates> load(const std::vector<std::string> &worlds = {"main"},
                                  const StateIdentity &identity = smallIdentity()) {
    diags = {};
    return loadStates(path(), worlds, identity, diags);
  }
  /// Writes the file again after a change.
  void change(const std::function<void(Tensors &, std::map<std::string, std::string> &)> &edit) {
    Diagnostics writing;
    Tensors tensors;
    std::map<std::string, std::string> metadata;
    {
      std::optional<Safetensors> file = Safetensors::open(path(), writing);
      REQUIRE(file);
      for (const SafetensorsEntry &entry : file->entries())
        tensors.emplace_back(entry.key, file->tensor(entry).to(entry.dtype));
      metadata = file->metadata();
    }
    edit(tensors, metadata);
    REQUIRE(writeSafetensors(path(), tensors, metadata, writing));
  }
  Tensor &find(Tensors &tensors, const std::string &key) {
    for (auto &[name, tensor] : tensors)
      if (name == key)
        return tensor;
    FAIL(key);
    return tensors.front().second;
  }
  /// What is said when one tensor is replaced.
  std::string errorsWith(const std::string &key, const Tensor &tensor) {
    change([&](Tensors &tensors, auto &) { find(tensors, key) = tensor; });
    CHECK_FALSE(load());
    return said();
  }
  /// The errors, without the folder's name.
  std::string said() const {
    std::string all = text(diags);
    for (size_t at = 0; (at = all.find(dir.path + "/", at)) != std::string::npos;)
      all.erase(at, dir.path.size() + 1);
    return all;
  }

  TempDir dir;
  Diagnostics diags;
};

Tensor ints(Shape shape, const std::vector<double> &values) { return tensorOf(DType::i64, std::move(shape), values); }

} // namespace

TEST_CASE("a state survives being saved and loaded, bit for bit", "[statefile]") {
  for (bool pending : {false, true}) {
    Saved file({{"main", smallState(pending)}});
    std::optional<SavedStates> loaded = file.load();
    INFO(file.said());
    REQUIRE(loaded);
    REQUIRE(loaded->size() == 1);
    CHECK(sameState(loaded->at("main"), smallState(pending)));
  }
}

TEST_CASE("the file holds what its README says", "[statefile]") {
  Saved file({{"main", smallState(true)}});
  Diagnostics diags;
  std::optional<Safetensors> raw = Safetensors::open(file.path(), diags);
  REQUIRE(raw);
  CHECK(raw->entries().size() == 7);
  CHECK(raw->find("layers[1].self_attn.keys")->shape == Shape{2, 2, 3, 3});
  CHECK(valuesOf(*raw->tensor("lengths")) == std::vector<double>{3, 1});
  CHECK(raw->find("tokens")->shape == Shape{2, 4});
  CHECK(valuesOf(*raw->tensor("tokens")) == std::vector<double>{5, 6, 7, 9, 8, 4, 0, 0});
  CHECK(valuesOf(*raw->tensor("positions")) == std::vector<double>{3, 11, 3, 12, 3, 13});
  CHECK(raw->metadata() == std::map<std::string, std::string>{{"nnterp_state", "1"},
                                                              {"nnterp_config_hash", "c0ffee"},
                                                              {"nnterp_dtype", "bfloat16"},
                                                              {"nnterp_version", "0.1.0"}});
}

TEST_CASE("worlds have states of their own", "[statefile]") {
  Saved file({{"clean", smallState(false, 1)}, {"patched", smallState(false, 50)}}, true);
  std::optional<SavedStates> loaded = file.load({"clean", "patched"});
  INFO(file.said());
  REQUIRE(loaded);
  CHECK(sameState(loaded->at("clean"), smallState(false, 1)));
  CHECK(sameState(loaded->at("patched"), smallState(false, 50)));
  CHECK(file.load({"patched"})->size() == 1); // a plan may leave a world out
}

TEST_CASE("a state without worlds serves each", "[statefile]") {
  Saved file({{"main", smallState(true)}});
  std::optional<SavedStates> loaded = file.load({"clean", "corrupt"});
  REQUIRE(loaded);
  CHECK(sameState(loaded->at("clean"), smallState(true)));
  CHECK(sameState(loaded->at("corrupt"), smallState(true)));
}

TEST_CASE("NNT1208: no state for a world", "[statefile]") {
  Saved file({{"a", smallState(false)}, {"b", smallState(false)}, {"c", smallState(false)}}, true);
  CHECK_FALSE(file.load({"main"}));
  CHECK(file.said() == "s.safetensors: error NNT1208: the saved state has no world \"main\"; it has \"a\", \"b\" and "
                       "\"c\"\n");
}

TEST_CASE("NNT1201: no saved state", "[statefile]") {
  Saved file({{"main", smallState(false)}});
  file.change([](Tensors &, auto &metadata) { metadata["nnterp_state"] = "2"; });
  CHECK_FALSE(file.load());
  CHECK(file.said() == "s.safetensors: error NNT1201: the saved state has format 2; this version reads format 1\n");
  file.change([](Tensors &, auto &metadata) { metadata.erase("nnterp_state"); });
  CHECK_FALSE(file.load());
  CHECK(file.said() ==
        "s.safetensors: error NNT1201: the file is no saved state: its metadata has no \"nnterp_state\"\n");
  writeBytes(file.path(), "no");
  CHECK_FALSE(file.load());
  CHECK(file.diags.all().at(0).code == "NNT0301");
}

TEST_CASE("NNT1202: state of another model", "[statefile]") {
  Saved file({{"main", smallState(false)}});
  StateIdentity other = smallIdentity();
  other.config = "decaf";
  CHECK_FALSE(file.load({"main"}, other));
  CHECK(file.said() == "s.safetensors: error NNT1202: the saved state is of another model: its configuration has the "
                       "hash c0ffee, this model's has decaf\n");
}

TEST_CASE("NNT1203: state in another dtype", "[statefile]") {
  Saved file({{"main", smallState(false)}});
  StateIdentity other = smallIdentity();
  other.dtype = DType::f32;
  CHECK_FALSE(file.load({"main"}, other));
  CHECK(file.said() == "s.safetensors: error NNT1203: the saved state is of a run in bfloat16, this run is in float32; "
                       "--dtype chooses\n");
}

TEST_CASE("NNT1204 and NNT1205: parts missing and unknown", "[statefile]") {
  Saved file({{"main", smallState(false)}});
  file.change([&](Tensors &tensors, auto &) {
    for (auto &[name, tensor] : tensors)
      if (name == "layers[0].linear_attn.conv")
        name = "layers[0].linear_attn.convs";
    tensors.pop_back(); // positions
  });
  CHECK_FALSE(file.load());
  CHECK(file.said() ==
        "s.safetensors: error NNT1204: the saved state lacks \"positions\"\n"
        "s.safetensors: error NNT1204: the saved state lacks \"layers[0].linear_attn.conv\"\n"
        "s.safetensors: error NNT1205: the memory of this model has no \"layers[0].linear_attn.convs\"; nearest: "
        "\"layers[0].linear_attn.conv\", \"layers[0].linear_attn.state\" or \"layers[1].self_attn.keys\"\n");
}

TEST_CASE("NNT1206: unfit part of a state", "[statefile]") {
  Saved file({{"main", smallState(false)}});
  CHECK(file.errorsWith("layers[1].self_attn.keys", Tensor::make(DType::bf16, {2, 2, 4, 3})) ==
        "s.safetensors: error NNT1206: \"layers[1].self_attn.keys\" is bfloat16 [2, 2, 4, 3]; expected bfloat16 "
        "[2, 2, 3, 3]\n");
  CHECK(file.errorsWith("layers[1].self_attn.keys", Tensor::make(DType::f32, {2, 2, 3, 3}))
            .find("is float32 [2, 2, 3, 3]; expected bfloat16 [2, 2, 3, 3]") != std::string::npos);
  Saved lengths({{"main", smallState(false)}});
  CHECK(lengths.errorsWith("lengths", Tensor::make(DType::f32, {2})) ==
        "s.safetensors: error NNT1206: \"lengths\" is float32 [2]; expected int64 [rows]\n");
  Saved positions({{"main", smallState(false)}});
  CHECK(positions.errorsWith("positions", ints({2}, {1, 2})) ==
        "s.safetensors: error NNT1206: \"positions\" is int64 [2]; expected int64 [3, 2]\n");
}

TEST_CASE("NNT1207: inconsistent state", "[statefile]") {
  auto errors = [](const std::string &key, const Tensor &tensor) {
    Saved file({{"main", smallState(false)}});
    return file.errorsWith(key, tensor);
  };
  const std::string start = "s.safetensors: error NNT1207: ";
  CHECK(errors("lengths", ints({2}, {3, 0})) ==
        start + "\"lengths\" must hold, for each row, how many tokens were read: 1 or more\n");
  CHECK(errors("lengths", ints({2}, {1, 1})) ==
        start + "\"tokens\" has 3 columns; expected as many as the longest row has tokens, 1, and one more when the "
                "last generated token was not read yet\n");
  CHECK(errors("tokens", ints({2, 3}, {5, 6, 700, 8, -1, -1})) ==
        start + "\"tokens\", row 0, token 2: id 700 is outside the vocabulary\n");
  CHECK(errors("positions", ints({3, 2}, {3, -1, 3, 3, 3, 2000000})) ==
        start + "\"positions\", row 1: position -1 is outside 0 to 1048576\n" + start +
            "\"positions\", row 1: position 2000000 is outside 0 to 1048576\n");
  CHECK(errors("lengths", ints({2}, {9000000000, 1})).find("1 or more") != std::string::npos);
}

TEST_CASE("NNT0102: a state that cannot be written", "[statefile]") {
  Diagnostics diags;
  CHECK_FALSE(saveStates("/nowhere/s.safetensors", {{"main", smallState(false)}}, false, smallIdentity(), diags));
  CHECK(diags.all().at(0).code == "NNT0102");
}
