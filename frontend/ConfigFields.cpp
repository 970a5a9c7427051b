// Typed access to the fields of a configuration object.
#include "frontend/ConfigFields.h"

#include <cmath>

namespace nnterp {

namespace {

std::string article(Json::Kind kind, const Json &value) {
  std::string text(kindName(kind));
  // Short scalars are shown, so that the user recognises the place.
  if (kind == Json::Kind::string || kind == Json::Kind::integer || kind == Json::Kind::number ||
      kind == Json::Kind::boolean) {
    std::string shown = value.dump();
    if (shown.size() <= 40)
      text += " (" + shown + ")";
  }
  return text;
}

} // namespace

ConfigFields::ConfigFields(const Json *object, std::string prefix, SourceLoc place, ModelConfig &config,
                           Diagnostics &diags)
    : object(object), prefix(std::move(prefix)), place(std::move(place)), config(config), diags(diags) {}

const Json *ConfigFields::find(const std::string &key) {
  known.insert(key);
  const Json *value = object ? object->find(key) : nullptr;
  return value && value->kind != Json::Kind::null ? value : nullptr;
}

const Json *ConfigFields::objectAt(const std::string &key) {
  const Json *value = find(key);
  if (value && !value->isObject()) {
    wrongType(key, *value, "an object");
    return nullptr;
  }
  return value;
}

bool ConfigFields::usable(std::initializer_list<const char *> keys) const {
  for (const char *key : keys)
    if (bad.count(key))
      return false;
  return true;
}

SourceLoc ConfigFields::where(std::initializer_list<const char *> keys) const {
  for (const char *key : keys)
    if (const Json *value = object ? object->find(key) : nullptr; value && value->kind != Json::Kind::null)
      return value->loc;
  return place;
}

void ConfigFields::record(const std::string &key, const Json &value, ConfigSource source) {
  config.values.push_back({path(key), value.dump(), source, source == ConfigSource::file ? value.loc : SourceLoc{}});
}

Diagnostic &ConfigFields::error(const char *code, const std::string &key, SourceLoc loc, std::string message) {
  bad.insert(key);
  return diags.error(code, std::move(loc), std::move(message));
}

void ConfigFields::wrongType(const std::string &key, const Json &value, std::string_view expected) {
  error("NNT0202", key, value.loc,
        "\"" + path(key) + "\": expected " + std::string(expected) + ", found " + article(value.kind, value));
}

int64_t ConfigFields::size(const std::string &key, int64_t fallback, int64_t most) {
  known.insert(key);
  const Json *value = object ? object->find(key) : nullptr; // null is no size
  if (!value) {
    record(key, Json::of(fallback), ConfigSource::fallback);
    return fallback;
  }
  if (value->kind != Json::Kind::integer) {
    wrongType(key, *value, "an integer");
    return fallback;
  }
  if (value->integer < 1 || value->integer > most) {
    error("NNT0203", key, value->loc,
          "\"" + path(key) + "\": expected an integer from 1 to " + std::to_string(most) + ", found " +
              std::to_string(value->integer));
    return fallback;
  }
  record(key, *value, ConfigSource::file);
  return value->integer;
}

double ConfigFields::number(const std::string &key, double fallback, double low, double high) {
  const Json *value = find(key);
  if (!value) {
    record(key, Json::of(fallback), ConfigSource::fallback);
    return fallback;
  }
  if (!value->isNumber()) {
    wrongType(key, *value, "a number");
    return fallback;
  }
  double x = value->kind == Json::Kind::integer ? double(value->integer) : value->number;
  if (!(x > low && x <= high)) { // also refuses what overflowed to infinity
    error("NNT0203", key, value->loc,
          "\"" + path(key) + "\": expected a number above " + Json::of(low).dump() + " and at most " +
              Json::of(high).dump() + ", found " + value->dump());
    return fallback;
  }
  record(key, *value, ConfigSource::file);
  return x;
}

bool ConfigFields::flag(const std::string &key, bool fallback) {
  const Json *value = find(key);
  if (!value) {
    record(key, Json::of(fallback), ConfigSource::fallback);
    return fallback;
  }
  if (value->kind != Json::Kind::boolean) {
    wrongType(key, *value, "true or false");
    return fallback;
  }
  record(key, *value, ConfigSource::file);
  return value->boolean;
}

std::string ConfigFields::text(const std::string &key, const std::string &fallback) {
  const Json *value = find(key);
  if (!value) {
    record(key, Json::of(fallback), ConfigSource::fallback);
    return fallback;
  }
  if (!value->isString()) {
    wrongType(key, *value, "a string");
    return fallback;
  }
  record(key, *value, ConfigSource::file);
  return value->string;
}

std::optional<int64_t> ConfigFields::tokenId(const std::string &key) {
  const Json *value = find(key);
  if (!value)
    return std::nullopt;
  if (value->kind != Json::Kind::integer) {
    wrongType(key, *value, "a token id or null");
    return std::nullopt;
  }
  if (value->integer < 0) {
    error("NNT0203", key, value->loc,
          "\"" + path(key) + "\": expected a token id of at least 0, found " + std::to_string(value->integer));
    return std::nullopt;
  }
  record(key, *value, ConfigSource::file);
  return value->integer;
}

int64_t ConfigFields::tokenId(const std::string &key, int64_t fallback) {
  if (has(key))
    return tokenId(key).value_or(fallback);
  record(key, Json::of(fallback), ConfigSource::fallback);
  return fallback;
}

std::vector<int64_t> ConfigFields::tokenIds(const std::string &key) {
  const Json *value = find(key);
  if (!value)
    return {};
  if (!value->isArray()) {
    auto one = tokenId(key);
    return one ? std::vector<int64_t>{*one} : std::vector<int64_t>{};
  }
  std::vector<int64_t> ids;
  for (const Json &item : value->array) {
    if (item.kind != Json::Kind::integer || item.integer < 0) {
      wrongType(key, item, "a token id in the list");
      return {};
    }
    ids.push_back(item.integer);
  }
  record(key, *value, ConfigSource::file);
  return ids;
}

std::vector<int64_t> ConfigFields::triple(const std::string &key, const std::vector<int64_t> &fallback) {
  const Json *value = find(key);
  if (!value) {
    std::vector<Json> items;
    for (int64_t x : fallback)
      items.push_back(Json::of(x));
    record(key, Json::list(std::move(items)), ConfigSource::fallback);
    return fallback;
  }
  std::vector<int64_t> result;
  if (value->isArray())
    for (const Json &item : value->array)
      if (item.kind == Json::Kind::integer && item.integer >= 0)
        result.push_back(item.integer);
  if (!value->isArray() || value->array.size() != 3 || result.size() != 3) {
    std::string found = value->dump();
    error("NNT0202", key, value->loc,
          "\"" + path(key) + "\": expected a list of three integers of at least 0, found " +
              (found.size() <= 40 ? found : std::string(kindName(value->kind))));
    return fallback;
  }
  record(key, *value, ConfigSource::file);
  return result;
}

void ConfigFields::keepUnknown() {
  if (!object)
    return;
  for (const Json::Member &member : object->object)
    if (!known.count(member.key))
      config.unused.push_back({path(member.key), member.value.dump(), ConfigSource::file, member.keyLoc});
}

} // namespace nnterp
