// Compiles and runs programs of tests.
#include "tests/exec/Compiled.h"

#include "passes/Pipelines.h"
#include "passes/lower/cpu/CpuPipeline.h"
#include "runtime/codegen/Emit.h"
#include "runtime/exec/HostTier.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace nnterp::test {

std::string compileText(const std::string &text, const std::string &tierName, Diagnostics &diags) {
  mlir::DialectRegistry registry;
  registerForPipelines(registry);
  mlir::MLIRContext context(registry);
  context.allowUnregisteredDialects(false);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return "";
  mlir::PassManager pm(&context);
  populateBufferizedPipeline(pm);
  populateLlvmPipeline(pm);
  std::string bytes;
  const Tier *tier = tierByName(tierName);
  if (!tier || mlir::failed(pm.run(*module)) || !emitSharedObject(*module, *tier, "", bytes, diags))
    return "";
  return bytes;
}

std::vector<std::string> runnableTiers() {
  std::vector<std::string> names;
  for (const Tier &tier : tiers()) {
    names.push_back(tier.name);
    if (tier.name == hostTier())
      break;
  }
  return names;
}

Program::Program(const std::string &soBytes) {
  host = {abi::version,
          this,
          [](void *self, uint64_t bytes) {
            ++static_cast<Program *>(self)->allocations;
            return std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
          },
          [](void *self, void *memory) {
            ++static_cast<Program *>(self)->releases;
            std::free(memory);
          },
          [](void *self, int64_t done, int64_t total) {
            static_cast<Program *>(self)->events.push_back({"progress", done, total});
          },
          [](void *self, int64_t entry, int64_t reason) {
            static_cast<Program *>(self)->events.push_back({"fail", entry, reason});
          },
          nullptr};
  char path[] = "/tmp/nnterp-test-XXXXXX";
  int file = mkstemp(path);
  if (file < 0 || write(file, soBytes.data(), soBytes.size()) != ssize_t(soBytes.size())) {
    error = "cannot write a temporary file";
    return;
  }
  close(file);
  handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    error = dlerror();
  unlink(path);
  if (handle)
    *static_cast<abi::Host **>(dlsym(handle, "nnterp_host")) = &host;
}

Program::~Program() {
  if (handle)
    dlclose(handle);
}

bool Program::run(const char *function, const std::vector<abi::Slot> &slots) {
  auto entry = handle ? reinterpret_cast<abi::Entry>(dlsym(handle, function)) : nullptr;
  if (!entry)
    return false;
  abi::Frame frame{slots.data(), nullptr};
  entry(&frame);
  return true;
}

} // namespace nnterp::test
