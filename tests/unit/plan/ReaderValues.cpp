// Values: inline data and files, their types and indices, and what can be wrong with them.
#include "ReaderHelp.h"
#include "runtime/weights/Safetensors.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <unistd.h>

using namespace nnterp;
using Errors = std::vector<std::string>;

static Tensor value(const std::string &json, const std::string &directory = "") {
  CAPTURE(json);
  Reading reading = readText("{\"nnterp_plan\":1,\"values\":{\"v\":" + json + "}}", directory);
  CHECK(reading.errors == Errors{});
  REQUIRE(reading.plan);
  return reading.plan->values.at("v").tensor;
}

static std::vector<double> numbers(const Tensor &tensor) {
  std::vector<double> list;
  for (int64_t i = 0; i < elementCount(tensor.shape); ++i)
    list.push_back(tensor.at(i));
  return list;
}

/// The error of a value whose JSON begins at p:2:1.
static std::string wrong(const std::string &json, const std::string &directory = "") {
  CAPTURE(json);
  Reading reading = readText("{\"nnterp_plan\":1,\"values\":{\"v\":\n" + json + "}}", directory);
  CHECK_FALSE(reading.plan);
  REQUIRE(reading.errors.size() == 1);
  return reading.errors[0];
}

TEST_CASE("data: shape and type follow from the numbers") {
  Tensor floats = value("{\"data\":[[1,2.5],[3,4]]}");
  CHECK((floats.dtype == DType::f32 && floats.shape == Shape{2, 2} &&
         numbers(floats) == std::vector<double>{1, 2.5, 3, 4}));
  Tensor integers = value("{\"data\":[1,-9223372036854775808]}");
  CHECK((integers.dtype == DType::i64 && integers.shape == Shape{2}));
  CHECK(integers.as<int64_t>()[1] == std::numeric_limits<int64_t>::min());
  CHECK(value("{\"data\":[1.0]}").dtype == DType::f32);
  CHECK(value("{\"data\":0.1}").shape.empty());
  CHECK(value("{\"data\":[0.1]}").as<float>()[0] == 0.1f);
  CHECK(value("{\"data\":[[[1]],[[2]]]}").shape == Shape{2, 1, 1});
}

TEST_CASE("index: integers drop their axis, ranges keep it and clip") {
  const std::string data = "{\"data\":[[0,1,2],[10,11,12]],\"index\":";
  auto check = [&](const std::string &index, const Shape &shape, const std::vector<double> &list) {
    Tensor tensor = value(data + index + "}");
    CHECK((tensor.shape == shape && numbers(tensor) == list));
  };
  check("[]", {2, 3}, {0, 1, 2, 10, 11, 12});
  check("[1]", {3}, {10, 11, 12});
  check("[-2]", {3}, {0, 1, 2});
  check("[1,2]", {}, {12});
  check("[\":\",-1]", {2}, {2, 12});
  check("[\"1:9\",\"-2:\"]", {1, 2}, {11, 12});
  check("[0,\":2\"]", {2}, {0, 1});
}

TEST_CASE("NNT0513: malformed values") {
  CHECK(wrong("{\"data\":[[1,2],\n[3]]}") ==
        "p:3:1: error NNT0513: ragged nesting: expected a list of 2 here as before, found one of 1");
  CHECK(wrong("{\"data\":[[1],2]}") ==
        "p:2:14: error NNT0513: ragged nesting: expected a list of 1 here as before, found 2");
  CHECK(wrong("{\"data\":[1,[2]]}") ==
        "p:2:12: error NNT0513: ragged nesting: expected a number here as before, found a list");
  CHECK(wrong("{\"data\":[[1],[]]}") ==
        "p:2:14: error NNT0513: ragged nesting: expected a list of 1 here as before, found one of 0");
  CHECK(wrong("{\"data\":[]}") == "p:2:9: error NNT0513: an empty list holds no numbers");
  CHECK(wrong("{\"data\":[[[[[[[[[1]]]]]]]]]}") == "p:2:17: error NNT0513: lists are nested deeper than 8 levels");
  const std::string either = "p:2:1: error NNT0513: a value has either \"data\" or \"file\" with \"key\", found ";
  CHECK(wrong("{}") == either + "neither");
  CHECK(wrong("{\"data\":1,\"file\":\"f\",\"key\":\"k\"}") == either + "both");
  CHECK(wrong("{\"data\":1,\"key\":\"k\"}") == either + "\"key\" beside \"data\"");
}

TEST_CASE("data holds numbers that fit float32") {
  CHECK(wrong("{\"data\":[1,true]}") == "p:2:12: error NNT0104: an entry of \"data\" must be a number, found true");
  CHECK(wrong("{\"data\":[\"1\"]}") == "p:2:10: error NNT0104: an entry of \"data\" must be a number, found \"1\"");
  CHECK(wrong("{\"data\":[null]}") == "p:2:10: error NNT0104: an entry of \"data\" must be a number, found null");
  CHECK(wrong("{\"data\":[1,4e38]}") ==
        "p:2:12: error NNT0509: an entry of \"data\" 4e+38 does not fit float32 (at most 3.4028235e+38)");
}

