// Reads one JSON object of a configuration field by field: types and ranges are checked, and every value in force is
// recorded with its source.
#pragma once

#include "frontend/Config.h"

#include <initializer_list>
#include <set>

namespace nnterp {

/// One object of the configuration. An absent object (`object` null) has every default. After a diagnosed error a
/// getter returns the default and `usable` is false for that key, so that no second error follows from the first.
class ConfigFields {
public:
  /// `prefix` is the object's path in the file with its dot: "" or "text_config.".
  ConfigFields(const Json *object, std::string prefix, SourceLoc place, ModelConfig &config, Diagnostics &diags);

  /// A count or an extent: an integer in [1, most].
  int64_t size(const std::string &key, int64_t fallback, int64_t most);
  /// A number with low < x <= high.
  double number(const std::string &key, double fallback, double low, double high);
  bool flag(const std::string &key, bool fallback);
  std::string text(const std::string &key, const std::string &fallback);
  /// A token id, or none when absent or null.
  std::optional<int64_t> tokenId(const std::string &key);
  int64_t tokenId(const std::string &key, int64_t fallback);
  /// Several token ids: one integer, a list of integers, or none.
  std::vector<int64_t> tokenIds(const std::string &key);
  /// A list of exactly three non-negative integers.
  std::vector<int64_t> triple(const std::string &key, const std::vector<int64_t> &fallback);

  /// The member called `key` when it is there and not null; marks the key as known.
  const Json *find(const std::string &key);
  /// The member when it is an object; null when absent or null; an error for anything else.
  const Json *objectAt(const std::string &key);
  bool has(const std::string &key) { return find(key) != nullptr; }
  /// None of these keys had an error.
  bool usable(std::initializer_list<const char *> keys) const;
  /// Place of the first of these keys that the file holds, else of the object itself.
  SourceLoc where(std::initializer_list<const char *> keys) const;
  /// The key as the user sees it: with its path.
  std::string path(const std::string &key) const { return prefix + key; }

  void record(const std::string &key, const Json &value, ConfigSource source);
  void wrongType(const std::string &key, const Json &value, std::string_view expected);
  Diagnostic &error(const char *code, const std::string &key, SourceLoc loc, std::string message);
  /// Members that nothing asked for: kept in `ModelConfig::unused`.
  void keepUnknown();

private:
  const Json *object;
  std::string prefix;
  SourceLoc place;
  ModelConfig &config;
  Diagnostics &diags;
  std::set<std::string> known, bad;
};

} // namespace nnterp
