// The regular expression that cuts text into the pieces byte-level BPE works on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace nnterp {

/// What goes wrong with an expression or a text, for the caller to place and report.
struct SplitError {
  size_t at = 0; ///< byte of the expression, or of the text
  std::string message;
};

/// Rewrites an expression of the `tokenizers` library (Oniguruma) to PCRE2 syntax with the same meaning under UTF and
/// UCP. Only what both read alike, or what can be rewritten, is accepted; the rest is an error.
std::optional<std::string> toPcre2(std::string_view expression, SplitError &error);

/// A compiled expression; safe to use from several threads.
class SplitExpression {
public:
  static std::optional<SplitExpression> compile(std::string_view expression, SplitError &error);

  /// Calls `piece(begin, end)` for matches and for the text between them, in order, nothing empty. `text` is UTF-8.
  /// False when matching took too many steps.
  bool split(std::string_view text, const std::function<void(size_t, size_t)> &piece, SplitError &error) const;

private:
  std::shared_ptr<const void> code; ///< pcre2_code
};

} // namespace nnterp
