// Flags and the JSON they stand for, with their places.
#include "ReaderHelp.h"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace nnterp;
using Errors = std::vector<std::string>;

static std::string expand(const PlanFlags &flags, const std::string &plan = "") {
  Diagnostics diags;
  std::optional<Json> json;
  if (!plan.empty())
    json = parseJson(plan, "p", diags);
  json = expandFlags(std::move(json), flags, diags);
  Reading reading;
  reading.collect(diags);
  CHECK(reading.errors == Errors{});
  REQUIRE(json);
  return json->dump();
}

/// The only entry that a flag makes.
static std::string tap(const std::string &flag) {
  std::string text = expand({{flag}, {}, {}});
  const std::string head = R"({"nnterp_plan":1,"taps":[)";
  REQUIRE(text.substr(0, head.size()) == head);
  return text.substr(head.size(), text.size() - head.size() - 2);
}
static std::string edit(const std::string &flag) {
  std::string text = expand({{}, {flag}, {}});
  const std::string head = R"({"nnterp_plan":1,"edits":[)";
  REQUIRE(text.substr(0, head.size()) == head);
  return text.substr(head.size(), text.size() - head.size() - 2);
}
static std::string action(const std::string &text) {
  std::string json = edit("x " + text);
  const std::string head = R"({"at":"x","do":)";
  REQUIRE(json.substr(0, head.size()) == head);
  return json.substr(head.size(), json.size() - head.size() - 1);
}

TEST_CASE("--tap") {
  CHECK(tap("logits") == R"("logits")");
  CHECK(tap(" logits ") == R"("logits")");
  CHECK(tap("layers[*].layer_output{seq=prompt[-1]}=resid") ==
        R"({"at":"layers[*].layer_output","select":{"seq":"prompt[-1]"},"as":"resid"})");
  CHECK(tap("layers[0:8].layer_output@before") == R"({"at":"layers[0:8].layer_output","when":"before"})");
  CHECK(tap("a:layers[=].x@before=y") == R"({"world":"a","at":"layers[=].x","when":"before","as":"y"})");
  CHECK(tap("x=y") == R"({"at":"x","as":"y"})");
  CHECK(tap("w:x") == R"({"world":"w","at":"x"})");
  CHECK(tap("layers[3,7].x{heads=1|3|-1,seq=0:4|prompt[1,2],key=*}") ==
        R"({"at":"layers[3,7].x","select":{"heads":[1,3,-1],"seq":["0:4","prompt[1,2]"],"key":"*"}})");
  CHECK(tap("x{ heads = 1 | 3 , seq = -2: }") == R"({"at":"x","select":{"heads":[1,3],"seq":"-2:"}})");
  CHECK(tap("x{heads=$h}") == R"({"at":"x","select":{"heads":"$h"}})");
}

TEST_CASE("--edit: the examples of the specification") {
  CHECK(edit("layers[3].self_attn.attention_premix{heads=1|3} zero") ==
        R"({"at":"layers[3].self_attn.attention_premix","select":{"heads":[1,3]},"do":{"zero":{}}})");
  CHECK(edit("layers[2].layer_output{seq=prompt[-1]} add v*4") ==
        R"({"at":"layers[2].layer_output","select":{"seq":"prompt[-1]"},"do":{"add":{"value":"v"},"scale":4}})");
  CHECK(edit("patched:layers[3].self_attn.attention_premix{heads=9, seq=prompt[-1]}  replace  @corrupt") ==
        R"({"world":"patched","at":"layers[3].self_attn.attention_premix","select":{"heads":9,"seq":"prompt[-1]"},)"
        R"("do":{"replace":{"world":"corrupt"}}})");
}

TEST_CASE("--edit: every operation") {
  CHECK(action("zero") == R"({"zero":{}})");
  CHECK(action("mask") == R"({"mask":{}})");
  CHECK(action("fill -1e30") == R"({"fill":-1e+30})");
  CHECK(action("scale 0.5") == R"({"scale":0.5})");
  CHECK(action("scale v") == R"({"scale":{"value":"v"}})");
  CHECK(action("add 2") == R"({"add":2})");
  CHECK(action("add v") == R"({"add":{"value":"v"}})");
  CHECK(action("add 2*3") == R"({"add":2,"scale":3})");
  CHECK(action("add @clean*-1.0") == R"({"add":{"world":"clean"},"scale":-1.0})");
  CHECK(action("replace v") == R"({"replace":{"value":"v"}})");
  CHECK(action("clamp -0.5 0.75") == R"({"clamp":{"min":-0.5,"max":0.75}})");
  CHECK(action("clamp - 1") == R"({"clamp":{"max":1}})");
  CHECK(action("clamp +1 -") == R"({"clamp":{"min":1}})");
  CHECK(action("affine -1.5 .25") == R"({"affine":{"scale":-1.5,"shift":0.25}})");
  CHECK(action("lerp v 0.7") == R"({"lerp":{"to":{"value":"v"},"t":0.7}})");
  CHECK(action("project_out v") == R"({"project_out":{"value":"v"}})");
  CHECK(action("drop 1,2,5") == R"({"drop":{"experts":[1,2,5]}})");
  CHECK(action("drop_renorm 1") == R"({"drop_renorm":{"experts":[1]}})");
  CHECK(action("reroute 0,3") == R"({"reroute":{"experts":[0,3]}})");
  CHECK(action("force 7,2") == R"({"force":{"experts":[7,2]}})");
  CHECK(action("force 7,2 max") == R"({"force":{"experts":[7,2],"logit":"max"}})");
  CHECK(action("call @f") == R"({"call":"@f"})");
  CHECK(action("fill $c") == R"({"fill":"$c"})");
  CHECK(action("add $c") == R"({"add":"$c"})");
}

