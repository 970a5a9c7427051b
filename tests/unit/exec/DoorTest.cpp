// Tests of the door to the compiler: names of stages, and where the library is looked for.
#include "../weights/Fixtures.h"
#include "runtime/codegen/Compiler.h"
#include "runtime/exec/CompilerDoor.h"

#include <catch2/catch.hpp>
#include <cstdlib>

using namespace nnterp;

TEST_CASE("stages have names, in the order of the pipeline", "[door]") {
  CHECK(name(Stage::import) == "import");
  CHECK(name(Stage::object) == "object");
  for (int i = 0; i <= int(Stage::object); ++i)
    CHECK(stageByName(name(Stage(i))) == Stage(i));
  CHECK_FALSE(stageByName("cubin"));
  CHECK_FALSE(stageByName(""));
}

TEST_CASE("NNT1101: a compiler that cannot be loaded; its build follows its file", "[door]") {
  const char *set = std::getenv("NNTERP_LIB_DIR");
  const std::string before = set ? set : "";
  TempDir dir;
  setenv("NNTERP_LIB_DIR", dir.path.c_str(), 1);
  const std::string path = dir / "libnnterp_compiler.so";
  CHECK(compilerLibrary() == path);
  CHECK(compilerBuild() == "");
  Diagnostics diags;
  CHECK(loadCompiler(diags) == nullptr);
  CHECK(text(diags) ==
        path + ": error NNT1101: the compiler cannot be loaded: " + path +
            ": cannot open shared object file: No such file or directory\n"
            "  note: NNTERP_LIB_DIR names the folder of libnnterp_compiler.so where it is not beside the "
            "tools\n");
  writeBytes(path, "12345");
  const std::string build = compilerBuild();
  CHECK(build.rfind("5-", 0) == 0);
  writeBytes(path, "123456");
  CHECK(compilerBuild() != build);
  set ? setenv("NNTERP_LIB_DIR", before.c_str(), 1) : unsetenv("NNTERP_LIB_DIR");
  if (!set)
    CHECK(compilerLibrary().find("/lib/libnnterp_compiler.so") != std::string::npos);
}
