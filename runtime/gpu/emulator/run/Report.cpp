// Words for what went wrong in device code: kernel, line, thread, address.
#include "runtime/gpu/emulator/run/Execution.h"

namespace nnterp::gpu::emulator {

std::string describeCoordinates(const uint32_t (&values)[3]) {
  return "(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " + std::to_string(values[2]) + ")";
}

std::string Execution::describeThread(uint32_t thread) const {
  const uint32_t(&size)[3] = launch->block;
  const uint32_t at[3] = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
  return "thread " + describeCoordinates(at);
}

std::string Execution::describeThread(const Warp &warp, int lane) const {
  return describeThread(warp.number * lanes + uint32_t(lane));
}

std::string Execution::describeLine(int line) const {
  return "line " + std::to_string(line) + ": " + std::string(launch->module->line(line));
}

/// `lane` -1: the whole warp.
bool Execution::fail(Warp &warp, const Inst *inst, int lane, const char *code, const std::string &message,
                     const std::vector<std::string> &notes) {
  warp.state = WarpState::failed;
  const int line = launch->code->lines[size_t(inst - launch->code->code.data())];
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.loc = place(line);
  diagnostic.message = "kernel " + launch->spec->name + ": " + message;
  diagnostic.notes.push_back({{}, std::string(launch->module->line(line))});
  diagnostic.notes.push_back({{},
                              (lane >= 0 ? describeThread(warp, lane) : "warp " + std::to_string(warp.number)) +
                                  " of block " + describeCoordinates(coordinates)});
  for (const std::string &note : notes)
    diagnostic.notes.push_back({{}, note});
  if (!launch->spec->location.empty())
    diagnostic.notes.push_back({{}, "the kernel is " + launch->spec->location});
  launch->failure.report(std::move(diagnostic));
  return false;
}

bool Execution::failDeadlock() {
  std::vector<std::string> notes;
  Warp *waiting = nullptr;
  for (uint32_t w = 0; w < launch->warps; ++w) {
    Warp &warp = warps[w];
    if (warp.state == WarpState::waiting && !waiting)
      waiting = &warp;
    if (warp.state == WarpState::waiting)
      notes.push_back("warp " + std::to_string(w) + " waits at barrier " + std::to_string(warp.barrier) + ", " +
                      describeLine(launch->code->lines[size_t(warp.next - 1 - launch->code->code.data())]));
    else
      notes.push_back("warp " + std::to_string(w) + " has ended");
  }
  if (notes.size() > 8) {
    notes.resize(8);
    notes.push_back("and so on");
  }
  return fail(*waiting, waiting->next - 1, -1, "NNT1714", "some warps wait at a barrier that others never reach",
              notes);
}

} // namespace nnterp::gpu::emulator
