// Worlds: what a plan declares, and which of them its edits, taps and sources name (spec/plan.md 2).
#include "ReaderHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using Names = std::vector<std::string>;

static void expect(const Reading &reading, const Names &errors) {
  CHECK_FALSE(reading.plan);
  CHECK(reading.errors == errors);
}

/// A plan with the worlds b, a and c (b and c on one input) and these members after, on a line of their own.
static Reading readThree(const std::string &members) {
  return readMembers(R"("worlds":{"b":{"input":"i"},"a":{"input":"j"},"c":{"input":"i"}},)"
                     "\n" +
                     members);
}

static Names editWorlds(const std::string &world) {
  CAPTURE(world);
  Reading reading = readThree(R"("edits":[{"at":"x","do":{"zero":{}},"world":)" + world + "}]");
  CHECK(reading.errors == Names{});
  REQUIRE(reading.plan);
  return reading.plan->edits[0].worlds;
}

TEST_CASE("without worlds there is one, main, on the input main") {
  Reading reading = readMembers(R"("taps":["x",{"at":"y","world":"main"}],"edits":[{"at":"z","do":{"zero":{}}},
    {"at":"z","world":"*","do":{"add":{"world":"main"}}},{"at":"z","world":["main"],"do":{"zero":{}}}])");
  REQUIRE(reading.plan);
  const Plan &plan = *reading.plan;
  CHECK_FALSE(plan.declaresWorlds);
  REQUIRE(plan.worlds.size() == 1);
  CHECK((plan.worlds[0].name == "main" && plan.worlds[0].input == "main"));
  CHECK(plan.inputNames() == Names{"main"});
  for (const PlanTap &tap : plan.taps)
    CHECK(tap.worlds == Names{"main"});
  for (const PlanEdit &edit : plan.edits)
    CHECK(edit.worlds == Names{"main"});
  CHECK(plan.edits[1].source->world == std::optional<std::string>("main"));
}

TEST_CASE("worlds keep the order of the plan, inputs that of their first use") {
  Reading reading = readThree("\"taps\":[]");
  REQUIRE(reading.plan);
  const Plan &plan = *reading.plan;
  CHECK(plan.declaresWorlds);
  REQUIRE(plan.worlds.size() == 3);
  CHECK((plan.worlds[0].name == "b" && plan.worlds[1].name == "a" && plan.worlds[2].name == "c"));
  CHECK((plan.worlds[1].input == "j" && plan.worlds[1].loc.col == 46));
  CHECK(plan.inputNames() == Names{"i", "j"});
  CHECK(plan.taps[0].worlds == Names{"b", "a", "c"}); // the logits, of every world
}

TEST_CASE("a single declared world is declared all the same") {
  Reading reading = readMembers(R"("worlds":{"main":{"input":"main"}})");
  REQUIRE(reading.plan);
  CHECK(reading.plan->declaresWorlds);
  CHECK(reading.plan->worlds.size() == 1);
}

TEST_CASE("an edit names a world, several or all of them") {
  CHECK(editWorlds("\"a\"") == Names{"a"});
  CHECK(editWorlds("[\"c\",\"b\",\"c\"]") == Names{"b", "c"});
  CHECK(editWorlds("\"*\"") == Names{"b", "a", "c"});
}

TEST_CASE("a tap names worlds as an edit does, and means all where it names none") {
  Reading reading = readThree(
      R"("taps":["x",{"at":"x"},{"at":"x","world":"*"},{"at":"x","world":["c","a"]},{"at":"x","world":"b"}])");
  REQUIRE(reading.plan);
  const std::vector<PlanTap> &taps = reading.plan->taps;
  for (size_t i : {0, 1, 2})
    CHECK(taps[i].worlds == Names{"b", "a", "c"});
  CHECK(taps[3].worlds == Names{"a", "c"});
  CHECK(taps[4].worlds == Names{"b"});
}

