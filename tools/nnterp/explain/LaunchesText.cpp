// Writes launches for people and for scripts.
#include "tools/nnterp/explain/Launches.h"
#include "tools/nnterp/report/Units.h"

#include <algorithm>

namespace nnterp {

namespace {

std::string extent(const uint32_t (&size)[3]) {
  std::string text = std::to_string(size[0]);
  for (int axis = 1; axis < 3 && (size[1] > 1 || size[2] > 1); ++axis)
    if (axis == 1 || size[2] > 1)
      text += "x" + std::to_string(size[axis]);
  return text;
}

const KernelResources *resourcesOf(const LaunchReport &report, const KernelUse &use) {
  if (!report.resources)
    return nullptr;
  auto found = report.resources->find(report.kernels[size_t(use.kernel)].name);
  return found == report.resources->end() ? nullptr : &found->second;
}

std::string counted(int64_t count, const char *one, const char *several) {
  return countText(count) + " " + (count == 1 ? one : several);
}

/// Whether anything is known of a kernel's costs.
bool hasCosts(const LaunchReport &report, const KernelUse &use) {
  const KernelSpec &spec = report.kernels[size_t(use.kernel)];
  return !spec.flops.isZero() || !spec.memory.empty();
}

/// Columns as wide as their widest cell; all but the first two stand on the right.
std::string columns(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], displayWidth(row[c]));
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c)
      line += (c ? "  " : "") +
              (c == 1 ? padded(row[c], widths[c]) : std::string(widths[c] - displayWidth(row[c]), ' ') + row[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string callText(const LaunchReport &report, const CallLaunches &call) {
  std::vector<std::vector<std::string>> rows = {
      {"times", "kernel", "grid", "block", "shared", "registers", "bytes", "operations", "time"}};
  int64_t spilled = 0;
  for (const KernelUse &use : call.uses) {
    const KernelResources *resources = resourcesOf(report, use);
    const bool known = hasCosts(report, use);
    const uint64_t shared = use.dynamicShared + (resources ? uint64_t(resources->shared) : 0);
    spilled += resources && resources->spillStores > 0;
    rows.push_back({std::to_string(use.count), report.kernels[size_t(use.kernel)].name, extent(use.grid),
                    extent(use.block), resources || shared ? bytesText(double(shared)) : "?",
                    resources ? std::to_string(resources->registers) : "?", known ? bytesText(use.bytes) : "?",
                    known ? flopsText(use.flops) : "?", known ? secondsText(use.time.seconds) : "?"});
  }
  std::string text = "\n" + call.what + ": " + counted(call.launches, "launch", "launches");
  if (std::any_of(call.uses.begin(), call.uses.end(), [&](const KernelUse &use) { return hasCosts(report, use); }))
    text += ", " + bytesText(call.bytes) + ", " + flopsText(call.flops) + ", at least " + secondsText(call.seconds) +
            " on " + std::string(report.gpu->name);
  text += "\n" + columns(rows);
  if (spilled)
    text += std::to_string(spilled) + " of these kernels keep registers in memory\n";
  return text;
}

} // namespace

std::string launchesText(const LaunchReport &report) {
  const Gpu &gpu = *report.gpu;
  std::string text = padded("device", 12) + counted(int64_t(report.kernels.size()), "kernel, ", "kernels, ") +
                     bytesText(double(report.ptxBytes)) + " of PTX; registers and shared memory " +
                     (report.resources ? "for " + std::string(gpu.chip) : "unknown: " + report.whyNoResources) + "\n" +
                     padded("", 12) + std::string(gpu.name) + " moves " + bytesText(gpu.bandwidth) + " and computes " +
                     flopsText(gpu.matrixFlops) + " (bfloat16 products) or " + flopsText(gpu.plainFlops) +
                     " (float32) per second; times are what that allows\n";
  for (const CallLaunches &call : report.calls)
    text += callText(report, call);
  return text;
}

Json launchesJson(const LaunchReport &report) {
  auto size = [](const uint32_t(&extents)[3]) {
    return Json::list({Json::of(int64_t(extents[0])), Json::of(int64_t(extents[1])), Json::of(int64_t(extents[2]))});
  };
  std::vector<Json> calls;
  for (const CallLaunches &call : report.calls) {
    std::vector<Json> uses;
    for (const KernelUse &use : call.uses) {
      const KernelSpec &spec = report.kernels[size_t(use.kernel)];
      const KernelResources *resources = resourcesOf(report, use);
      const bool known = hasCosts(report, use);
      uses.push_back(Json::dict()
                         .add("kernel", Json::of(spec.name))
                         .add("location", Json::of(spec.location))
                         .add("launches", Json::of(use.count))
                         .add("grid", size(use.grid))
                         .add("block", size(use.block))
                         .add("dynamic_shared", Json::of(int64_t(use.dynamicShared)))
                         .add("matrix_units", Json::of(report.texts[size_t(use.kernel)].matrixUnits))
                         .add("registers", resources ? Json::of(resources->registers) : Json())
                         .add("spilled_bytes", resources ? Json::of(resources->spillStores) : Json())
                         .add("stack_bytes", resources ? Json::of(resources->stack) : Json())
                         .add("shared_bytes", resources ? Json::of(resources->shared) : Json())
                         .add("bytes", known ? Json::of(use.bytes) : Json())
                         .add("flops", known ? Json::of(use.flops) : Json())
                         .add("seconds", known ? Json::of(use.time.seconds) : Json())
                         .add("bound", !known ? Json() : Json::of(use.time.memory ? "memory" : "arithmetic")));
    }
    calls.push_back(Json::dict()
                        .add("what", Json::of(call.what))
                        .add("launches", Json::of(call.launches))
                        .add("bytes", Json::of(call.bytes))
                        .add("flops", Json::of(call.flops))
                        .add("seconds", Json::of(call.seconds))
                        .add("kernels", Json::list(std::move(uses))));
  }
  return Json::dict()
      .add("gpu", Json::of(std::string(report.gpu->name)))
      .add("chip", Json::of(std::string(report.gpu->chip)))
      .add("kernels", Json::of(int64_t(report.kernels.size())))
      .add("ptx_bytes", Json::of(int64_t(report.ptxBytes)))
      .add("calls", Json::list(std::move(calls)));
}

} // namespace nnterp
