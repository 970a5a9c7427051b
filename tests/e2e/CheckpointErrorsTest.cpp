// Broken checkpoints: a diagnosed error and no output, through the library and through the tool.
#include "tests/e2e/Runs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace nnterp;
using namespace nnterp::test;

namespace {

namespace fs = std::filesystem;

/// tiny-text as bytes: the JSON header of its weights file, and the data behind it.
struct Weights {
  std::string header, data;

  static Weights read() {
    std::stringstream s;
    s << std::ifstream(checkpointPath("tiny-text") + "/model.safetensors", std::ios::binary).rdbuf();
    const std::string bytes = s.str();
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), 8);
    return {bytes.substr(8, size), bytes.substr(8 + size)};
  }
  std::string bytes() const {
    const uint64_t size = header.size();
    return std::string(reinterpret_cast<const char *>(&size), 8) + header + data;
  }
  Weights &replace(const std::string &was, const std::string &becomes) {
    const size_t at = header.find(was);
    INFO(was);
    REQUIRE(at != std::string::npos);
    header.replace(at, was.size(), becomes);
    return *this;
  }
  /// The header's entry of a tensor: `"key":{…}`.
  std::string entry(const std::string &key) const {
    const size_t at = header.find("\"" + key + "\":");
    REQUIRE(at != std::string::npos);
    return header.substr(at, header.find('}', at) + 1 - at);
  }
};

void copyConfig(const TemporaryFolder &folder) {
  fs::copy_file(checkpointPath("tiny-text") + "/config.json", folder.path("config.json"));
}

/// Runs the checkpoint in `folder` both ways and expects `code` with a message that contains `part`.
void expectError(const TemporaryFolder &folder, const std::string &code, const std::string &part) {
  Setup setup;
  setup.checkpoint = fs::path(folder.path("config.json")).parent_path();
  setup.plan = tapPlan({"layers[0].layer_output"});
  bool computed = false;
  setup.progress = [&](std::string_view phase, double) { computed |= phase == "run"; };
  Diagnostics diags;
  CHECK_FALSE(tryRun(setup, diags));
  CHECK_FALSE(computed);
  REQUIRE(diags.hasErrors());
  INFO(text(diags));
  CHECK(std::any_of(diags.all().begin(), diags.all().end(), [&](const Diagnostic &d) { return d.code == code; }));
  CHECK(text(diags).find(part) != std::string::npos);

  const std::string out = folder.path("out.safetensors");
  const Command command =
      nnterpTool({"run", setup.checkpoint, "--ids", "1,2,3", "--tap", "layers[0].layer_output", "--out", out});
  INFO(command.err);
  CHECK(command.status == 1);
  CHECK(command.out.empty());
  CHECK(command.err.find("error " + code) != std::string::npos);
  CHECK_FALSE(fs::exists(out));
  CHECK_FALSE(fs::exists(folder.path("index.json")));
  for (const auto &file : fs::directory_iterator(setup.checkpoint)) // no temporary file left behind
    CHECK(file.path().filename().string().find("out") == std::string::npos);
}

const char *const someKey = "model.layers.0.linear_attn.A_log";

} // namespace

TEST_CASE("a truncated weights file is an error and leaves no output", "[checkpoint]") {
  TemporaryFolder folder;
  copyConfig(folder);
  const std::string bytes = Weights::read().bytes();
  SECTION("within the data") {
    folder.write("model.safetensors", bytes.substr(0, bytes.size() - 1000));
    expectError(folder, "NNT0302", "model.safetensors");
  }
  SECTION("within the header") {
    folder.write("model.safetensors", bytes.substr(0, 100));
    expectError(folder, "NNT0301", "model.safetensors");
  }
  SECTION("within the length") {
    folder.write("model.safetensors", bytes.substr(0, 5));
    expectError(folder, "NNT0301", "model.safetensors");
  }
  SECTION("to nothing") {
    folder.write("model.safetensors", "");
    expectError(folder, "NNT0301", "model.safetensors");
  }
}