TEST_CASE("a source from another world") {
  Reading reading = readThree(
      R"("edits":[{"at":"x","world":"a","do":{"replace":{"world":"b"}}},{"at":"x","world":"c",
      "do":{"add":{"world":"a","at":"layers[=].y","select":{"seq":"gen[2]"},"scale":2,"when":"before","mean":["heads"]}}},
      {"at":"x","world":"b","do":{"lerp":{"to":{"at":"y"},"t":1}}}])");
  REQUIRE(reading.plan);
  const std::vector<PlanEdit> &edits = reading.plan->edits;
  const Source &plain = *edits[0].source, &full = *edits[1].source;
  CHECK((plain.kind == Source::Kind::place && plain.world == std::optional<std::string>("b") && !plain.at));
  CHECK((full.world == std::optional<std::string>("a") && full.at == std::optional<std::string>("layers[=].y")));
  CHECK((full.scale == 2 && full.when == When::before && full.mean == Names{"heads"} && full.select));
  CHECK_FALSE(edits[2].source->world); // the edit's own
}

TEST_CASE("NNT0512: a world that is not declared") {
  expect(readThree(R"("taps":[{"at":"x","world":"d"}])"),
         {"p:2:27: error NNT0512: no world \"d\" in this plan; the nearest are \"b\", \"a\" or \"c\""});
  expect(readThree(R"("edits":[{"at":"x","world":["a","bb"],"do":{"replace":{"world":"*"}}}])"),
         {"p:2:33: error NNT0512: no world \"bb\" in this plan; the nearest are \"b\", \"a\" or \"c\"",
          "p:2:64: error NNT0504: the world \"*\" is no name: expected letters, digits, \"_\" and \"-\", not beginning "
          "with a digit or \"-\""});
  const std::string only = " in this plan; it declares no worlds, so the only one is \"main\"";
  expect(readMembers(R"("taps":[{"at":"x","world":"a"}])"), {"p:1:44: error NNT0512: no world \"a\"" + only});
  expect(readDo("{\"replace\":{\"world\":\"a\"}}"), {"p:3:21: error NNT0512: no world \"a\"" + only});
  expect(readMembers(R"("edits":[{"at":"x","world":["main","b"],"do":{"zero":{}}}])"),
         {"p:1:53: error NNT0512: no world \"b\"" + only});
}

TEST_CASE("NNT0502: in a plan with worlds every edit names its own") {
  expect(readThree(R"("edits":[{"at":"x","do":{"zero":{}}}])"),
         {"p:2:10: error NNT0502: an edit of a plan with worlds needs the key \"world\", which is missing"});
}

TEST_CASE("NNT0508: no world at all") {
  expect(readMembers("\"worlds\":{}"),
         {"p:1:27: error NNT0508: \"worlds\" declares none; leave it out to run one, \"main\", on the input \"main\""});
  expect(readThree(R"("edits":[{"at":"x","world":[],"do":{"zero":{}}}],"taps":[{"at":"x","world":[]}])"),
         {"p:2:28: error NNT0508: \"world\" is an empty list; expected a world, several, or \"*\" for all",
          "p:2:76: error NNT0508: \"world\" is an empty list; expected a world, several, or \"*\" for all"});
}

TEST_CASE("malformed worlds are declared all the same") {
  expect(
      readMembers(R"("worlds":{"a":{"inputs":"i"},"b":7,"c":{"input":"1"}},"taps":[{"at":"x","world":["a","b","c"]}])"),
      {"p:1:33: error NNT0501: unknown key \"inputs\" in a world; the nearest is \"input\"",
       "p:1:32: error NNT0502: a world needs the key \"input\", which is missing",
       "p:1:51: error NNT0104: a world must be an object, found 7",
       "p:1:66: error NNT0504: the input \"1\" is no name: expected letters, digits, \"_\" and \"-\", not beginning "
       "with a digit or \"-\""});
  // What names worlds is not wrong where the list of worlds is.
  expect(readMembers(R"("worlds":["a"],"taps":[{"at":"x","world":"a"}])"),
         {"p:1:27: error NNT0104: \"worlds\" must be an object, found an array"});
  expect(readMembers(R"("taps":[{"at":"x","world":7}])"),
         {"p:1:44: error NNT0104: the world must be a string, found 7"});
}
