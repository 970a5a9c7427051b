// Compiles split expressions with PCRE2 and cuts texts with them.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "runtime/text/SplitExpression.h"
#include "runtime/text/Utf8.h"

#include <pcre2.h>

namespace nnterp {

/// Steps at one place of a text before matching is given up; the family's expression needs a few per character.
static constexpr uint32_t matchLimit = 10'000'000;

/// PCRE2's own description of an error number.
static std::string describe(int number) {
  PCRE2_UCHAR8 buffer[256];
  pcre2_get_error_message_8(number, buffer, sizeof buffer);
  return reinterpret_cast<const char *>(buffer);
}

std::optional<SplitExpression> SplitExpression::compile(std::string_view expression, SplitError &error) {
  if (std::optional<size_t> invalid = findInvalidUtf8(expression)) {
    error = {*invalid, "the expression is not UTF-8"};
    return std::nullopt;
  }
  std::optional<std::string> pattern = toPcre2(expression, error);
  if (!pattern)
    return std::nullopt;
  // Two optimizations of PCRE2 10.42 change what matches: \P{A}?? and \P{A}+ become possessive before \P{B}, and the
  // JIT code looks for beginnings past those that a lazy atomic group has.
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_AUTO_POSSESS | PCRE2_NO_START_OPTIMIZE;
  int number = 0;
  PCRE2_SIZE where = 0;
  pcre2_code_8 *code = pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern->data()), pattern->size(), options,
                                       &number, &where, nullptr);
  if (!code) {
    error = {0, describe(number)}; // `where` counts in the rewritten expression
    return std::nullopt;
  }
  pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE); // where it fails, matching goes on without it
  SplitExpression result;
  result.code = std::shared_ptr<const void>(
      code, [](const void *p) { pcre2_code_free_8(static_cast<pcre2_code_8 *>(const_cast<void *>(p))); });
  return result;
}

namespace {

/// What one call of split() needs besides the compiled expression.
struct MatchState {
  pcre2_match_data_8 *data;
  pcre2_match_context_8 *context = pcre2_match_context_create_8(nullptr);
  pcre2_jit_stack_8 *stack = pcre2_jit_stack_create_8(32 << 10, 8 << 20, nullptr);

  explicit MatchState(const pcre2_code_8 *code) : data(pcre2_match_data_create_from_pattern_8(code, nullptr)) {
    pcre2_set_match_limit_8(context, matchLimit);
    pcre2_jit_stack_assign_8(context, nullptr, stack);
  }
  MatchState(const MatchState &) = delete;
  ~MatchState() {
    pcre2_jit_stack_free_8(stack);
    pcre2_match_context_free_8(context);
    pcre2_match_data_free_8(data);
  }
};

} // namespace

bool SplitExpression::split(std::string_view text, const std::function<void(size_t, size_t)> &piece,
                            SplitError &error) const {
  const auto *compiled = static_cast<const pcre2_code_8 *>(code.get());
  MatchState state(compiled);
  std::optional<size_t> lastEnd;
  size_t done = 0;
  for (size_t from = 0; from <= text.size();) {
    // The text was checked once; checking it again for every match would take quadratic time.
    int count = pcre2_match_8(compiled, reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), from,
                              PCRE2_NO_UTF_CHECK, state.data, state.context);
    if (count == PCRE2_ERROR_NOMATCH)
      break;
    if (count < 0) {
      error = {from, describe(count)};
      return false;
    }
    const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer_8(state.data);
    const size_t begin = bounds[0], end = bounds[1];
    if (begin == end && lastEnd == end) { // nothing, right after a match: go on one character later
      if (end == text.size())
        break;
      from = end + readUtf8(text, end).length;
      lastEnd.reset();
      continue;
    }
    if (done < begin)
      piece(done, begin);
    if (begin < end)
      piece(begin, end);
    done = from = end;
    lastEnd = end;
  }
  if (done < text.size())
    piece(done, text.size());
  return true;
}

} // namespace nnterp
