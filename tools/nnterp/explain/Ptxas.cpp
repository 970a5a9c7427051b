// Runs ptxas and reads what it prints.
#include "tools/nnterp/explain/Ptxas.h"
#include "runtime/text/ChildProcess.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace nnterp {

namespace fs = std::filesystem;

std::map<std::string, KernelResources> parsePtxas(const std::string &output) {
  std::map<std::string, KernelResources> kernels;
  KernelResources *current = nullptr;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t at = line.find("Compiling entry function '"); at != std::string::npos) {
      const size_t begin = at + 26;
      current = &kernels[line.substr(begin, line.find('\'', begin) - begin)];
    }
    if (!current)
      continue;
    long long stack = 0, stores = 0, loads = 0, registers = 0;
    if (std::sscanf(line.c_str(), " %lld bytes stack frame, %lld bytes spill stores, %lld bytes spill loads", &stack,
                    &stores, &loads) == 3) {
      current->stack = stack;
      current->spillStores = stores;
      current->spillLoads = loads;
    }
    if (const size_t used = line.find("Used "); used != std::string::npos) {
      if (std::sscanf(line.c_str() + used, "Used %lld registers", &registers) == 1)
        current->registers = registers;
      if (const size_t smem = line.find(" bytes smem"); smem != std::string::npos)
        current->shared = std::atoll(line.c_str() + line.find_last_not_of("0123456789", smem - 1) + 1);
    }
  }
  return kernels;
}

std::string findPtxas() {
  std::vector<fs::path> folders;
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    folders.push_back(folder);
  std::vector<fs::path> tools;
  for (const fs::path &folder : folders)
    tools.push_back(folder / "ptxas");
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = std::getenv(variable))
      tools.push_back(fs::path(home) / "bin" / "ptxas");
  std::error_code failure;
  for (const fs::path &folder : folders)
    if (const fs::path nvcc = fs::canonical(folder / "nvcc", failure); !failure)
      tools.push_back(nvcc.parent_path() / "ptxas");
  for (const fs::path &tool : tools)
    if (!tool.empty() && access(tool.c_str(), X_OK) == 0 && !fs::is_directory(tool, failure))
      return tool.string();
  return "";
}

std::optional<std::map<std::string, KernelResources>> assemble(const std::string &ptx, const std::string &chip,
                                                               std::string &why) {
  const std::string tool = findPtxas();
  if (tool.empty()) {
    why = "ptxas is not installed";
    return std::nullopt;
  }
  ChildLimits limits;
  limits.time = std::chrono::minutes(10);
  const ChildResult result = runChild({tool, "-v", "-arch=" + chip, "-o", "/dev/null", "-"}, ptx, limits);
  if (result.end == ChildResult::End::finished && result.status == 0)
    return parsePtxas(result.err + result.out);
  why = result.end == ChildResult::End::notStarted ? "ptxas could not be started: " + result.error
        : result.end == ChildResult::End::finished
            ? "ptxas refuses the program: " + result.err.substr(0, result.err.find('\n'))
            : "ptxas did not end";
  return std::nullopt;
}

} // namespace nnterp
