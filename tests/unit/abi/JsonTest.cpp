// Tests of reading and writing JSON: values, and the place of each.
#include "runtime/abi/Json.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace nnterp;

static Json parsed(std::string_view text) {
  Diagnostics diags;
  std::optional<Json> json = parseJson(text, "f", diags);
  for (const Diagnostic &d : diags.all())
    UNSCOPED_INFO(format(d));
  REQUIRE(json);
  return *json;
}

/// "line:col" of a place in file "f".
static std::string place(const SourceLoc &loc) {
  CHECK(loc.file == "f");
  return std::to_string(loc.line) + ":" + std::to_string(loc.col);
}

TEST_CASE("every kind of value is read", "[json]") {
  Json json =
      parsed(R"({"n": null, "t": true, "f": false, "i": -7, "x": 2.5e-1, "s": "a\u00e9\n", "a": [1, []], "o": {}})");
  REQUIRE(json.isObject());
  REQUIRE(json.object.size() == 8);
  CHECK(json.find("n")->kind == Json::Kind::null);
  CHECK(json.find("t")->boolean);
  CHECK(json.find("f")->kind == Json::Kind::boolean);
  CHECK_FALSE(json.find("f")->boolean);
  CHECK(json.find("i")->kind == Json::Kind::integer);
  CHECK(json.find("i")->integer == -7);
  CHECK(json.find("i")->number == -7);
  CHECK(json.find("x")->kind == Json::Kind::number);
  CHECK(json.find("x")->number == 0.25);
  CHECK(json.find("s")->string == "a\xC3\xA9\n");
  REQUIRE(json.find("a")->array.size() == 2);
  CHECK(json.find("a")->array[0].integer == 1);
  CHECK(json.find("a")->array[1].isArray());
  CHECK(json.find("o")->object.empty());
  CHECK(json.find("absent") == nullptr);
  CHECK(parsed("3").find("n") == nullptr);
}

TEST_CASE("objects keep the order of the file", "[json]") {
  Json json = parsed(R"({"z": 1, "a": 2, "m": 3})");
  CHECK(json.object[0].key == "z");
  CHECK(json.object[1].key == "a");
  CHECK(json.object[2].key == "m");
}

TEST_CASE("integers beyond int64 become numbers", "[json]") {
  Json json = parsed("[9223372036854775807, -9223372036854775808, 9223372036854775808, 18446744073709551615, "
                     "123456789012345678901234567890, -9223372036854775809]");
  CHECK(json.array[0].integer == std::numeric_limits<int64_t>::max());
  CHECK(json.array[1].integer == std::numeric_limits<int64_t>::min());
  CHECK(json.array[1].kind == Json::Kind::integer);
  for (size_t i = 2; i < 6; ++i)
    CHECK(json.array[i].kind == Json::Kind::number);
  CHECK(json.array[2].number == 0x1p63);
  CHECK(json.array[3].number == 0x1p64);
  CHECK(json.array[4].number == 123456789012345678901234567890.0);
  CHECK(json.array[5].number == -0x1p63);
}

TEST_CASE("every value knows its place", "[json]") {
  Json json = parsed(
      "{\"a\" : [1, -2.5e3,true ,null],\n \"b\": \"x\",\t\"b2\":{\"c\":12345,\n\n  \"d\":[],\"e\":{} , \"f\":false}}");
  CHECK(place(json.loc) == "1:1");
  CHECK(place(json.object[0].keyLoc) == "1:2");
  const Json &a = *json.find("a");
  CHECK(place(a.loc) == "1:8");
  CHECK(place(a.array[0].loc) == "1:9");
  CHECK(place(a.array[1].loc) == "1:12");
  CHECK(place(a.array[2].loc) == "1:19");
  CHECK(place(a.array[3].loc) == "1:25");
  CHECK(place(json.object[1].keyLoc) == "2:2");
  CHECK(place(json.object[1].value.loc) == "2:7");
  const Json &b2 = *json.find("b2");
  CHECK(place(json.object[2].keyLoc) == "2:12");
  CHECK(place(b2.loc) == "2:17");
  CHECK(place(b2.object[0].keyLoc) == "2:18");
  CHECK(place(b2.object[0].value.loc) == "2:22");
  CHECK(place(b2.object[1].keyLoc) == "4:3");
  CHECK(place(b2.object[1].value.loc) == "4:7");
  CHECK(place(b2.object[2].keyLoc) == "4:10");
  CHECK(place(b2.object[2].value.loc) == "4:14");
  CHECK(place(b2.object[3].keyLoc) == "4:19");
  CHECK(place(b2.object[3].value.loc) == "4:23");
}

