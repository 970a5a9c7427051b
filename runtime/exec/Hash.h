// Hashes of what a program depends on.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace nnterp {

/// A 128-bit hash over a sequence of fields. Each field's length goes in before it, so that no two sequences of fields
/// make the same bytes.
class Hash {
public:
  Hash();
  ~Hash();
  Hash &add(std::string_view field);
  /// 32 hexadecimal digits.
  std::string hex() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The hash of one text.
std::string hashOf(std::string_view text);

} // namespace nnterp
