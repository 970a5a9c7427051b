// Takes the modifiers of an opcode apart.
#include "runtime/gpu/emulator/decode/Decoder.h"

#include <algorithm>

namespace nnterp::gpu::emulator {

Modifiers::Modifiers(std::string_view opcode) {
  stem = opcode.substr(0, opcode.find('.'));
  for (size_t at = stem.size(); at < opcode.size();) {
    const size_t stop = std::min(opcode.find('.', at + 1), opcode.size());
    parts.push_back(opcode.substr(at + 1, stop - at - 1));
    at = stop;
  }
}

bool Modifiers::take(std::string_view modifier) {
  const auto found = std::find(parts.begin(), parts.end(), modifier);
  if (found == parts.end())
    return false;
  parts.erase(found);
  return true;
}

std::string_view Modifiers::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  for (std::string_view part : parts)
    if (std::find(modifiers.begin(), modifiers.end(), part) != modifiers.end()) {
      take(part);
      return part;
    }
  return {};
}

void Modifiers::ignore(std::initializer_list<std::string_view> modifiers) {
  while (!takeOneOf(modifiers).empty())
    ;
}

bool Modifiers::takeType(Type &type) {
  for (size_t k = 0; k < parts.size(); ++k)
    if (parseType(parts[k], type)) {
      parts.erase(parts.begin() + long(k));
      return true;
    }
  return false;
}

std::string_view Modifiers::rest() const { return parts.empty() ? std::string_view() : parts.front(); }

} // namespace nnterp::gpu::emulator
