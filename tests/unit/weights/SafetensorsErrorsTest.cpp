// Tests of broken safetensors files: each is diagnosed, none crashes.
#include "Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static std::string errorsOf(const std::string &bytes) {
  Diagnostics diags;
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  uint64_t dataStart = 0;
  CHECK_FALSE(Safetensors::parseHeader(bytes, "f", entries, metadata, dataStart, diags));
  return text(diags);
}

static std::string errorsOf(const std::string &header, size_t dataSize) {
  return errorsOf(safetensorsBytes(header, dataSize));
}

TEST_CASE("NNT0301: a file without a whole header", "[safetensors]") {
  CHECK(errorsOf("") ==
        "f: error NNT0301: expected at least 8 bytes, the length of the header; the file has 0 bytes\n");
  CHECK(errorsOf("x") ==
        "f: error NNT0301: expected at least 8 bytes, the length of the header; the file has 1 byte\n");
  CHECK(errorsOf(std::string("\x10\0\0\0\0\0\0\0{}", 10)) ==
        "f: error NNT0301: the header is said to be 16 bytes long, but the file ends after 2 bytes of it; is the file "
        "cut off, or no safetensors file?\n");
  CHECK(errorsOf(std::string(8, '\xFF') + "{}") ==
        "f: error NNT0301: the header is said to be 18446744073709551615 bytes long, but the file ends after 2 bytes "
        "of it; is the file cut off, or no safetensors file?\n");
}

TEST_CASE("NNT0301: a header that is no header", "[safetensors]") {
  CHECK(errorsOf("[1,,]", 0) ==
        "f: error NNT0301: in the header, character 4: not valid JSON: unexpected ','; expected "
        "'[', '{', or a literal\n");
  CHECK(errorsOf("[]", 0) == "f: error NNT0301: expected the header to be an object, found an array\n");
  CHECK(errorsOf(R"({"__metadata__":[]})", 0) ==
        "f: error NNT0301: expected \"__metadata__\" to be an object, found an array\n");
  CHECK(errorsOf(R"({"__metadata__":{"a":1}})", 0) ==
        "f: error NNT0301: expected metadata \"a\" to be a string, found an integer\n");
  CHECK(
      errorsOf(
          R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
          0) ==
      "f: error NNT0301: in the header, character 54: the key \"a\" occurs twice in this object; expected one\n");
}

TEST_CASE("NNT0301: entries of a wrong form", "[safetensors]") {
  const std::string expected = "expected {\"dtype\": a string, \"shape\": a list of sizes, \"data_offsets\": [begin, "
                               "end]}, found ";
  for (std::string entry :
       {R"(7)", R"({"dtype":"U8","shape":[1]})", R"({"dtype":8,"shape":[1],"data_offsets":[0,1]})",
        R"({"dtype":"U8","shape":1,"data_offsets":[0,1]})", R"({"dtype":"U8","shape":[-1],"data_offsets":[0,1]})",
        R"({"dtype":"U8","shape":[1.5],"data_offsets":[0,1]})", R"({"dtype":"U8","shape":[1],"data_offsets":[0]})",
        R"({"dtype":"U8","shape":[1],"data_offsets":[0,-1]})"})
    CHECK(errorsOf("{\"a\":" + entry + "}", 1) == "f: error NNT0301: tensor \"a\": " + expected + entry + "\n");
}

TEST_CASE("NNT0303: an element type that is not read", "[safetensors]") {
  CHECK(
      errorsOf(R"({"a":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[0,1]}})", 1) ==
      "f: error NNT0303: tensor \"a\": unknown element type \"F8_E5M2\"; F64, F32, F16, BF16, F8_E4M3, I64, I32, I16, "
      "I8, U8 and BOOL are known\n");
}

TEST_CASE("NNT0302: a tensor whose size is wrong", "[safetensors]") {
  CHECK(errorsOf(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,20]}})", 20) ==
        "f: error NNT0302: tensor \"a\": shape [2, 3] of F32 takes 24 bytes, but its data_offsets hold 20 bytes\n");
  CHECK(errorsOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[3,2]}})", 4) ==
        "f: error NNT0302: tensor \"a\": its bytes end at 2, before they begin at 3\n");
  CHECK(
      errorsOf(R"({"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0) ==
      "f: error NNT0302: tensor \"a\": shape [4611686018427387904, 4] of F64 takes more bytes than can be counted, but "
      "its data_offsets hold 0 bytes\n");
}

TEST_CASE("NNT0302: ranges that leave the file, overlap or leave gaps", "[safetensors]") {
  const std::string a = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  auto b = [&](const std::string &offsets) {
    return a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":)" + offsets + "}}";
  };
  CHECK(errorsOf(b("[4,8]"), 7) ==
        "f: error NNT0302: tensor \"b\": its bytes 4 to 8 leave the file, which holds 7 bytes "
        "of data; is it cut off?\n");
  CHECK(errorsOf(b("[3,7]"), 7) ==
        "f: error NNT0302: tensor \"b\": its bytes from 3 overlap those of \"a\", which end at 4\n");
  CHECK(errorsOf(b("[0,4]"), 4) ==
        "f: error NNT0302: tensor \"b\": its bytes from 0 overlap those of \"a\", which end at 4\n");
  CHECK(errorsOf(b("[6,10]"), 10) ==
        "f: error NNT0302: tensor \"b\": its bytes begin at 6, but the ones before end at 4; "
        "the data must have no gaps\n");
  CHECK(errorsOf(a + "}", 5) ==
        "f: error NNT0302: the tensors take 4 bytes, but the file holds 5 bytes of data; they must be equal\n");
}

TEST_CASE("all broken entries are reported, up to a bound", "[safetensors]") {
  std::string header = "{";
  for (int i = 0; i < 100; ++i)
    header += (i ? "," : "") + ("\"t" + std::to_string(i) + "\":1");
  Diagnostics diags;
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  uint64_t dataStart = 0;
  CHECK_FALSE(Safetensors::parseHeader(safetensorsBytes(header + "}", 0), "f", entries, metadata, dataStart, diags));
  CHECK(diags.all().size() == 20);
}

TEST_CASE("every truncation of a good file is diagnosed", "[safetensors]") {
  TempDir dir;
  save(dir, "a", {{"x", tensorOf(DType::f32, {3}, {1, 2, 3})}, {"y", tensorOf(DType::i64, {1}, {7})}});
  const std::string bytes = readBytes(dir / "a");
  for (size_t length = 0; length < bytes.size(); ++length) {
    Diagnostics diags;
    writeBytes(dir / "b", bytes.substr(0, length));
    CHECK_FALSE(Safetensors::open(dir / "b", diags));
    CHECK(diags.all().size() >= 1);
    CHECK(diags.all()[0].loc.file == dir / "b");
  }
}

TEST_CASE("NNT0101: a file that is not there", "[safetensors]") {
  Diagnostics diags;
  CHECK_FALSE(Safetensors::open("/no/such", diags));
  CHECK_FALSE(Safetensors::open("/tmp", diags));
  CHECK(text(diags) == "/no/such: error NNT0101: cannot read \"/no/such\": No such file or directory\n"
                       "/tmp: error NNT0101: cannot read \"/tmp\": Is a directory\n");
}
