// Builds and asks JSON values; no parser is needed for that.
#include "runtime/abi/Json.h"

namespace nnterp {

const Json *Json::find(std::string_view key) const {
  for (const Member &member : object)
    if (member.key == key)
      return &member.value;
  return nullptr;
}

Json Json::of(bool v) {
  Json json;
  json.kind = Kind::boolean;
  json.boolean = v;
  return json;
}

Json Json::of(int64_t v) {
  Json json;
  json.kind = Kind::integer;
  json.integer = v;
  json.number = double(v);
  return json;
}

Json Json::of(double v) {
  Json json;
  json.kind = Kind::number;
  json.number = v;
  return json;
}

Json Json::of(std::string v) {
  Json json;
  json.kind = Kind::string;
  json.string = std::move(v);
  return json;
}

Json Json::list(std::vector<Json> v) {
  Json json;
  json.kind = Kind::array;
  json.array = std::move(v);
  return json;
}

Json Json::dict(std::vector<Member> v) {
  Json json;
  json.kind = Kind::object;
  json.object = std::move(v);
  return json;
}

Json &Json::set(std::string key, Json value) {
  for (Member &member : object)
    if (member.key == key) {
      member.value = std::move(value);
      return *this;
    }
  return add(std::move(key), std::move(value));
}

Json &Json::add(std::string key, Json value) {
  Member &member = object.emplace_back();
  member.key = std::move(key);
  member.value = std::move(value);
  return *this;
}

std::string_view kindName(Json::Kind kind) {
  switch (kind) {
  case Json::Kind::null:
    return "null";
  case Json::Kind::boolean:
    return "a boolean";
  case Json::Kind::integer:
    return "an integer";
  case Json::Kind::number:
    return "a number";
  case Json::Kind::string:
    return "a string";
  case Json::Kind::array:
    return "an array";
  default:
    return "an object";
  }
}

} // namespace nnterp
