// Tests of the program cache: entries appear whole, damaged ones are replaced, processes do not disturb each other.
#include "runtime/exec/Cache.h"
#include "../weights/Fixtures.h"
#include "runtime/abi/Frame.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace nnterp;
namespace fs = std::filesystem;

static Manifest manifestFor(const std::string &key) {
  Manifest manifest;
  manifest.abi = abi::version;
  manifest.key = key;
  manifest.slots = {{SlotKind::output, "logits", DType::f32, {-1, -1, 8}}};
  return manifest;
}

TEST_CASE("what was stored is found, under its key only", "[cache]") {
  TempDir dir;
  const ProgramCache cache(dir / "deep/er");
  CHECK_FALSE(cache.find("k1"));
  Diagnostics diags;
  std::optional<Artefact> stored = cache.store("k1", "bytes", manifestFor("k1"), diags);
  REQUIRE(stored);
  std::optional<Artefact> found = cache.find("k1");
  REQUIRE(found);
  CHECK(found->object == stored->object);
  CHECK(readBytes(found->object) == "bytes");
  CHECK(found->manifest.slots.at(0).name == "logits");
  CHECK_FALSE(cache.find("k2"));
}

TEST_CASE("a second store of a key keeps the first", "[cache]") {
  TempDir dir;
  const ProgramCache cache(dir.path);
  Diagnostics diags;
  REQUIRE(cache.store("k", "first", manifestFor("k"), diags));
  std::optional<Artefact> second = cache.store("k", "second", manifestFor("k"), diags);
  REQUIRE(second);
  CHECK(readBytes(second->object) == "first");
  CHECK(dir.names() == std::vector<std::string>{"k"}); // nothing temporary is left
}

TEST_CASE("a damaged or incomplete entry counts as absent and is replaced", "[cache]") {
  TempDir dir;
  const ProgramCache cache(dir.path);
  Diagnostics diags;
  REQUIRE(cache.store("k", "bytes", manifestFor("k"), diags));
  const std::string folder = dir / "k";
  SECTION("truncated program") { writeBytes(folder + "/program.so", "byt"); }
  SECTION("changed manifest") { writeBytes(folder + "/manifest.json", manifestFor("k").toJson() + " "); }
  SECTION("missing manifest") { fs::remove(folder + "/manifest.json"); }
  SECTION("missing checksum") { fs::remove(folder + "/checksum"); }
  SECTION("empty folder") {
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  SECTION("a file in its place") {
    fs::remove_all(folder);
    writeBytes(folder, "x");
  }
  CHECK_FALSE(cache.find("k"));
  std::optional<Artefact> again = cache.store("k", "new", manifestFor("k"), diags);
  INFO(text(diags));
  REQUIRE(again);
  CHECK(readBytes(again->object) == "new");
  CHECK(dir.names() == std::vector<std::string>{"k"});
}

TEST_CASE("an entry of another interface or key is not found", "[cache]") {
  TempDir dir;
  const ProgramCache cache(dir.path);
  Diagnostics diags;
  Manifest other = manifestFor("k");
  other.abi = abi::version + 1;
  CHECK_FALSE(cache.store("k", "bytes", other, diags));
  CHECK_FALSE(cache.find("k"));
  REQUIRE(cache.store("a", "bytes", manifestFor("a"), diags));
  fs::rename(dir / "a", dir / "b");
  CHECK_FALSE(cache.find("b"));
}

TEST_CASE("NNT1016: a cache that cannot be written", "[cache]") {
  TempDir dir;
  writeBytes(dir / "file", "x");
  Diagnostics diags;
  CHECK_FALSE(ProgramCache(dir / "file").store("k", "bytes", manifestFor("k"), diags));
  CHECK(text(diags) == (dir / "file") + ": error NNT1016: cannot store a compiled program in \"" + (dir / "file") +
                           "\": Not a directory\n");
  Diagnostics nowhere;
  CHECK_FALSE(ProgramCache("").store("k", "bytes", manifestFor("k"), nowhere));
  CHECK(text(nowhere) == "error NNT1016: cannot store a compiled program in \"\": none of NNTERP_CACHE_DIR, "
                         "XDG_CACHE_HOME and HOME is set\n");
}

TEST_CASE("the root follows the environment", "[cache]") {
  auto restore = [](const char *name, const char *old) { old ? setenv(name, old, 1) : unsetenv(name); };
  auto value = [](const char *name) {
    const char *v = std::getenv(name);
    return v ? std::optional<std::string>(v) : std::nullopt;
  };
  const auto own = value("NNTERP_CACHE_DIR"), xdg = value("XDG_CACHE_HOME"), home = value("HOME");
  setenv("HOME", "/home/x", 1);
  unsetenv("NNTERP_CACHE_DIR");
  unsetenv("XDG_CACHE_HOME");
  CHECK(ProgramCache::defaultRoot() == "/home/x/.cache/nnterp");
  setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(ProgramCache::defaultRoot() == "/home/x/.cache/nnterp");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  CHECK(ProgramCache::defaultRoot() == "/xdg/nnterp");
  setenv("NNTERP_CACHE_DIR", "/own", 1);
  CHECK(ProgramCache::defaultRoot() == "/own");
  restore("NNTERP_CACHE_DIR", own ? own->c_str() : nullptr);
  restore("XDG_CACHE_HOME", xdg ? xdg->c_str() : nullptr);
  restore("HOME", home ? home->c_str() : nullptr);
}

TEST_CASE("processes that store the same key at once end with one whole entry", "[cache]") {
  TempDir dir;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      bool good = true;
      for (int i = 0; i < 50 && good; ++i) {
        const std::string key = "k" + std::to_string(i);
        Diagnostics diags;
        good = ProgramCache(dir.path).store(key, std::string(10000, char('a' + child)), manifestFor(key), diags) &&
               ProgramCache(dir.path).find(key);
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 1;
    waitpid(pid, &status, 0);
    CHECK(status == 0);
  }
  CHECK(dir.names().size() == 50);
}