TEST_CASE("a header longer than the file is an error and leaves no output", "[checkpoint]") {
  TemporaryFolder folder;
  copyConfig(folder);
  std::string bytes = Weights::read().bytes();
  for (uint64_t length : {uint64_t(bytes.size()), uint64_t(1) << 40, ~uint64_t(0)}) {
    std::memcpy(bytes.data(), &length, 8);
    folder.write("model.safetensors", bytes);
    expectError(folder, "NNT0301", std::to_string(length));
  }
}

TEST_CASE("overlapping offsets are an error and leave no output", "[checkpoint]") {
  TemporaryFolder folder;
  copyConfig(folder);
  Weights weights = Weights::read();
  // The tensor's bytes are moved onto its neighbour's.
  std::string entry = weights.entry(someKey);
  const size_t at = entry.find("\"data_offsets\":[") + 16;
  const size_t comma = entry.find(',', at), end = entry.find(']', at);
  const int64_t begin = std::stoll(entry.substr(at, comma - at)),
                stop = std::stoll(entry.substr(comma + 1, end - comma - 1));
  const int64_t shift = begin >= 4 ? -4 : 4;
  std::string moved = entry;
  moved.replace(at, end - at, std::to_string(begin + shift) + "," + std::to_string(stop + shift));
  weights.replace(entry, moved);
  folder.write("model.safetensors", weights.bytes());
  expectError(folder, "NNT0302", "model.safetensors");
}

TEST_CASE("a wrong dtype is an error and leaves no output", "[checkpoint]") {
  TemporaryFolder folder;
  copyConfig(folder);
  Weights weights = Weights::read();
  const std::string entry = weights.entry(someKey);
  auto retyped = [&](const std::string &dtype) {
    std::string other = entry;
    const size_t at = other.find("\"F32\"");
    REQUIRE(at != std::string::npos);
    weights.replace(entry, other.replace(at, 5, "\"" + dtype + "\""));
    folder.write("model.safetensors", weights.bytes());
  };
  SECTION("that nobody knows") {
    retyped("F33");
    expectError(folder, "NNT0303", "F33");
  }
  SECTION("that does not fit the bytes") {
    retyped("BF16");
    expectError(folder, "NNT0302", someKey);
  }
  SECTION("that weights cannot have") {
    retyped("I32");
    expectError(folder, "NNT0309", someKey);
  }
}

TEST_CASE("an index that names an absent shard is an error and leaves no output", "[checkpoint]") {
  TemporaryFolder folder;
  copyConfig(folder);
  folder.write("first.safetensors", Weights::read().bytes());
  folder.write(
      "model.safetensors.index.json",
      R"({"metadata": {"total_size": 1}, "weight_map": {"lm_head.weight": "first.safetensors", "model.norm.weight": "second.safetensors"}})");
  expectError(folder, "NNT0305", "second.safetensors");
}

TEST_CASE("a missing, a surplus and a misshaped tensor are named, with no output", "[checkpoint]") {
  TemporaryFolder folder;
  copyConfig(folder);
  Weights weights = Weights::read();
  SECTION("missing") {
    weights.replace(someKey, "mtp.something"); // what the model has no part for
    folder.write("model.safetensors", weights.bytes());
    expectError(folder, "NNT0306", someKey);
  }
  SECTION("surplus") {
    weights.replace("model.layers.7.", "model.layers.8.");
    folder.write("model.safetensors", weights.bytes());
    expectError(folder, "NNT0307", "model.layers.8.");
  }
  SECTION("misshaped") {
    const std::string entry = weights.entry(someKey);
    std::string other = entry;
    const size_t at = other.find("[6]");
    REQUIRE(at != std::string::npos);
    weights.replace(entry, other.replace(at, 3, "[2,3]"));
    folder.write("model.safetensors", weights.bytes());
    expectError(folder, "NNT0308", "[2, 3]");
  }
}
