// The way from tools to the compiler: a shared library, opened when something must be compiled.
#include "runtime/exec/CompilerDoor.h"
#include "runtime/codegen/Compiler.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace nnterp {

namespace fs = std::filesystem;

static constexpr std::array<std::string_view, 10> stageNames = {
    "import", "plan", "checked", "simplified", "kernels", "bufferized", "launches", "llvm", "ptx", "object"};

std::string_view name(Stage stage) { return stageNames[size_t(stage)]; }

std::optional<Stage> stageByName(std::string_view name) {
  for (size_t i = 0; i < stageNames.size(); ++i)
    if (stageNames[i] == name)
      return Stage(i);
  return std::nullopt;
}

std::string compilerLibrary() {
  constexpr const char *file = "libnnterp_compiler.so";
  if (const char *folder = std::getenv("NNTERP_LIB_DIR"); folder && *folder)
    return (fs::path(folder) / file).string();
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  return (program.parent_path().parent_path() / "lib" / file).string();
}

std::string compilerBuild() {
  std::error_code failure;
  const fs::path library = compilerLibrary();
  const auto size = fs::file_size(library, failure);
  if (failure)
    return "";
  const auto time = fs::last_write_time(library, failure);
  return std::to_string(size) + "-" + std::to_string(time.time_since_epoch().count());
}

CompileFunction loadCompiler(Diagnostics &diags) {
  static CompileFunction loaded = nullptr;
  if (loaded)
    return loaded;
  const std::string path = compilerLibrary();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); // never closed: MLIR keeps state for the whole process
  void *symbol = library ? dlsym(library, "nnterp_compile") : nullptr;
  if (!symbol) {
    const char *reason = dlerror();
    Diagnostic::Note hint;
    hint.message = "NNTERP_LIB_DIR names the folder of libnnterp_compiler.so where it is not beside the tools";
    diags.error("NNT1101", {path, 0, 0}, std::string("the compiler cannot be loaded: ") + (reason ? reason : "unknown"))
        .notes.push_back(std::move(hint));
    return nullptr;
  }
  loaded = reinterpret_cast<CompileFunction>(symbol);
  return loaded;
}

} // namespace nnterp
