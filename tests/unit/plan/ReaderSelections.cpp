// Selections: every form of spec/plan.md 4, and what is wrong with the malformed ones.
#include "ReaderHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using Phase = AxisSelection::Phase;
using Errors = std::vector<std::string>;

/// A selection as text: `p` prompt, `g` gen, `b` both, then indices or a range; parts joined by blanks.
static std::string describe(const AxisSelection &selection) {
  if (!selection.rowValue.empty())
    return selection.parts.empty() ? "rows " + selection.rowValue : "?";
  std::string text;
  for (const AxisSelection::Part &part : selection.parts) {
    text += text.empty() ? "" : " ";
    text += part.phase == Phase::prompt ? "p" : part.phase == Phase::gen ? "g" : "b";
    if (auto *indices = std::get_if<std::vector<int64_t>>(&part.indices)) {
      for (int64_t index : *indices)
        text += "," + std::to_string(index);
    } else {
      const Range &range = std::get<Range>(part.indices);
      auto end = [](std::optional<int64_t> v) { return v ? std::to_string(*v) : ""; };
      text += "[" + end(range.begin) + ":" + end(range.end) + "]";
    }
  }
  return text;
}

static std::string axis(const std::string &name, const std::string &json) {
  CAPTURE(name, json);
  Reading reading = readSelect("{\"" + name + "\":" + json + "}");
  CHECK(reading.errors == Errors{});
  REQUIRE(reading.plan);
  const AxisSelection &selection = reading.plan->taps[0].select->axes.at(name);
  CHECK(selection.all == (json == "\"*\""));
  return describe(selection);
}

TEST_CASE("pictures: one image, its rows and columns as on other axes") {
  CHECK(axis("image", "0") == "b,0");
  CHECK(axis("image", "-1") == "b,-1");
  CHECK(axis("image", "\"*\"") == "b[:]");
  for (const char *name : {"rows", "cols", "patches", "image_tokens", "query_patch", "key_patch"}) {
    CHECK(axis(name, "\"1:3\"") == "b[1:3]");
    CHECK(axis(name, "[0,\"2:\"]") == "b,0 b[2:]");
  }
  auto image = [](const char *json) { return readSelect("{\"image\":" + std::string(json) + "}").errors; };
  const std::string expected = "p:3:10: error NNT0510: \"image\" is one image: expected its number, from 0 or from -1 "
                               "backwards, found ";
  CHECK(image("[0,1]") == Errors{expected + "an array"});
  CHECK(image("\"0:2\"") == Errors{expected + "\"0:2\""});
  CHECK(image("{\"value\":\"where\"}") == Errors{expected + "an object"});
  CHECK(image("0.5") == Errors{expected + "0.5"});
  CHECK(image("\"$i\"").size() == 1);
}

TEST_CASE("token axes: bare forms mean the prompt") {
  for (const char *name : {"seq", "query", "key"}) {
    CHECK(axis(name, "3") == "p,3");
    CHECK(axis(name, "-1") == "p,-1");
    CHECK(axis(name, "[0,3,-1]") == "p,0,3,-1");
    CHECK(axis(name, "\"2:5\"") == "p[2:5]");
    CHECK(axis(name, "\"-2:\"") == "p[-2:]");
    CHECK(axis(name, "\":\"") == "p[:]");
    CHECK(axis(name, "\"*\"") == "b[:]");
  }
}

TEST_CASE("token axes: prompt[…] and mixed lists") {
  CHECK(axis("seq", "\"prompt[-1]\"") == "p,-1");
  CHECK(axis("seq", "\"prompt[1,2,-3]\"") == "p,1,2,-3");
  CHECK(axis("seq", "\"prompt[:4]\"") == "p[:4]");
  CHECK(axis("seq", "\"prompt[*]\"") == "p[:]");
  CHECK(axis("seq", "[\"prompt[-1]\",2,3,\"5:\",4,\"*\"]") == "p,-1 p,2,3 p[5:] p,4 b[:]");
}

TEST_CASE("token axes: gen[…], alone and beside the prompt") {
  for (const char *name : {"seq", "query", "key"}) {
    CHECK(axis(name, "\"gen[2]\"") == "g,2");
    CHECK(axis(name, "\"gen[-1,0]\"") == "g,-1,0");
    CHECK(axis(name, "\"gen[1:3]\"") == "g[1:3]");
    CHECK(axis(name, "\"gen[*]\"") == "g[:]");
    CHECK(axis(name, "[\"prompt[-1]\",\"gen[*]\",2]") == "p,-1 g[:] p,2");
  }
}

