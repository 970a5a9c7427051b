// What the LibTorch module offers: the records of a file written by torch.save, through plain C so that the module can
// be loaded on demand and nothing else ever links LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Receives an error text, or the name and position of a record.
typedef void (*NnterpTorchText)(void *context, const char *text);
typedef void (*NnterpTorchRecord)(void *context, const char *name, uint64_t offset);
typedef void (*NnterpTorchBytes)(void *context, const void *bytes, size_t size);

/// The functions of the module; each that returns bool reports a failure through `error` and returns false.
struct NnterpTorchApi {
  uint32_t version; ///< NNTERP_TORCH_API_VERSION of the header that the module was built with
  /// Opens the archive, or returns null.
  void *(*open)(const char *path, NnterpTorchText error, void *context);
  void (*close)(void *archive);
  /// Tells each record's name (without the archive's own folder) and where in the file its bytes begin.
  bool (*list)(void *archive, NnterpTorchRecord record, NnterpTorchText error, void *context);
  /// Hands out the whole content of one record, checked against its checksum.
  bool (*read)(void *archive, const char *name, NnterpTorchBytes bytes, NnterpTorchText error, void *context);
};

#define NNTERP_TORCH_API_VERSION 1u

/// The one symbol that the module exports.
const NnterpTorchApi *nnterpTorchApi();
}
