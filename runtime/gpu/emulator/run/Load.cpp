// Loading a module: parsing, placing its variables, decoding the kernels that the program launches.
#include "runtime/gpu/emulator/decode/Decoder.h"
#include "runtime/gpu/emulator/run/EmulatedDevice.h"

#include <cstring>

namespace nnterp::gpu::emulator {

bool EmulatedDevice::placeVariable(const Variable &variable, Placement &where, Diagnostics &diags) {
  if (variable.space != Space::global && variable.space != Space::constant)
    return true;
  void *placed = memory.allocate(variable.bytes);
  if (!placed)
    return fail("NNT1742", "no memory for the variable " + std::string(variable.name), diags);
  std::memset(placed, 0, variable.bytes);
  if (!variable.initial.empty())
    std::memcpy(placed, variable.initial.data(), variable.initial.size());
  const uint64_t address = reinterpret_cast<uint64_t>(placed);
  variables[address] = {std::string(variable.name), variable.space == Space::constant};
  where[variable.name] = {variable.space, address};
  return true;
}

/// Initial values that are addresses of variables.
bool EmulatedDevice::fillAddresses(const Variable &variable, const Placement &where, Diagnostics &diags) {
  for (const InitialAddress &address : variable.addresses) {
    const auto found = where.find(address.symbol);
    if (found == where.end()) {
      diags.error("NNT1704", place(variable.line), "no such variable: " + std::string(address.symbol));
      return false;
    }
    const uint64_t value = found->second.address + uint64_t(address.offset);
    std::memcpy(reinterpret_cast<char *>(where.at(variable.name).address) + address.at, &value, 8);
  }
  return true;
}

bool EmulatedDevice::load(std::string_view ptx, const std::vector<KernelSpec> &kernels, Diagnostics &diags) {
  if (!ready("a program is loaded", diags))
    return false;
  dead = true; // until all of it went well
  module = parseModule(ptx, diags);
  if (!module)
    return false;
  placement.clear();
  for (const auto &[address, variable] : variables)
    memory.release(reinterpret_cast<void *>(address));
  variables.clear();
  for (const Variable &variable : module->variables)
    if (!placeVariable(variable, placement, diags))
      return false;
  for (const Variable &variable : module->variables)
    if (!fillAddresses(variable, placement, diags))
      return false;

  std::map<std::string_view, const Kernel *> byName;
  std::vector<std::string> names;
  for (const Kernel &kernel : module->kernels) {
    byName[kernel.name] = &kernel;
    names.push_back(std::string(kernel.name));
  }
  codes.clear();
  specs = kernels;
  for (const KernelSpec &spec : specs) {
    const auto found = byName.find(spec.name);
    if (found == byName.end()) {
      diags.error(
          "NNT1705", {},
          "the device code has no kernel " + spec.name +
              (names.empty() ? "; it has none at all" : "; the nearest are " + joinOr(nearest(spec.name, names))));
      return false;
    }
    Placement own = placement;
    for (const Variable &variable : found->second->variables)
      if (!placeVariable(variable, own, diags))
        return false;
    for (const Variable &variable : found->second->variables)
      if (!fillAddresses(variable, own, diags))
        return false;
    codes.push_back(std::make_unique<KernelCode>());
    if (!Decoder(*module, *found->second, own, handlers(options.tier), *codes.back(), diags).run())
      return false;
  }
  if (options.counts)
    options.counts->assign(specs.size(), {});
  dead = false;
  return true;
}

} // namespace nnterp::gpu::emulator
