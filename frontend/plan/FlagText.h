// A flag's text on its way to JSON (spec/plan.md 9): pieces with their columns, places, numbers.
#pragma once

#include "frontend/plan/Plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace nnterp {

/// A piece of a flag's text and where it begins in it.
struct Piece {
  std::string_view text;
  size_t begin = 0;

  bool empty() const { return text.empty(); }
  char front() const { return text.empty() ? '\0' : text[0]; }
  Piece part(size_t from, size_t to = std::string_view::npos) const;
  Piece trimmed() const;
};

/// The first of `stops` in a text outside `[…]`, or the end.
size_t findOutside(std::string_view text, std::string_view stops);

/// One flag. Whatever returns nothing, or false, has reported why. What JSON can say wrong too (a malformed selection,
/// an unknown value) is left to the plan's reader, which finds its place within the flag in the JSON made here.
class FlagText {
public:
  static constexpr std::string_view blanks = " \t\n\r";

  /// `flag` names the flag in places, `form` is how it is written.
  FlagText(const char *flag, const char *form, const std::string &text, Diagnostics &diags)
      : diags(diags), flag(flag), form(form), text(text) {}

  Piece all() const { return Piece{text, 0}.trimmed(); }
  SourceLoc loc(size_t offset) const;
  std::nullopt_t fail(const Piece &where, std::string expected);

  /// JSON with a place in the flag.
  Json at(const Piece &piece, Json json) const;
  Json string(const Piece &piece) const { return at(piece, Json::of(std::string(piece.text))); }
  /// Adds a member; false, and nothing added, when there is no value.
  bool put(Json &object, std::string key, const Piece &where, std::optional<Json> value) const;

  /// `[WORLD:]NAME[{AXIS=SEL,…}]` from the start of `rest` becomes members of `entry`; `rest` keeps what follows.
  bool place(Piece &rest, Json &entry);
  /// A number, an integer when it is written as one; or a sweep variable, as text.
  std::optional<Json> number(const Piece &piece);
  std::optional<Json> numberOrNone(const Piece &piece) const;
  /// Numbers between commas.
  std::optional<Json> numbers(Piece piece);

  Diagnostics &diags;

private:
  std::optional<Json> select(Piece inside);
  std::optional<Json> selection(Piece piece);

  const char *flag, *form;
  const std::string &text;
};

/// `--edit`'s text as an edit of the plan (FlagEdit.cpp).
std::optional<Json> editOfFlag(const std::string &text, Diagnostics &diags);

} // namespace nnterp
