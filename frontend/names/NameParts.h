// The parts of a name as a plan writes it: whose value it is, the index form, and the rest with word aliases replaced.
#pragma once

#include <string>
#include <string_view>

namespace nnterp {

/// `layers[0:8].mlp.gate.output` = scope block, prefix `layers[0:8].`, index `0:8`, rest `mlp.gate.output`,
/// key `layers[].mlp.router.output`.
struct NameParts {
  enum class Scope { model, block, tower } scope = Scope::model;
  bool malformed = false; ///< `layers` or `vision.layers` without a well-formed pair of brackets and a name behind it
  std::string prefix;     ///< `layers[0:8].`, the encoder's always as `vision.layers[…].`; empty for the model
  std::string index;      ///< between the brackets
  std::string rest;       ///< behind the prefix, as written
  std::string segment;    ///< digits behind `#` (one image's attention), as written
  std::string key;        ///< what spellings are looked up by
};

NameParts splitName(std::string_view pattern);

} // namespace nnterp
