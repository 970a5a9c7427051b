// Finds and loads the LibTorch module and calls it.
#include "runtime/weights/TorchArchive.h"
#include "runtime/abi/Diagnostic.h"
#include "runtime/weights/TorchModule.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace nnterp {

namespace {

constexpr const char *moduleName = "libnnterp_torch.so";

std::string directoryOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Where the module may lie: as told by NNTERP_LIB_DIR, beside this library, or beside the program as it is built and
/// installed.
std::vector<std::string> moduleFolders() {
  if (const char *told = std::getenv("NNTERP_LIB_DIR"))
    return {told};
  std::vector<std::string> folders;
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(&moduleFolders), &self) && self.dli_fname)
    folders.push_back(directoryOf(self.dli_fname));
  char program[PATH_MAX];
  if (ssize_t length = readlink("/proc/self/exe", program, sizeof program); length > 0) {
    std::string folder = directoryOf(std::string(program, size_t(length)));
    folders.push_back(folder + "/../lib");
    if (folders.front() != folder)
      folders.push_back(folder);
  }
  return folders;
}

/// The module's functions, loaded on the first call; null with `problem` when there is no such module. It stays loaded:
/// LibTorch does not support being unloaded.
const NnterpTorchApi *loadModule(std::string &problem) {
  static const NnterpTorchApi *loaded = nullptr;
  if (loaded)
    return loaded;
  std::vector<std::string> folders = moduleFolders();
  for (const std::string &folder : folders) {
    std::string path = folder + "/" + moduleName;
    if (access(path.c_str(), R_OK) != 0)
      continue;
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      problem = std::string("it cannot be loaded: ") + dlerror();
      return nullptr;
    }
    auto entry = reinterpret_cast<decltype(&nnterpTorchApi)>(dlsym(handle, "nnterpTorchApi"));
    const NnterpTorchApi *api = entry ? entry() : nullptr;
    if (!api || api->version != NNTERP_TORCH_API_VERSION) {
      problem = "\"" + path + "\" belongs to another version of nnterp";
      return nullptr;
    }
    return loaded = api;
  }
  problem = std::string(moduleName) + " is not in " + joinOr(folders) +
            "; build it with -DNNTERP_TORCH=ON and LibTorch, or convert the file to safetensors";
  return nullptr;
}

/// What the callbacks of one call write to.
struct Call {
  std::string *problem;
  std::map<std::string, uint64_t> *offsets = nullptr;
  std::string *bytes = nullptr;

  static void onError(void *call, const char *text) { *static_cast<Call *>(call)->problem = text; }
  static void onRecord(void *call, const char *name, uint64_t offset) {
    (*static_cast<Call *>(call)->offsets)[name] = offset;
  }
  static void onBytes(void *call, const void *data, size_t size) {
    static_cast<Call *>(call)->bytes->assign(static_cast<const char *>(data), size);
  }
};

} // namespace

TorchArchive::~TorchArchive() {
  if (handle)
    api->close(handle);
}

bool TorchArchive::load() {
  api = loadModule(problem);
  return api != nullptr;
}

bool TorchArchive::open(const std::string &path) {
  Call call{&problem};
  handle = api->open(path.c_str(), Call::onError, &call);
  return handle != nullptr;
}

bool TorchArchive::list(std::map<std::string, uint64_t> &offsets) {
  Call call{&problem, &offsets};
  return api->list(handle, Call::onRecord, Call::onError, &call);
}

bool TorchArchive::read(const char *name, std::string &bytes) {
  Call call{&problem, nullptr, &bytes};
  return api->read(handle, name, Call::onBytes, Call::onError, &call);
}

} // namespace nnterp
