// Malformed flags: what was expected, where, and what was found.
#include "ReaderHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using Errors = std::vector<std::string>;

static Errors wrong(const PlanFlags &flags, const std::string &plan = R"({"nnterp_plan":1})") {
  Diagnostics diags;
  CHECK_FALSE(expandFlags(parseJson(plan, "p", diags), flags, diags));
  Reading reading;
  reading.collect(diags);
  return reading.errors;
}

static Errors flagErrors(const std::string &place, const std::string &expected, const std::string &found,
                         const std::string &form) {
  return {place + ": error NNT0516: expected " + expected + ", found " + found + "\n  note: the form is " + form};
}

TEST_CASE("NNT0516: --tap") {
  auto check = [](const std::string &flag, int col, const std::string &expected, const std::string &found) {
    CAPTURE(flag);
    CHECK(wrong({{flag}, {}, {}}) == flagErrors("--tap:1:" + std::to_string(col), expected, found,
                                                "--tap [WORLD:]NAME[{AXIS=SEL,…}][@before][=ALIAS]"));
  };
  check("", 1, "a value's name", "nothing");
  check("w:", 3, "a value's name", "nothing");
  check("{seq=1}", 1, "a value's name", "\"{seq=1}\"");
  check("x{seq=1", 2, "a \"}\" that closes \"{\"", "\"{seq=1\"");
  check("x{}", 3, "AXIS=SEL", "nothing");
  check("x{seq}", 3, "AXIS=SEL", "\"seq\"");
  check("x{=1}", 3, "AXIS=SEL", "\"=1\"");
  check("x{seq=1,}", 9, "AXIS=SEL", "nothing");
  check("x{seq=}", 7, "an index, a:b, prompt[…], gen[…] or *", "nothing");
  check("x{seq=1||2}", 9, "an index, a:b, prompt[…], gen[…] or *", "nothing");
  check("x{seq=1,seq=2}", 9, "each axis once (its selections are joined by \"|\")", "\"seq\"");
  check("x@after", 2, "\"@before\"", "\"@after\"");
  check("x@before{seq=1}", 2, "\"@before\"", "\"@before{seq\"");
  check("x=", 3, "an alias (letters, digits, \"_\" and \"-\")", "nothing");
  check("x=a:b", 3, "an alias (letters, digits, \"_\" and \"-\")", "\"a:b\"");
  check("x=y@before", 3, "an alias (letters, digits, \"_\" and \"-\")", "\"y@before\"");
  check("x zero", 2, "\"{\", \"@before\", \"=\" or the end", "\" zero\"");
  check("x{seq=1}y", 9, "\"{\", \"@before\", \"=\" or the end", "\"y\"");
}

TEST_CASE("NNT0516: --edit") {
  auto check = [](const std::string &flag, int col, const std::string &expected, const std::string &found) {
    CAPTURE(flag);
    CHECK(wrong({{}, {flag}, {}}) == flagErrors("--edit:1:" + std::to_string(col), expected, found,
                                                "--edit [WORLD:]NAME[{AXIS=SEL,…}] OP [ARGS]"));
  };
  check("x", 2, "an operation", "nothing");
  check("x@before zero", 2, "a blank and an operation", "\"@before zero\"");
  check("x zero 1", 8, "no argument after \"zero\"", "\"1\"");
  check("x fill", 7, "a number after \"fill\"", "nothing");
  check("x fill v", 8, "a number", "\"v\"");
  check("x fill 1e999", 8, "a number", "\"1e999\"");
  check("x fill 0x10", 8, "a number", "\"0x10\"");
  check("x scale @", 9, "a number, a value's name or @WORLD", "\"@\"");
  check("x add v*", 9, "a number", "nothing");
  check("x add *2", 7, "a number, a value's name or @WORLD", "nothing");
  check("x add v * 4", 9, "only SRC[*C] after \"add\"", "\"*\"");
  check("x replace v*4", 11, "a number, a value's name or @WORLD", "\"v*4\"");
  check("x clamp 1", 10, "MIN MAX (- for an open end) after \"clamp\"", "nothing");
  check("x affine 1 v", 12, "a number", "\"v\"");
  check("x lerp v", 9, "a source and a number after \"lerp\"", "nothing");
  check("x drop 1,,2", 10, "a number", "nothing");
  check("x drop 1, 2", 11, "only experts between commas after \"drop\"", "\"2\"");
  check("x force 1 own", 11, "\"max\"", "\"own\"");
}

TEST_CASE("NNT0516: --value") {
  auto check = [](const std::string &flag, int col, const std::string &expected, const std::string &found) {
    CAPTURE(flag);
    CHECK(wrong({{}, {}, {flag}}) == flagErrors("--value:1:" + std::to_string(col), expected, found,
                                                "--value NAME=FILE#KEY or --value NAME=1,2.5,…"));
  };
  check("v", 1, "a value's name and \"=\"", "\"v\"");
  check("9=1", 1, "a value's name and \"=\"", "\"9=1\"");
  check("v=", 3, "a number", "nothing");
  check("v=1,x", 5, "a number", "\"x\"");
  check("v=f.safetensors", 3, "a number", "\"f.safetensors\"");
  check("v=#k", 3, "FILE#KEY", "\"#k\"");
  check("v=f#", 3, "FILE#KEY", "\"f#\"");
}

TEST_CASE("NNT0507: an unknown operation lists the nearest") {
  CHECK(
      wrong({{}, {"x zeor"}, {}}) ==
      Errors{"--edit:1:3: error NNT0507: unknown operation \"zeor\"; the nearest are \"zero\", \"lerp\" or \"drop\""});
}

TEST_CASE("NNT0517: a value defined twice") {
  CHECK(wrong({{}, {}, {"v=1"}}, "{\"nnterp_plan\":1,\"values\":{\"v\":{\"data\":[1]}}}") ==
        Errors{
            "--value:1:1: error NNT0517: the value \"v\" is defined twice\n  p:1:32: note: it was defined here first"});
  CHECK(wrong({{}, {}, {"v=1", "v=2"}}) == Errors{"--value:1:1: error NNT0517: the value \"v\" is defined twice\n  "
                                                  "--value:1:3: note: it was defined here first"});
}

TEST_CASE("all wrong flags are reported in one go") {
  CHECK(wrong({{"", "x"}, {"x", "x clamp a b"}, {"v"}}).size() == 5);
}