TEST_CASE("NNT0514: indices that do not fit") {
  auto index = [](const std::string &json) { return wrong("{\"data\":[[0,1,2]],\"index\":" + json + "}"); };
  CHECK(index("[0,3]") == "p:2:30: error NNT0514: index 3 is outside axis 1 of the value's shape [1, 3]");
  CHECK(index("[-2]") == "p:2:28: error NNT0514: index -2 is outside axis 0 of the value's shape [1, 3]");
  CHECK(index("[0,0,0]") == "p:2:27: error NNT0514: \"index\" has 3 entries, but the value's shape is [1, 3]");
  CHECK(index("[0,\"3:\"]") ==
        "p:2:30: error NNT0514: the range \"3:\" takes nothing of axis 1 of the value's shape [1, 3]");
  CHECK(index("[\"*\"]") ==
        "p:2:28: error NNT0514: an entry of \"index\" must be an integer or a range \"a:b\", found \"*\"");
  CHECK(index("[1.0]") ==
        "p:2:28: error NNT0514: an entry of \"index\" must be an integer or a range \"a:b\", found 1.0");
}

namespace {

/// A directory of its own with `v.safetensors` in it.
struct ValueFile {
  std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("nnterp-plan-values-" + std::to_string(getpid()));

  ValueFile(const std::vector<std::pair<std::string, Tensor>> &tensors) {
    std::filesystem::create_directories(directory);
    Diagnostics diags;
    REQUIRE(writeSafetensors((directory / "v.safetensors").string(), tensors, {}, diags));
  }
  ~ValueFile() { std::filesystem::remove_all(directory); }
};

template <class T> Tensor tensorOf(DType dtype, const std::vector<T> &list) {
  Tensor tensor = Tensor::make(dtype, {int64_t(list.size())});
  std::copy(list.begin(), list.end(), tensor.as<T>());
  return tensor;
}

} // namespace

TEST_CASE("files are found from the plan's directory; integers become int64, all others float32") {
  ValueFile file({{"f32", tensorOf<float>(DType::f32, {1.5f, 2})},
                  {"f64", tensorOf<double>(DType::f64, {0.1, std::numeric_limits<double>::infinity()})},
                  {"bf16", tensorOf<uint16_t>(DType::bf16, {0x3fc0})},
                  {"i32", tensorOf<int32_t>(DType::i32, {-7, 8})},
                  {"i64", tensorOf<int64_t>(DType::i64, {int64_t(1) << 60})},
                  {"bool", tensorOf<uint8_t>(DType::boolean, {1})},
                  {"large", tensorOf<double>(DType::f64, {1, -1e300})}});
  std::string directory = file.directory.string();
  auto read = [&](const std::string &key, const std::string &more = "") {
    return value("{\"file\":\"v.safetensors\",\"key\":\"" + key + "\"" + more + "}", directory);
  };
  CHECK((read("f32").dtype == DType::f32 && numbers(read("f32")) == std::vector<double>{1.5, 2}));
  CHECK((read("f64").dtype == DType::f32 && read("f64").as<float>()[0] == 0.1f));
  CHECK((read("bf16").dtype == DType::f32 && read("bf16").as<float>()[0] == 1.5f));
  CHECK((read("i32").dtype == DType::i64 && numbers(read("i32")) == std::vector<double>{-7, 8}));
  CHECK(read("i64").as<int64_t>()[0] == int64_t(1) << 60);
  CHECK((read("f32", ",\"index\":[1]").shape.empty() && read("f32", ",\"index\":[1]").at(0) == 2));

  CHECK(wrong("{\"file\":\"v.safetensors\",\"key\":\"bool\"}", directory) ==
        "p:2:31: error NNT0513: the tensor \"bool\" holds booleans; a value is made of integers or floating numbers");
  CHECK(
      wrong("{\"file\":\"v.safetensors\",\"key\":\"large\"}", directory) ==
      "p:2:31: error NNT0509: the tensor \"large\" holds -1e+300, which does not fit float32 (at most 3.4028235e+38)");
  CHECK(wrong("{\"file\":\"v.safetensors\"}", directory) ==
        "p:2:1: error NNT0502: a value with \"file\" needs the key \"key\", which is missing");
}

TEST_CASE("a file that is not there, a key that it does not have") {
  Reading missing = readMembers("\n\"values\":{\"v\":{\"file\":\"none.safetensors\",\"key\":\"k\"}}");
  CHECK_FALSE(missing.plan);
  CHECK(missing.codes == Errors{"NNT0101"});
  ValueFile file({{"steer", tensorOf<float>(DType::f32, {1})}});
  Reading key = readText("{\"nnterp_plan\":1,\"values\":{\"v\":{\"file\":\"v.safetensors\",\"key\":\"stear\"}}}",
                         file.directory.string());
  CHECK_FALSE(key.plan);
  REQUIRE(key.errors.size() == 1);
  CHECK(key.errors[0].find("\"steer\"") != std::string::npos);
}
