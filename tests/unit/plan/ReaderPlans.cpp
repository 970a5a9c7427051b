// Sound plans: the golden cases, and what each part of a plan becomes.
#include "ReaderHelp.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace nnterp;
using Codes = std::vector<std::string>;

static std::string textOf(const std::filesystem::path &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_CASE("every golden plan reads") {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(NNTERP_TEST_DATA "/cases")) {
    std::filesystem::path path = entry.path() / "plan.json";
    CAPTURE(path.string());
    std::string text = textOf(path);
    Reading reading = readText(text, entry.path().string());
    CHECK(reading.errors == Codes{});
    CHECK(reading.plan);
    CHECK((reading.plan && reading.plan->declaresWorlds) == (text.find("\"worlds\"") != std::string::npos));
    ++count;
  }
  CHECK(count > 80);
}

TEST_CASE("without taps, or with none, the logits are tapped") {
  for (const char *text : {R"({"nnterp_plan": 1})", R"({"nnterp_plan": 1, "taps": []})"}) {
    Reading reading = readText(text);
    REQUIRE(reading.plan);
    REQUIRE(reading.plan->taps.size() == 1);
    CHECK(reading.plan->taps[0].at == "logits");
    CHECK(reading.plan->json.dump() == parseJson(text, "", *std::make_unique<Diagnostics>())->dump());
  }
}

TEST_CASE("taps") {
  Reading reading = readMembers(
      R"("taps": ["logits", {"at": "layers[*].layer_output", "select": {"seq": -1}, "when": "before", "as": "r-1"}])");
  REQUIRE(reading.plan);
  const std::vector<PlanTap> &taps = reading.plan->taps;
  REQUIRE(taps.size() == 2);
  CHECK((taps[0].at == "logits" && taps[0].when == When::after && taps[0].as.empty() && !taps[0].select));
  CHECK((taps[1].at == "layers[*].layer_output" && taps[1].when == When::before && taps[1].as == "r-1"));
  CHECK(taps[1].select->axes.count("seq") == 1);
  CHECK(taps[0].loc.col == 27);
  CHECK((taps[1].loc.col == 37 && taps[1].atLoc.col == 44));
}

TEST_CASE("edits keep id, place, order and locations") {
  Reading reading = readMembers("\n\"edits\": [{\"id\": \"a\", \"at\": \"x\",\n \"do\": {\"zero\": {}}}, {\"do\": "
                                "{\"mask\": {}}, \"at\": \"y\"}]");
  REQUIRE(reading.plan);
  const std::vector<PlanEdit> &edits = reading.plan->edits;
  REQUIRE(edits.size() == 2);
  CHECK((edits[0].id == "a" && edits[0].at == "x" && edits[0].op == Op::zero && edits[0].position == 0));
  CHECK((edits[1].id.empty() && edits[1].at == "y" && edits[1].op == Op::mask && edits[1].position == 1));
  CHECK((edits[0].loc.line == 2 && edits[0].loc.col == 11 && edits[0].atLoc.col == 29 && edits[0].doLoc.line == 3));
}

static PlanEdit edit(const std::string &action) {
  CAPTURE(action);
  Reading reading = readDo(action);
  CHECK(reading.errors == Codes{});
  REQUIRE(reading.plan);
  return reading.plan->edits[0];
}

TEST_CASE("operations with numbers") {
  CHECK(edit(R"({"fill": 0.1})").numbers == std::vector<double>{double(0.1f)}); // rounded to float32
  PlanEdit affine = edit(R"({"affine": {"shift": 0.25, "scale": -1.5}})");
  CHECK((affine.op == Op::affine && affine.numbers == std::vector<double>{-1.5, 0.25}));
  PlanEdit clamp = edit(R"({"clamp": {"min": -1, "max": 2}})");
  CHECK((clamp.hasMin && clamp.hasMax && clamp.numbers == std::vector<double>{-1, 2}));
  clamp = edit(R"({"clamp": {"max": 2}})");
  CHECK((!clamp.hasMin && clamp.hasMax && clamp.numbers == std::vector<double>{2}));
  CHECK(edit(R"({"clamp": {"min": 2, "max": 2}})").numbers == std::vector<double>{2, 2});
  CHECK(edit(R"({"fill": 3.4028235e38})").numbers[0] == double(std::numeric_limits<float>::max()));
  CHECK(edit(R"({"fill": 1e-60})").numbers[0] == 0);
}

