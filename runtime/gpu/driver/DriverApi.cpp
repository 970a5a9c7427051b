// Finds the CUDA driver.
#include "runtime/gpu/driver/DriverApi.h"

#include <dlfcn.h>

namespace nnterp::gpu {

static std::nullptr_t noDriver(Diagnostics &diags, const std::string &reason) {
  diags.error("NNT1740", {},
              "no CUDA driver on this machine: " + reason + "; --target=emulator runs the same program without a GPU");
  return nullptr;
}

std::unique_ptr<DriverApi> DriverApi::open(const std::string &library, Diagnostics &diags) {
  const std::string path = library.empty() ? "libcuda.so.1" : library;
  void *opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const char *reason = dlerror();
    return noDriver(diags, reason ? reason : path + " cannot be opened");
  }
  auto api = std::make_unique<DriverApi>();
  std::string missing;
  auto find = [&](auto &member, const char *symbol) {
    member = reinterpret_cast<std::decay_t<decltype(member)>>(dlsym(opened, symbol));
    if (!member)
      missing += (missing.empty() ? "" : ", ") + std::string(symbol);
  };
#define NNTERP_CUDA(MEMBER, SYMBOL, PARAMETERS) find(api->MEMBER, #SYMBOL);
  NNTERP_CUDA_FUNCTIONS
#undef NNTERP_CUDA
  if (!missing.empty())
    return noDriver(diags, path + " is too old, it has no " + missing + "; expected CUDA 11.4 or newer");
  return api;
}

std::string DriverApi::text(CUresult error) const {
  const char *name = nullptr, *meaning = nullptr;
  errorName(error, &name);
  errorString(error, &meaning);
  return (name ? std::string(name) : "error " + std::to_string(error)) + (meaning ? ": " + std::string(meaning) : "");
}

} // namespace nnterp::gpu