TEST_CASE("columns count characters, and punctuation inside strings misleads nobody", "[json]") {
  Json json = parsed("[\"h\xC3\xA9, \\\"[{:\", 1,\"\xE6\xBC\xA2\",2]");
  CHECK(json.array[0].string == "h\xC3\xA9, \"[{:");
  CHECK(place(json.array[1].loc) == "1:15");
  CHECK(place(json.array[2].loc) == "1:17");
  CHECK(place(json.array[3].loc) == "1:21");
}

TEST_CASE("scalars alone, blanks around, and a byte order mark", "[json]") {
  CHECK(place(parsed("12").loc) == "1:1");
  CHECK(place(parsed("\n  \"x\"  \n").loc) == "2:3");
  Json marked = parsed("\xEF\xBB\xBF[1]");
  CHECK(marked.array[0].integer == 1);
  CHECK(marked.array[0].loc.line == 1);
}

TEST_CASE("JSON is written compactly or indented", "[json]") {
  Json json = parsed(R"({"b": [1, 2.5, "q\"\\\n", null, true], "a": {}, "e": []})");
  CHECK(json.dump() == R"({"b":[1,2.5,"q\"\\\n",null,true],"a":{},"e":[]})");
  CHECK(json.dump(2) ==
        "{\n  \"b\": [\n    1,\n    2.5,\n    \"q\\\"\\\\\\n\",\n    null,\n    true\n  ],\n  \"a\": {},\n"
        "  \"e\": []\n}");
}

TEST_CASE("numbers are written in the shortest form that reads back", "[json]") {
  for (double v : {0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 1e21, 123456789.0, 0x1p63, std::nextafter(1.0, 2.0)}) {
    Json again = parsed(Json::of(v).dump());
    INFO(Json::of(v).dump());
    CHECK(again.number == v);
    CHECK(again.kind == Json::Kind::number);
    CHECK(std::signbit(again.number) == std::signbit(v));
  }
  CHECK(Json::of(0.1).dump() == "0.1");
  CHECK(Json::of(3.0).dump() == "3.0");
  CHECK(Json::of(int64_t(3)).dump() == "3");
  CHECK(Json::of(std::numeric_limits<double>::quiet_NaN()).dump() == "null");
  CHECK(Json::of(std::numeric_limits<double>::infinity()).dump() == "null");
}

TEST_CASE("text that is no UTF-8 is written as replacement characters", "[json]") {
  CHECK(Json::of("a\xFF").dump() == "\"a\xEF\xBF\xBD\"");
}

TEST_CASE("values are built by hand", "[json]") {
  Json json = Json::dict();
  json.set("a", Json::of(int64_t(1))).set("b", Json::of(true)).set("a", Json::of("x")).add("c", Json::list({Json()}));
  CHECK(json.dump() == R"({"a":"x","b":true,"c":[null]})");
}

TEST_CASE("kinds have names for messages", "[json]") {
  CHECK(kindName(parsed("null").kind) == "null");
  CHECK(kindName(parsed("true").kind) == "a boolean");
  CHECK(kindName(parsed("1").kind) == "an integer");
  CHECK(kindName(parsed("1.0").kind) == "a number");
  CHECK(kindName(parsed("\"\"").kind) == "a string");
  CHECK(kindName(parsed("[]").kind) == "an array");
  CHECK(kindName(parsed("{}").kind) == "an object");
}
