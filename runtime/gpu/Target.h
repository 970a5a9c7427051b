// What a run can be aimed at.
#pragma once

#include <optional>
#include <string_view>

namespace nnterp {

/// `cuda` and `emulator` run the same program, one compiled for a GPU.
enum class Target { cpu, cuda, emulator };

/// "cpu", "cuda", "emulator".
std::string_view name(Target target);
std::optional<Target> targetByName(std::string_view name);
/// What a program for it is compiled for: "cpu" or "gpu" (Manifest::target).
std::string_view programTarget(Target target);

} // namespace nnterp
