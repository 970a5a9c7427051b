// Types by name, lines by number.
#include "runtime/gpu/emulator/ptx/Module.h"

namespace nnterp::gpu::emulator {

bool parseType(std::string_view text, Type &type) {
  static const std::map<std::string_view, Type> types = {
      {"pred", {Kind::pred, 0}},       {"b8", {Kind::bits, 1}},         {"b16", {Kind::bits, 2}},
      {"b32", {Kind::bits, 4}},        {"b64", {Kind::bits, 8}},        {"u8", {Kind::unsignedInt, 1}},
      {"u16", {Kind::unsignedInt, 2}}, {"u32", {Kind::unsignedInt, 4}}, {"u64", {Kind::unsignedInt, 8}},
      {"s8", {Kind::signedInt, 1}},    {"s16", {Kind::signedInt, 2}},   {"s32", {Kind::signedInt, 4}},
      {"s64", {Kind::signedInt, 8}},   {"f16", {Kind::half, 2}},        {"f32", {Kind::real, 4}},
      {"f64", {Kind::real, 8}},        {"f16x2", {Kind::half2, 4}},     {"bf16", {Kind::brain, 2}},
      {"bf16x2", {Kind::brain2, 4}},
  };
  const auto found = types.find(text);
  if (found != types.end())
    type = found->second;
  return found != types.end();
}

std::string name(Type type) {
  switch (type.kind) {
  case Kind::pred:
    return "pred";
  case Kind::half:
    return "f16";
  case Kind::half2:
    return "f16x2";
  case Kind::brain:
    return "bf16";
  case Kind::brain2:
    return "bf16x2";
  default:
    return std::string(1, "?busf"[int(type.kind)]) + std::to_string(8 * type.bytes);
  }
}

std::string_view Module::line(int number) const {
  if (number < 1 || size_t(number) > lines.size())
    return {};
  std::string_view found = lines[number - 1];
  const size_t first = found.find_first_not_of(" \t\r"), last = found.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : found.substr(first, last - first + 1);
}

SourceLoc place(int line) { return {"device code", line, 0}; }

} // namespace nnterp::gpu::emulator
