// One test per error code of plan syntax, with the exact message. Selections and values have files of their own.
#include "ReaderHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using Errors = std::vector<std::string>;

static void expect(const Reading &reading, const Errors &errors) {
  CHECK_FALSE(reading.plan);
  CHECK(reading.errors == errors);
}

TEST_CASE("NNT0104: wrong types") {
  expect(readText("[1]"), {"p:1:1: error NNT0104: a plan must be an object, found an array"});
  expect(readMembers("\"edits\":{}"), {"p:1:26: error NNT0104: \"edits\" must be an array, found an object"});
  expect(readMembers("\"edits\":[7]"), {"p:1:27: error NNT0104: an edit must be an object, found 7"});
  expect(readMembers("\"taps\":[null]"), {"p:1:26: error NNT0104: a tap must be a string or an object, found null"});
  expect(readMembers("\"taps\":[{\"at\":1.5}]"), {"p:1:32: error NNT0104: \"at\" must be a string, found 1.5"});
  expect(readMembers("\"inputs\":{\"a\":{\"prompt\":\"x\"}}"),
         {"p:1:42: error NNT0104: \"prompt\" must be an array, found \"x\""});
  expect(readMembers("\"inputs\":{\"a\":{\"ids\":[[1.5]]}}"),
         {"p:1:41: error NNT0104: a token id must be an integer, found 1.5"});
  expect(readDo("{\"fill\":true}"), {"p:3:9: error NNT0104: \"fill\" must be a number, found true"});
  expect(readDo("{\"zero\":0}"), {"p:3:9: error NNT0104: the argument of \"zero\" must be an object, found 0"});
  expect(readDo("{\"add\":[1]}"), {"p:3:8: error NNT0104: a source must be a number or an object, found an array"});
  expect(readDo("{\"drop\":{\"experts\":3}}"), {"p:3:20: error NNT0104: \"experts\" must be an array, found 3"});
  expect(readDo("7"), {"p:3:1: error NNT0104: \"do\" must be an object, found 7"});
}

TEST_CASE("NNT0501: unknown keys, wherever they stand") {
  expect(readMembers("\"edit\":[],\"tabs\":[]"),
         {"p:1:18: error NNT0501: unknown key \"edit\" in a plan; the nearest are \"edits\", \"taps\" or \"inputs\"",
          "p:1:28: error NNT0501: unknown key \"tabs\" in a plan; the nearest are \"taps\", \"values\" or \"edits\""});
  expect(readMembers("\"edits\":[{\"at\":\"x\",\"dos\":1,\"do\":{\"zero\":{}}}]"),
         {"p:1:37: error NNT0501: unknown key \"dos\" in an edit; the nearest are \"do\", \"id\" or \"at\""});
  expect(readMembers("\"taps\":[{\"at\":\"x\",\"name\":\"y\"}]"),
         {"p:1:36: error NNT0501: unknown key \"name\" in a tap; the nearest are \"at\", \"as\" or \"when\""});
  expect(readMembers("\"inputs\":{\"a\":{\"file\":\"f\",\"key\":\"k\"}}"),
         {"p:1:44: error NNT0501: unknown key \"key\" in an input; the nearest are \"ids\", \"chat\" or \"file\""});
  expect(readDo("{\"add\":{\"value\":\"vector\",\"factor\":2}}"),
         {"p:3:26: error NNT0501: unknown key \"factor\" in a source; the nearest are \"at\", \"value\" or \"scale\""});
  expect(readDo("{\"clamp\":{\"min\":1,\"maximum\":2}}"),
         {"p:3:19: error NNT0501: unknown key \"maximum\" in \"clamp\"; the nearest are \"max\" or \"min\""});
  expect(readDo("{\"drop\":{\"experts\":[1],\"logit\":\"max\"}}"),
         {"p:3:24: error NNT0501: unknown key \"logit\" in \"drop\"; the nearest is \"experts\""});
}

TEST_CASE("NNT0502: missing keys") {
  expect(readText("{}"), {"p:1:1: error NNT0502: a plan needs the key \"nnterp_plan\", which is missing"});
  expect(readMembers("\"edits\":[{}]"), {"p:1:27: error NNT0502: an edit needs the key \"at\", which is missing",
                                         "p:1:27: error NNT0502: an edit needs the key \"do\", which is missing"});
  expect(readMembers("\"taps\":[{\"as\":\"x\"}]"),
         {"p:1:26: error NNT0502: a tap needs the key \"at\", which is missing"});
  expect(readDo("{\"affine\":{\"scale\":1}}"),
         {"p:3:11: error NNT0502: \"affine\" needs the key \"shift\", which is missing"});
  expect(readDo("{\"lerp\":{}}"), {"p:3:9: error NNT0502: \"lerp\" needs the key \"to\", which is missing",
                                   "p:3:9: error NNT0502: \"lerp\" needs the key \"t\", which is missing"});
  expect(readDo("{\"force\":{}}"), {"p:3:10: error NNT0502: \"force\" needs the key \"experts\", which is missing"});
}

