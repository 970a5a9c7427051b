// The LibTorch module: reads the archives that torch.save writes. No other file includes LibTorch's headers; this one
// is its own shared object, loaded when a .pt, .pth or .bin file is first opened.
#include "runtime/weights/TorchModule.h"

#include <caffe2/serialize/inline_container.h>
#include <exception>
#include <string>

namespace {

using caffe2::serialize::PyTorchStreamReader;

/// Runs `body` and turns LibTorch's exceptions into an error text of one line (a backtrace follows it).
template <class Body> bool guarded(NnterpTorchText error, void *context, Body body) {
  std::string reason;
  try {
    body();
    return true;
  } catch (const std::exception &e) {
    reason = e.what();
  } catch (...) {
    reason = "unknown failure";
  }
  error(context, reason.substr(0, reason.find('\n')).c_str());
  return false;
}

void *openArchive(const char *path, NnterpTorchText error, void *context) {
  PyTorchStreamReader *reader = nullptr;
  guarded(error, context, [&] { reader = new PyTorchStreamReader(std::string(path)); });
  return reader;
}

void closeArchive(void *archive) { delete static_cast<PyTorchStreamReader *>(archive); }

bool listRecords(void *archive, NnterpTorchRecord record, NnterpTorchText error, void *context) {
  auto *reader = static_cast<PyTorchStreamReader *>(archive);
  return guarded(error, context, [&] {
    for (const std::string &name : reader->getAllRecords())
      record(context, name.c_str(), reader->getRecordOffset(name));
  });
}

bool readRecord(void *archive, const char *name, NnterpTorchBytes bytes, NnterpTorchText error, void *context) {
  auto *reader = static_cast<PyTorchStreamReader *>(archive);
  return guarded(error, context, [&] {
    auto [data, size] = reader->getRecord(name);
    bytes(context, data.get(), size);
  });
}

} // namespace

extern "C" const NnterpTorchApi *nnterpTorchApi() {
  static const NnterpTorchApi api = {NNTERP_TORCH_API_VERSION, openArchive, closeArchive, listRecords, readRecord};
  return &api;
}
