// Fuzzes the check of safetensors headers: what passes must be safe to read, byte by byte.
#include "runtime/weights/Safetensors.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace nnterp;
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  uint64_t dataStart = 0;
  Diagnostics diags;
  if (Safetensors::parseHeader(bytes, "fuzz", entries, metadata, dataStart, diags) == diags.hasErrors())
    std::abort();
  if (diags.hasErrors())
    return 0;
  uint64_t covered = 0;
  for (const SafetensorsEntry &entry : entries) {
    if (entry.begin > entry.end || entry.end > size - dataStart ||
        uint64_t(elementCount(entry.shape)) * byteSize(entry.dtype) != entry.end - entry.begin)
      std::abort();
    covered += entry.end - entry.begin;
  }
  if (covered != size - dataStart)
    std::abort();
  return 0;
}