TEST_CASE("NNT0503: another version of the format") {
  expect(readText("{\"nnterp_plan\":2}"),
         {"p:1:16: error NNT0503: \"nnterp_plan\" must be 1, the version of the format, found 2"});
  expect(readText("{\"nnterp_plan\":\"1\"}"),
         {"p:1:16: error NNT0503: \"nnterp_plan\" must be 1, the version of the format, found \"1\""});
  expect(readText("{\"nnterp_plan\":1.0}"),
         {"p:1:16: error NNT0503: \"nnterp_plan\" must be 1, the version of the format, found 1.0"});
}

TEST_CASE("NNT0504: malformed names") {
  const std::string rule =
      " is no name: expected letters, digits, \"_\" and \"-\", not beginning with a digit or \"-\"";
  expect(readMembers("\"values\":{\"9v\":{\"data\":[1]}}"), {"p:1:28: error NNT0504: the value \"9v\"" + rule});
  expect(readMembers("\"inputs\":{\"a b\":{\"prompt\":[\"x\"]}}"), {"p:1:28: error NNT0504: the input \"a b\"" + rule});
  expect(readMembers("\"edits\":[{\"id\":\"-x\",\"at\":\"x\",\"do\":{\"zero\":{}}}]"),
         {"p:1:33: error NNT0504: \"id\" \"-x\"" + rule});
  expect(readMembers("\"taps\":[{\"at\":\"x\",\"as\":\"a/b\"}]"), {"p:1:41: error NNT0504: \"as\" \"a/b\"" + rule});
  expect(readMembers("\"taps\":[\"\"]"), {"p:1:26: error NNT0504: a tap is empty"});
}

TEST_CASE("NNT0505: an id used twice") {
  expect(readMembers("\"edits\":[{\"id\":\"a\",\"at\":\"x\",\"do\":{\"zero\":{}}},\n{\"id\":\"a\",\"at\":\"x\",\"do\":{"
                     "\"zero\":{}}}]"),
         {"p:2:7: error NNT0505: the id \"a\" is used twice; ids are unique\n  p:1:33: note: it was used here first"});
}

TEST_CASE("NNT0506: not exactly one operation") {
  const std::string rule = "\"do\" must have exactly one operation (\"add\" may have \"scale\" beside it), found ";
  expect(readDo("{}"), {"p:3:1: error NNT0506: " + rule + "none"});
  expect(readDo("{\"zero\":{},\"fill\":1}"), {"p:3:1: error NNT0506: " + rule + "\"zero\" and \"fill\""});
  expect(readDo("{\"scale\":1,\"fill\":1,\"mask\":{}}"),
         {"p:3:1: error NNT0506: " + rule + "\"scale\", \"fill\" and \"mask\""});
  expect(readDo("{\"add\":1,\"scale\":1,\"mask\":{}}"), {"p:3:1: error NNT0506: " + rule + "\"add\" and \"mask\""});
}

TEST_CASE("NNT0507: an unknown operation") {
  expect(readDo("{\"ad\":1}"),
         {"p:3:2: error NNT0507: unknown operation \"ad\"; the nearest are \"add\", \"mask\" or \"fill\""});
  expect(readDo("{\"zero\":{},\"with\":[]}"),
         {"p:3:12: error NNT0507: unknown operation \"with\"; the nearest are \"fill\", \"zero\" or \"lerp\""});
}

TEST_CASE("NNT0508: arguments") {
  expect(readDo("{\"zero\":{\"x\":1}}"), {"p:3:9: error NNT0508: \"zero\" takes no argument; write {\"zero\": {}}"});
  expect(readDo("{\"clamp\":{}}"), {"p:3:10: error NNT0508: \"clamp\" needs \"min\", \"max\" or both, found neither"});
  expect(readDo("{\"clamp\":{\"min\":2,\"max\":1.5}}"),
         {"p:3:10: error NNT0508: \"clamp\": \"min\" 2 is larger than \"max\" 1.5"});
  expect(readDo("{\"drop\":{\"experts\":[3,1,3]}}"),
         {"p:3:25: error NNT0508: \"drop\": expert 3 is listed twice; experts are distinct"});
  expect(readDo("{\"reroute\":{\"experts\":[-1]}}"), {"p:3:24: error NNT0508: an expert must be at least 0, found -1"});
  expect(readDo("{\"force\":{\"experts\":[1],\"logit\":\"min\"}}"),
         {"p:3:33: error NNT0508: \"logit\" must be \"own\" or \"max\", found \"min\""});
  expect(readMembers("\"taps\":[{\"at\":\"x\",\"when\":\"now\"}]"),
         {"p:1:43: error NNT0508: \"when\" must be \"before\" or \"after\", found \"now\""});
  expect(readMembers("\"inputs\":{\"a\":{\"ids\":[[1,-2]]}}"),
         {"p:1:43: error NNT0508: a token id must be at least 0, found -2"});
}

