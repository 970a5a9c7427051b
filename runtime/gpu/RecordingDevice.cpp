// Notes launches.
#include "runtime/gpu/RecordingDevice.h"

#include <cstdlib>
#include <cstring>

namespace nnterp::gpu {

namespace {

/// Bytes of a parameter's type, `.u64`, `.f32`, …; 0 for what is no type of a number.
int bytesOf(std::string_view type) {
  const size_t digits = type.find_first_of("0123456789");
  return digits == std::string_view::npos ? 0 : std::atoi(std::string(type.substr(digits)).c_str()) / 8;
}

/// The words of `.param .u64 .ptr .align 16 name`, up to the comma or the end.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> list;
  for (size_t at = text.find_first_not_of(" \t\r\n"); at != std::string_view::npos;
       at = text.find_first_not_of(" \t\r\n", at)) {
    const size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    list.push_back(text.substr(at, end - at));
    at = end;
  }
  return list;
}

} // namespace

std::map<std::string, KernelText> kernelTexts(std::string_view ptx) {
  std::map<std::string, KernelText> kernels;
  constexpr std::string_view entry = ".entry";
  for (size_t at = ptx.find(entry); at != std::string_view::npos;) {
    const size_t next = ptx.find(entry, at + entry.size());
    std::string_view text = ptx.substr(at + entry.size(), std::min(next, ptx.size()) - at - entry.size());
    at = next;
    const size_t open = text.find_first_of("({"), close = text.find_first_of("){");
    const std::vector<std::string_view> name = words(text.substr(0, open));
    if (name.empty())
      continue;
    KernelText &kernel = kernels[std::string(name.front())];
    kernel.matrixUnits = text.find("mma.sync") != std::string_view::npos;
    if (open == std::string_view::npos || text[open] != '(' || close == std::string_view::npos)
      continue;
    std::string_view parameters = text.substr(open + 1, close - open - 1);
    while (!parameters.empty()) {
      const size_t comma = std::min(parameters.find(','), parameters.size());
      const std::vector<std::string_view> parameter = words(parameters.substr(0, comma));
      if (parameter.size() >= 3 && parameter[0] == ".param")
        kernel.parameterBytes.push_back(bytesOf(parameter[1]));
      parameters.remove_prefix(std::min(comma + 1, parameters.size()));
    }
  }
  return kernels;
}

int64_t NotedLaunch::blocks() const { return int64_t(grid[0]) * grid[1] * grid[2]; }

bool RecordingDevice::load(std::string_view ptx, const std::vector<KernelSpec> &specs, Diagnostics &diags) {
  const std::map<std::string, KernelText> found = kernelTexts(ptx);
  text = ptx;
  kernels.clear();
  list.clear();
  for (const KernelSpec &spec : specs) {
    auto kernel = found.find(spec.name);
    if (kernel == found.end()) {
      diags.error("NNT1746", {}, "the program's PTX has no kernel \"" + spec.name + "\"");
      return false;
    }
    kernels.push_back(kernel->second);
  }
  return true;
}

void *RecordingDevice::allocate(uint64_t bytes) {
  const uint64_t address = next;
  next += (bytes / 256 + 1) * 256;
  return reinterpret_cast<void *>(uintptr_t(address));
}

bool RecordingDevice::download(void *to, const void *, uint64_t bytes, Diagnostics &) {
  std::memset(to, 0, bytes);
  return true;
}

bool RecordingDevice::launch(const Launch &launch, Diagnostics &) {
  NotedLaunch &noted = list.emplace_back();
  noted.kernel = launch.kernel;
  std::copy_n(launch.grid, 3, noted.grid);
  std::copy_n(launch.block, 3, noted.block);
  noted.dynamicShared = launch.dynamicShared;
  const std::vector<int> &sizes = kernels[size_t(launch.kernel)].parameterBytes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int32_t narrow = 0;
    int64_t value = 0;
    if (sizes[i] == 4) { // an integer keeps its sign
      std::memcpy(&narrow, launch.parameters[i], sizeof narrow);
      value = narrow;
    } else {
      std::memcpy(&value, launch.parameters[i], std::min<size_t>(size_t(sizes[i]), sizeof value));
    }
    noted.parameters.push_back(value);
  }
  return true;
}

} // namespace nnterp::gpu