TEST_CASE("operations with sources") {
  PlanEdit add = edit(R"({"add": {"value": "vector", "scale": 3}, "scale": 0.5})");
  CHECK((add.op == Op::add && add.numbers == std::vector<double>{0.5}));
  CHECK((add.source->kind == Source::Kind::value && add.source->value == "vector" && add.source->scale == 3));
  CHECK(edit(R"({"add": 2})").numbers == std::vector<double>{1});
  PlanEdit scale = edit(R"({"scale": 2})");
  CHECK((scale.op == Op::scale && scale.source->kind == Source::Kind::number && scale.source->number == 2 &&
         scale.numbers.empty()));
  CHECK(edit(R"({"scale": {"value": "vector"}})").source->value == "vector");
  CHECK(edit(R"({"project_out": {"value": "vector"}})").op == Op::project_out);
  PlanEdit lerp = edit(
      R"({"lerp": {"t": 0.5, "to": {"at": "layers[=].y", "select": {"seq": "*"}, "scale": 2, "when": "before", "mean": ["seq", "batch", "seq"]}}})");
  CHECK((lerp.op == Op::lerp && lerp.numbers == std::vector<double>{0.5}));
  const Source &source = *lerp.source;
  CHECK(
      (source.kind == Source::Kind::place && source.at == std::optional<std::string>("layers[=].y") && !source.world));
  CHECK((source.scale == 2 && source.when == When::before && source.select->axes.at("seq").all));
  CHECK(source.mean == std::vector<std::string>{"seq", "batch"});
  CHECK(edit(R"({"replace": {"at": "y"}})").source->when == When::after);
}

TEST_CASE("operations with experts") {
  using Experts = std::vector<int64_t>;
  PlanEdit drop = edit(R"({"drop": {"experts": [7, 0, 3]}})");
  CHECK((drop.op == Op::drop && drop.experts == Experts{7, 0, 3}));
  CHECK(edit(R"({"drop_renorm": {"experts": [1]}})").op == Op::drop_renorm);
  CHECK(edit(R"({"reroute": {"experts": []}})").experts.empty());
  CHECK(edit(R"({"force": {"experts": [1], "logit": "max"}})").forceMax);
  CHECK_FALSE(edit(R"({"force": {"experts": [1], "logit": "own"}})").forceMax);
  CHECK_FALSE(edit(R"({"force": {"experts": [1]}})").forceMax);
}

TEST_CASE("the names of operations are those of the format") {
  for (Op op : {Op::replace, Op::fill, Op::zero, Op::scale, Op::affine, Op::clamp, Op::lerp, Op::project_out, Op::mask,
                Op::add, Op::drop, Op::drop_renorm, Op::reroute, Op::force}) {
    std::string text(name(op));
    CAPTURE(text);
    std::string argument = "1";
    if (op == Op::zero || op == Op::mask)
      argument = "{}";
    else if (op >= Op::drop)
      argument = R"({"experts": [0]})";
    else if (op == Op::affine)
      argument = R"({"scale": 1, "shift": 1})";
    else if (op == Op::clamp)
      argument = R"({"min": 1})";
    else if (op == Op::lerp)
      argument = R"({"to": 1, "t": 1})";
    CHECK(edit("{\"" + text + "\": " + argument + "}").op == op);
  }
}

TEST_CASE("inputs") {
  Reading reading = readText(
      R"({"nnterp_plan": 1, "inputs": {"a": {"prompt": ["x", ""]}, "b": {"ids": [[1, 2], [3]]}, "c": {"file": "d/in.safetensors"}, "e": {"chat": "../e.json"}}})",
      "/plans");
  REQUIRE(reading.plan);
  CHECK(reading.plan->inputs.at("a").prompts == std::vector<std::string>{"x", ""});
  CHECK(reading.plan->inputs.at("b").ids == std::vector<std::vector<int64_t>>{{1, 2}, {3}});
  CHECK(reading.plan->inputs.at("c").file == "/plans/d/in.safetensors");
  CHECK(reading.plan->inputs.at("e").chat == "/e.json");
  CHECK(reading.plan->directory == "/plans");
  // Relative to the plan, whose directory is relative to the current one.
  reading = readText(R"({"nnterp_plan": 1, "inputs": {"c": {"file": "../in.safetensors"}}})", "plans/x");
  CHECK(reading.plan->inputs.at("c").file == (std::filesystem::current_path() / "plans/in.safetensors").string());
}

TEST_CASE("a value that nothing uses is no error") {
  CHECK(readMembers(R"("values": {"unused": {"data": [1]}})").plan);
}
