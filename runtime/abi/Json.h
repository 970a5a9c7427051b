// JSON with the place of every value, so that errors can point into the user's file. Reading is nnterp's own tree over
// nlohmann's parser: the only file that may throw or catch is Json.cpp.
#pragma once

#include "runtime/abi/Diagnostic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnterp {

/// A JSON value and where it begins. Objects keep the order of the file; a key that occurs twice is an error on
/// reading.
class Json {
public:
  enum class Kind { null, boolean, integer, number, string, array, object };
  struct Member;

  Kind kind = Kind::null;
  bool boolean = false;
  int64_t integer = 0; ///< valid when kind is integer
  double number = 0;   ///< valid when kind is integer or number
  std::string string;
  std::vector<Json> array;
  std::vector<Member> object;
  SourceLoc loc;

  bool isNumber() const { return kind == Kind::integer || kind == Kind::number; }
  bool isString() const { return kind == Kind::string; }
  bool isObject() const { return kind == Kind::object; }
  bool isArray() const { return kind == Kind::array; }
  /// The member called `key`, or null when this is no object or has no such member.
  const Json *find(std::string_view key) const;
  /// Compact JSON text; numbers in the shortest form that reads back to the same value.
  std::string dump(int indent = -1) const;

  // Builders for values that did not come from a file (flags, --json output).
  static Json of(bool v);
  static Json of(int64_t v);
  static Json of(double v);
  static Json of(std::string v);
  static Json of(const char *v) { return of(std::string(v)); }
  static Json list(std::vector<Json> v = {});
  static Json dict(std::vector<Member> v = {});
  Json &set(std::string key, Json value); ///< adds or replaces a member; returns this
  Json &add(std::string key, Json value); ///< adds a member that is known to be new; returns this
};

struct Json::Member {
  std::string key;
  SourceLoc keyLoc;
  Json value;
};

/// "an object", "a string", "an integer", …: for messages.
std::string_view kindName(Json::Kind kind);

/// Parses text; `file` is the name used in locations. Errors: NNT0103 (with line and column), also for a repeated key.
std::optional<Json> parseJson(std::string_view text, const std::string &file, Diagnostics &diags);

/// Reads and parses a file. Errors: NNT0101, NNT0103.
std::optional<Json> readJsonFile(const std::string &path, Diagnostics &diags);

} // namespace nnterp
