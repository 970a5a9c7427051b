// Tests of writing: safetensors that read back, and files that appear whole or not at all.
#include "Fixtures.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace nnterp;

/// One tensor of every element type, a scalar and an empty one among them.
static Tensors everyType() {
  return {{"bytes", tensorOf(DType::u8, {3}, {1, 2, 255})},
          {"truth", tensorOf(DType::boolean, {2}, {0, 1})},
          {"half", tensorOf(DType::f16, {3}, {0.5, -2, 1})},
          {"wide", tensorOf(DType::f64, {2, 1}, {1e300, -1})},
          {"eight", tensorOf(DType::f8_e4m3, {1}, {448})},
          {"brain", tensorOf(DType::bf16, {1, 1, 1}, {3})},
          {"float", tensorOf(DType::f32, {2, 2}, {1, 2, 3, 4})},
          {"ints", tensorOf(DType::i64, {2}, {-1, 5})},
          {"i32", tensorOf(DType::i32, {}, {-7})},
          {"i16", tensorOf(DType::i16, {1}, {-300})},
          {"i8", tensorOf(DType::i8, {1}, {-3})},
          {"none", tensorOf(DType::f32, {0, 2}, {})}};
}

TEST_CASE("what is written reads back, aligned, in the order given", "[write]") {
  TempDir dir;
  Diagnostics diags;
  const Tensors tensors = everyType();
  REQUIRE(writeSafetensors(dir / "a.safetensors", tensors, {{"nnterp_plan", "{\"a\": \"\\\"\"}"}, {"k", "v"}}, diags));
  std::optional<Safetensors> file = Safetensors::open(dir / "a.safetensors", diags);
  INFO(text(diags));
  REQUIRE(file);
  REQUIRE(file->entries().size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    INFO(tensors[i].first);
    CHECK(file->entries()[i].key == tensors[i].first);
    CHECK(file->inPlace(file->entries()[i]));
    CHECK(same(*file->tensor(tensors[i].first), tensors[i].second));
  }
  CHECK(file->metadata() == std::map<std::string, std::string>{{"nnterp_plan", "{\"a\": \"\\\"\"}"}, {"k", "v"}});
  CHECK(dir.names() == std::vector<std::string>{"a.safetensors"});
}

TEST_CASE("the same tensors give the same bytes", "[write]") {
  TempDir dir;
  save(dir, "a", everyType());
  save(dir, "b", everyType());
  CHECK(readBytes(dir / "a") == readBytes(dir / "b"));
  std::string bytes = readBytes(dir / "a");
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  CHECK(header % 8 == 0);
  CHECK(bytes[8] == '{');
}

TEST_CASE("a file of no tensors is valid", "[write]") {
  TempDir dir;
  save(dir, "a", {});
  Diagnostics diags;
  CHECK(Safetensors::open(dir / "a", diags));
}

TEST_CASE("writing replaces a file, and follows links", "[write]") {
  TempDir dir;
  Diagnostics diags;
  writeBytes(dir / "real", "old");
  std::filesystem::create_symlink(dir / "real", dir / "link");
  CHECK(writeFileAtomically(dir / "link", "new", diags));
  CHECK(readBytes(dir / "real") == "new");
  CHECK(std::filesystem::is_symlink(dir / "link"));
  CHECK(dir.names() == std::vector<std::string>{"link", "real"});
}

TEST_CASE("devices are written to, not replaced", "[write]") {
  Diagnostics diags;
  CHECK(writeFileAtomically("/dev/null", "gone", diags));
  struct stat info;
  REQUIRE(stat("/dev/null", &info) == 0);
  CHECK(S_ISCHR(info.st_mode));
}

TEST_CASE("NNT0102: an output that cannot be written leaves nothing behind", "[write]") {
  TempDir dir;
  Diagnostics diags;
  CHECK_FALSE(writeSafetensors(dir / "no/such/folder.safetensors", everyType(), {}, diags));
  CHECK_FALSE(writeFileAtomically(dir.path, "text", diags));
  CHECK_FALSE(writeFileAtomically("/dev/full", "text", diags));
  CHECK(text(diags) == dir / "no/such/folder.safetensors: error NNT0102: cannot write \"" + dir.path +
                           "/no/such/folder.safetensors\": No such file or directory\n" + dir.path +
                           ": error NNT0102: cannot write \"" + dir.path + "\": Is a directory\n" +
                           "/dev/full: error NNT0102: cannot write \"/dev/full\": No space left on device\n");
  CHECK(dir.names().empty());
}

TEST_CASE("a failing disk leaves the old file as it was", "[write]") {
  TempDir dir;
  Diagnostics diags;
  writeBytes(dir / "out", "old");
  std::filesystem::create_directory(dir / "out.d");
  writeBytes(dir / "out.d/inside", "x");
  CHECK_FALSE(writeFileAtomically(dir / "out.d", "text", diags));
  CHECK(readBytes(dir / "out.d/inside") == "x");
  CHECK(readBytes(dir / "out") == "old");
  CHECK(dir.names() == std::vector<std::string>{"out", "out.d"});
}