TEST_CASE("other axes") {
  CHECK(axis("heads", "3") == "b,3");
  CHECK(axis("heads", "[3,1,3]") == "b,3,1,3");
  CHECK(axis("hidden", "\"8:16\"") == "b[8:16]");
  CHECK(axis("vocab", "\"*\"") == "b[:]");
  CHECK(axis("neurons", "[\"0:2\",7]") == "b[0:2] b,7");
  CHECK(axis("patches", "[0,5]") == "b,0,5");
}

TEST_CASE("indices per row") {
  for (const char *name : {"seq", "query", "key", "heads", "experts", "slots", "vocab"})
    CHECK(axis(name, "{\"value\":\"where\"}") == "rows where");
}

static std::string wrong(const std::string &select) {
  CAPTURE(select);
  Reading reading = readSelect(select);
  CHECK_FALSE(reading.plan);
  REQUIRE(reading.errors.size() == 1);
  return reading.errors[0];
}

TEST_CASE("NNT0510: malformed selections") {
  const std::string tokens =
      "expected an index, a list, a range \"a:b\", \"*\", \"prompt[…]\", \"gen[…]\", {\"value\": NAME}";
  for (const char *text :
       {"1:2:3", "a", "", "1:x", "prompt", "prompt[", "prompt[]", "prompt[1", "prompt[1,]", "prompt[1,2:3]",
        "prompt[a]", "prompt[gen[1]]", "gen[]", "past[1]", " 1:2", "1;2", "99999999999999999999:"})
    CHECK(wrong(std::string("{\"seq\":\"") + text + "\"}") ==
          std::string("p:3:8: error NNT0510: \"seq\": \"") + text + "\" selects nothing; " + tokens);
  CHECK(wrong("{\"seq\":1.5}") == "p:3:8: error NNT0510: \"seq\": 1.5 selects nothing; " + tokens);
  CHECK(wrong("{\"seq\":true}") == "p:3:8: error NNT0510: \"seq\": true selects nothing; " + tokens);
  CHECK(wrong("{\"seq\":[1,[2]]}") == "p:3:11: error NNT0510: \"seq\": an array selects nothing; " + tokens);
  CHECK(
      wrong("{\"hidden\":\"1:x\"}") ==
      "p:3:11: error NNT0510: \"hidden\": \"1:x\" selects nothing; expected an index, a list, a range \"a:b\", \"*\"");
  CHECK(wrong("{\"heads\":\"3\"}") ==
        "p:3:10: error NNT0510: \"heads\": \"3\" selects nothing; expected an index without quotes: 3");
  CHECK(wrong("{\"heads\":[]}") ==
        "p:3:10: error NNT0510: \"heads\": an empty list selects nothing; leave the axis out to select all of it");
  CHECK(wrong("{\"heads\":\"prompt[-1]\"}") ==
        "p:3:10: error NNT0510: \"heads\" counts no tokens, so it takes no \"prompt[-1]\"; seq, query and key do");
  CHECK(wrong("{\"heads\":\"gen[*]\"}") ==
        "p:3:10: error NNT0510: \"heads\" counts no tokens, so it takes no \"gen[*]\"; seq, query and key do");
  CHECK(wrong("{\"hidden\":{\"value\":\"where\"}}") == "p:3:11: error NNT0510: \"hidden\" takes no indices per row; "
                                                       "seq, query, key, heads, experts, slots and vocab do");
}

TEST_CASE("indices per row name a defined value") {
  CHECK(wrong("{\"seq\":{\"value\":\"wher\"}}") ==
        "p:3:17: error NNT0512: no value \"wher\" in this plan; the nearest is \"where\"");
  CHECK(wrong("{\"seq\":{}}") == "p:3:8: error NNT0502: indices per row needs the key \"value\", which is missing");
}

TEST_CASE("all wrong entries of a selection are reported") {
  Reading reading = readSelect("{\"seq\":[\"a\",\"b\"],\n\"heads\":\"c\"}");
  CHECK(reading.errors.size() == 3);
}
