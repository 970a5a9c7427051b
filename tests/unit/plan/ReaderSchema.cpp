// The schema that ships says what the reader accepts: the same keys and the same operations.
#include "ReaderHelp.h"
#include "frontend/plan/PlanChecks.h"

#include <catch2/catch.hpp>
#include <set>

using namespace nnterp;
using Names = std::set<std::string>;

static Json schema() {
  Diagnostics diags;
  std::optional<Json> json = readJsonFile(NNTERP_PLAN_SCHEMA, diags);
  REQUIRE(json);
  return std::move(*json);
}

static const Json &in(const Json &json, std::initializer_list<const char *> path) {
  const Json *at = &json;
  for (const char *key : path) {
    CAPTURE(key);
    at = at->find(key);
    REQUIRE(at);
  }
  return *at;
}

static Names keys(const Json &object) {
  Names names;
  for (const Json::Member &member : object.object)
    names.insert(member.key);
  return names;
}

TEST_CASE("the schema has the reader's keys") {
  Json json = schema();
  CHECK(keys(in(json, {"properties"})) == Names{"nnterp_plan", "worlds", "inputs", "values", "edits", "taps", "sweep"});
  CHECK(keys(in(json, {"$defs", "edit", "properties"})) == Names{"id", "world", "at", "select", "do"});
  CHECK(keys(in(json, {"$defs", "edge", "properties"})) == Names{"id", "world", "from", "to", "select", "do"});
  CHECK(keys(in(json, {"$defs", "tap", "properties"})) == Names{"at", "select", "world", "when", "as"});
}

TEST_CASE("the schema has every operation") {
  Json json = schema();
  Names found;
  for (const Json &one : in(json, {"$defs", "do", "oneOf"}).array)
    found.insert(in(one, {"required"}).array.at(0).string);
  const std::vector<std::string> &known = operationNames();
  CHECK(found.erase("call") == 1);
  CHECK(found == Names(known.begin(), known.end()));
}

TEST_CASE("the schema tells the axes that count tokens, and those that take indices per row") {
  Json json = schema();
  CHECK(keys(in(json, {"$defs", "select", "patternProperties"})) ==
        Names{"^(seq|query|key)$", "^image$", "^(heads|experts|slots|vocab)$"});
}

TEST_CASE("in a plan with worlds every edit names its own") {
  Json json = schema();
  CHECK(in(json, {"if", "required"}).dump() == R"(["worlds"])");
  CHECK(in(json, {"then", "properties", "edits", "items", "required"}).dump() == R"(["world"])");
}

/// Every object with properties refuses others and everything of a name is described.
static void checkClosed(const Json &json) {
  if (const Json *properties = json.find("properties"); properties && json.find("type")) {
    CAPTURE(json.loc.line);
    REQUIRE(json.find("additionalProperties"));
    CHECK(in(json, {"additionalProperties"}).dump() == "false");
    for (const Json::Member &member : properties->object) {
      CAPTURE(member.key);
      CHECK((member.value.find("description") || member.value.find("$ref")));
    }
  }
  for (const Json::Member &member : json.object)
    checkClosed(member.value);
  for (const Json &entry : json.array)
    checkClosed(entry);
}

TEST_CASE("the schema is closed and described") { checkClosed(schema()); }