TEST_CASE("a source is a number if it parses as one, else a name") {
  CHECK(action("replace 1e3") == R"({"replace":1000.0})");
  for (const char *name : {"e3", "inf", "nan", "infinity", "_1", "E", "x-1"})
    CHECK(action(std::string("replace ") + name) == std::string(R"({"replace":{"value":")") + name + "\"}}");
}

TEST_CASE("--value") {
  std::string steer = (std::filesystem::current_path() / "steer.safetensors").string();
  CHECK(expand({{}, {}, {"v=steer.safetensors#v"}}) ==
        R"({"nnterp_plan":1,"values":{"v":{"file":")" + steer + R"(","key":"v"}}})");
  CHECK(expand({{}, {}, {"v=./x/../steer.safetensors#a=b#c"}}) ==
        R"({"nnterp_plan":1,"values":{"v":{"file":")" + steer + R"(","key":"a=b#c"}}})");
  CHECK(expand({{}, {}, {"v=/abs/s.pt#k", "w=1,2.5,-3", "i=4"}}) ==
        R"({"nnterp_plan":1,"values":{"v":{"file":"/abs/s.pt","key":"k"},"w":{"data":[1,2.5,-3]},"i":{"data":[4]}}})");
}

TEST_CASE("flags add to a plan") {
  PlanFlags flags{{"t"}, {"y zero"}, {"w=1"}};
  CHECK(expand(flags,
               R"({"nnterp_plan":1,"taps":["s"],"edits":[{"at":"x","do":{"zero":{}}}],"values":{"v":{"data":[2]}}})") ==
        R"({"nnterp_plan":1,"taps":["s","t"],"edits":[{"at":"x","do":{"zero":{}}},{"at":"y","do":{"zero":{}}}],)"
        R"("values":{"v":{"data":[2]},"w":{"data":[1]}}})");
  CHECK(expand(flags, R"({"nnterp_plan":1})") ==
        R"({"nnterp_plan":1,"edits":[{"at":"y","do":{"zero":{}}}],"taps":["t"],"values":{"w":{"data":[1]}}})");
  CHECK(expand({}, R"({"nnterp_plan":1})") == R"({"nnterp_plan":1})");
  CHECK(expand({}) == R"({"nnterp_plan":1})");
}

TEST_CASE("a plan that is no plan is left for the reader to report") {
  CHECK(expand({{"t"}, {}, {"v=1"}}, "[]") == "[]");
  CHECK(expand({{"t"}, {}, {"v=1"}}, R"({"taps":3,"values":[]})") == R"({"taps":3,"values":[]})");
}

TEST_CASE("places within a flag are kept, in characters, for the reader's messages") {
  Diagnostics diags;
  PlanFlags flags{{"é[0]{seq=1:x}"}, {"x{heads=1|a} add w*2", "y clamp 2 1"}, {"9=1"}};
  flags.values = {"v=1,1e39"};
  std::optional<Json> json = expandFlags(std::nullopt, flags, diags);
  REQUIRE(json);
  CHECK_FALSE(readPlan(*json, "", diags));
  Reading reading;
  reading.collect(diags);
  CHECK(reading.errors ==
        Errors{
            "--value:1:5: error NNT0509: an entry of \"data\" 1e+39 does not fit float32 (at most 3.4028235e+38)",
            "--edit:1:11: error NNT0510: \"heads\": \"a\" selects nothing; expected an index, a list, a range \"a:b\", "
            "\"*\", {\"value\": NAME}",
            "--edit:1:18: error NNT0512: no value \"w\" in this plan; the nearest is \"v\"",
            "--edit:1:9: error NNT0508: \"clamp\": \"min\" 2 is larger than \"max\" 1",
            "--tap:1:10: error NNT0510: \"seq\": \"1:x\" selects nothing; expected an index, a list, a range \"a:b\", "
            "\"*\", \"prompt[…]\", \"gen[…]\", {\"value\": NAME}"});
}

TEST_CASE("a plan of flags reads as the plan they stand for") {
  Diagnostics diags;
  PlanFlags flags{{"layers[*].layer_output{seq=prompt[-1]}=resid"},
                  {"layers[2].layer_output{seq=prompt[-1]} add v*4"},
                  {"v=1,2.5"}};
  std::optional<Plan> plan = readPlan(*expandFlags(std::nullopt, flags, diags), "", diags);
  REQUIRE(plan);
  CHECK((plan->edits[0].op == Op::add && plan->edits[0].numbers == std::vector<double>{4} &&
         plan->edits[0].source->value == "v"));
  CHECK((plan->edits[0].loc.file == "--edit" && plan->edits[0].doLoc.col == 40));
  CHECK((plan->taps.size() == 1 && plan->taps[0].as == "resid"));
  CHECK(plan->values.at("v").tensor.at(1) == 2.5);
}

TEST_CASE("flags name worlds and generated tokens") {
  const std::string worlds = R"({"nnterp_plan":1,"worlds":{"a":{"input":"i"},"b":{"input":"j"}}})";
  auto read = [&](const PlanFlags &flags, Diagnostics &diags) {
    return readPlan(*expandFlags(parseJson(worlds, "p", diags), flags, diags), "", diags);
  };
  Diagnostics diags;
  std::optional<Plan> plan = read({{"b:layers[*].x{seq=prompt[-1]|gen[*]}@before=y", "x"},
                                   {"a:layers[3].x{seq=gen[1:3],heads=2} replace @b", "*:y add @a*-2"},
                                   {}},
                                  diags);
  REQUIRE(plan);
  using Names = std::vector<std::string>;
  CHECK((plan->taps[0].worlds == Names{"b"} && plan->taps[1].worlds == Names{"a", "b"}));
  CHECK(plan->taps[0].select->axes.at("seq").parts[1].phase == AxisSelection::Phase::gen);
  CHECK((plan->edits[0].worlds == Names{"a"} && plan->edits[1].worlds == Names{"a", "b"}));
  CHECK(plan->edits[0].select->axes.at("seq").parts[0].phase == AxisSelection::Phase::gen);
  CHECK((plan->edits[0].source->world == std::optional<std::string>("b") && !plan->edits[0].source->at));
  CHECK((plan->edits[1].source->world == std::optional<std::string>("a") &&
         plan->edits[1].numbers == std::vector<double>{-2}));

  CHECK_FALSE(read({{"c:x", ":x"}, {"y zero", "a:y add @c"}, {}}, diags));
  Reading reading;
  reading.collect(diags);
  CHECK(reading.errors ==
        Errors{"--edit:1:1: error NNT0502: an edit of a plan with worlds needs the key \"world\", which is missing",
               "--edit:1:10: error NNT0512: no world \"c\" in this plan; the nearest are \"a\" or \"b\"",
               "--tap:1:1: error NNT0512: no world \"c\" in this plan; the nearest are \"a\" or \"b\"",
               "--tap:1:1: error NNT0504: the world \"\" is no name: expected letters, digits, \"_\" and \"-\", not "
               "beginning with a digit or \"-\""});
}

TEST_CASE("flags select a rectangle of an image") {
  Diagnostics diags;
  PlanFlags flags{{"vision.tower_output{image=0,rows=0:2,cols=1|3}"}, {"vision.image_features{image=-1} zero"}, {}};
  std::optional<Plan> plan = readPlan(*expandFlags(std::nullopt, flags, diags), "", diags);
  REQUIRE(plan);
  const std::map<std::string, AxisSelection> &axes = plan->taps[0].select->axes;
  CHECK(std::get<0>(axes.at("image").parts[0].indices) == std::vector<int64_t>{0});
  CHECK(std::get<Range>(axes.at("rows").parts[0].indices).end == 2);
  CHECK(axes.at("cols").parts.size() == 1);
  CHECK(std::get<0>(plan->edits[0].select->axes.at("image").parts[0].indices) == std::vector<int64_t>{-1});
}

TEST_CASE("what this version does not do is refused from flags too") {
  Diagnostics diags;
  PlanFlags flags{{}, {"x fill $c", "x call @f"}, {}};
  std::optional<Json> json = expandFlags(std::nullopt, flags, diags);
  REQUIRE(json);
  CHECK_FALSE(readPlan(*json, "", diags));
  Reading reading;
  reading.collect(diags);
  CHECK(reading.codes == Errors{"NNT0903", "NNT0905"});
}