TEST_CASE("NNT0509: numbers beyond float32") {
  expect(readDo("{\"fill\":1e39}"),
         {"p:3:9: error NNT0509: \"fill\" 1e+39 does not fit float32 (at most 3.4028235e+38)"});
  expect(readDo("{\"affine\":{\"scale\":-1e39,\"shift\":3.4028236e38}}"),
         {"p:3:20: error NNT0509: \"scale\" -1e+39 does not fit float32 (at most 3.4028235e+38)",
          "p:3:34: error NNT0509: \"shift\" 3.4028236e+38 does not fit float32 (at most 3.4028235e+38)"});
  expect(readDo("{\"add\":{\"value\":\"vector\",\"scale\":1e99}}"),
         {"p:3:34: error NNT0509: \"scale\" 1e+99 does not fit float32 (at most 3.4028235e+38)"});
}

TEST_CASE("NNT0511: malformed sources") {
  expect(readDo("{\"add\":\"vector\"}"), {"p:3:8: error NNT0511: a source is a number or an object, found \"vector\"; "
                                          "a value's name is written {\"value\": "
                                          "\"vector\"}"});
  expect(readDo("{\"replace\":{\"select\":{\"seq\":1}}}"),
         {"p:3:12: error NNT0511: a source needs \"value\", \"world\" or \"at\", found none of them"});
  expect(readDo("{\"replace\":{\"value\":\"vector\",\"at\":\"y\"}}"),
         {"p:3:35: error NNT0511: a source with \"value\" takes only \"scale\" beside it, found \"at\""});
  expect(readDo("{\"replace\":{\"value\":\"vector\",\"mean\":[\"seq\"]}}"),
         {"p:3:37: error NNT0511: a source with \"value\" takes only \"scale\" beside it, found \"mean\""});
}

TEST_CASE("NNT0512: undefined values") {
  expect(readDo("{\"add\":{\"value\":\"vektor\"}}"),
         {"p:3:17: error NNT0512: no value \"vektor\" in this plan; the nearest is \"vector\""});
  expect(readMembers("\"edits\":[{\"at\":\"x\",\"do\":{\"add\":{\"value\":\"v\"}}}]"),
         {"p:1:58: error NNT0512: no value \"v\" in this plan; it defines no values"});
  // A value that is itself wrong is defined all the same.
  expect(
      readMembers("\"values\":{\"v\":{\"data\":[]}},\n\"edits\":[{\"at\":\"x\",\"do\":{\"add\":{\"value\":\"v\"}}}]"),
      {"p:1:40: error NNT0513: an empty list holds no numbers"});
}

TEST_CASE("NNT0515: inputs") {
  expect(
      readMembers("\"inputs\":{\"a\":{}}"),
      {"p:1:32: error NNT0515: an input must have exactly one of \"prompt\", \"chat\", \"ids\" or \"file\", found 0"});
  expect(
      readMembers("\"inputs\":{\"a\":{\"prompt\":[\"x\"],\"file\":\"y\"}}"),
      {"p:1:32: error NNT0515: an input must have exactly one of \"prompt\", \"chat\", \"ids\" or \"file\", found 2"});
  expect(readMembers("\"inputs\":{\"a\":{\"prompt\":[]}}"), {"p:1:42: error NNT0515: \"prompt\" is empty"});
  expect(readMembers("\"inputs\":{\"a\":{\"ids\":[[1],[]]}}"), {"p:1:44: error NNT0515: a row of \"ids\" is empty"});
}

TEST_CASE("all errors of a plan in one go") {
  Reading reading = readText(R"({"nnterp_plan": 3, "tabs": [], "values": {"v": {"data": [[1], 2]}},
    "edits": [{"at": "x", "do": {"ad": 1}}, {"at": "y", "select": {"seq": "?"}, "do": {"fill": "a"}}], "taps": [3]})");
  CHECK(reading.codes == Errors{"NNT0104", "NNT0501", "NNT0503", "NNT0507", "NNT0510", "NNT0513"});
  CHECK(reading.errors.size() == 7);
}

TEST_CASE("every code that the reader uses is explained") {
  for (int code = 501; code <= 517; ++code)
    CHECK_FALSE(explain("NNT0" + std::to_string(code)).empty());
  for (int code : {903, 904, 905})
    CHECK_FALSE(explain("NNT0" + std::to_string(code)).empty());
}
