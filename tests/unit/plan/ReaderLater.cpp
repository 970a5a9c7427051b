// What the format knows and this version does not do: parsed, checked, refused once per feature.
#include "ReaderHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using Errors = std::vector<std::string>;

static void expect(const Reading &reading, const Errors &errors) {
  CHECK_FALSE(reading.plan);
  CHECK(reading.errors == errors);
}

static const std::string sweep = "error NNT0903: a sweep (\"sweep\", $NAME) is not in this version";
static const std::string edge = "error NNT0904: an edge (\"from\", \"to\") is not in this version";
static const std::string call = "error NNT0905: the operation \"call\" is not in this version";
static const std::string also = ": note: also used here";

TEST_CASE("NNT0903: sweeps and their variables") {
  expect(readMembers("\"sweep\":{\"i\":[1,2.5,\"v\"],\"j\":\"0:3\"}"), {"p:1:26: " + sweep});
  for (const char *action : {"{\"fill\":\"$i\"}", "{\"add\":\"$i\"}", "{\"clamp\":{\"min\":\"$i\"}}",
                             "{\"add\":{\"value\":\"$i\"}}", "{\"drop\":{\"experts\":[\"$i\"]}}"}) {
    Reading reading = readDo(action);
    CAPTURE(action);
    CHECK(reading.codes == Errors{"NNT0903"});
  }
  for (const char *select :
       {"{\"heads\":\"$i\"}", "{\"seq\":\"prompt[$i]\"}", "{\"seq\":[\"$i\",2]}", "{\"seq\":\"$i:$j\"}"})
    CHECK(readSelect(select).codes == Errors{"NNT0903"});
  CHECK(readMembers("\"taps\":[\"layers[$i].layer_output\"]").codes == Errors{"NNT0903"});
  CHECK(readMembers("\"values\":{\"v\":{\"data\":[\"$i\",1]}}").codes == Errors{"NNT0903"});
  CHECK(readMembers("\"values\":{\"v\":{\"data\":[2,1],\"index\":[\"$i\"]}}").codes == Errors{"NNT0903"});
}

TEST_CASE("sweeps are checked all the same") {
  expect(
      readMembers("\n\"sweep\":{\"head\":[0,1],\"j\":[],\"k\":\"1:\",\"2\":[1]},\n\"taps\":[{\"at\":\"x\",\"select\":{"
                  "\"heads\":\"$heat\"}}]"),
      {"p:2:9: " + sweep + "\n  p:3:37" + also,
       "p:2:27: error NNT0508: the sweep variable \"j\" takes a list of numbers and names, or \"a:b\", found an array",
       "p:2:34: error NNT0508: the sweep variable \"k\" takes a list of numbers and names, or \"a:b\", found \"1:\"",
       "p:2:39: error NNT0504: the sweep variable \"2\" is no name: expected letters, digits, \"_\" and \"-\", not "
       "beginning "
       "with a digit or \"-\"",
       "p:3:37: error NNT0512: no sweep variable \"heat\" in this plan; the nearest are \"head\", \"j\" or \"k\""});
}

TEST_CASE("NNT0904: edges") {
  expect(readMembers("\"edits\":[{\"id\":\"e\",\"from\":\"layers[3].self_attn.attention_output\",\"to\":\"x\",\"do\":{"
                     "\"zero\":{}}}]"),
         {"p:1:27: " + edge});
  expect(readMembers("\"edits\":[{\"from\":\"x\",\"select\":{\"heads\":1},\"to\":{\"at\":\"y\",\"select\":{\"heads\":2}"
                     "},\"do\":{\"scale\":0}}]"),
         {"p:1:27: " + edge});
}

TEST_CASE("edges are checked all the same") {
  expect(readMembers("\"edits\":[{\"from\":\"x\",\"at\":\"y\",\"do\":{\"zer\":{}}}]"),
         {"p:1:27: " + edge,
          "p:1:39: error NNT0501: unknown key \"at\" in an edge; the nearest are \"id\", \"to\" or \"do\"",
          "p:1:27: error NNT0502: an edge needs the key \"to\", which is missing",
          "p:1:54: error NNT0507: unknown operation \"zer\"; the nearest are \"zero\", \"lerp\" or \"add\""});
}

TEST_CASE("NNT0905: call") {
  expect(readDo("{\"call\":\"@f\"}"), {"p:3:9: " + call});
  expect(readDo("{\"call\":\"@f\",\"with\":[\"vector\"]}"), {"p:3:9: " + call});
  expect(readDo("{\"call\":\"f\",\"with\":[\"vectors\"]}"),
         {"p:3:9: " + call,
          "p:3:9: error NNT0508: \"call\" takes a function's name that begins with \"@\", found \"f\"",
          "p:3:21: error NNT0512: no value \"vectors\" in this plan; the nearest is \"vector\""});
}
