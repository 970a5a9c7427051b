// Hashes the key of a compiled program.
#include "runtime/exec/Key.h"
#include "runtime/abi/Frame.h"
#include "runtime/exec/Hash.h"

#include <algorithm>

namespace nnterp {

std::string_view toolVersion() { return NNTERP_VERSION; }

std::string ProgramKey::hex() const {
  std::vector<const TensorInfo *> sorted;
  for (const TensorInfo &tensor : inventory)
    sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const TensorInfo *a, const TensorInfo *b) { return a->name < b->name; });

  Hash hash;
  hash.add("nnterp program").add(std::to_string(abi::version)).add(toolVersion()).add(compiler);
  hash.add(target).add(tier).add(name(dtype)).add(config).add(structure);
  for (const TensorInfo *tensor : sorted)
    hash.add(tensor->name).add(toString(tensor->shape)).add(safetensorsName(tensor->dtype));
  return hash.hex();
}

} // namespace nnterp
