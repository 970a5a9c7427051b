// Tests of diagnostics: their text, the table of codes, nearest names.
#include "runtime/abi/Diagnostic.h"

#include <catch2/catch.hpp>
#include <set>

using namespace nnterp;

TEST_CASE("a diagnostic is formatted as far as its place is known", "[diagnostic]") {
  Diagnostics diags;
  Diagnostic &error = diags.error("NNT0103", {"plan.json", 3, 14}, "not valid JSON");
  CHECK(format(error) == "plan.json:3:14: error NNT0103: not valid JSON\n");
  error.loc.col = 0;
  CHECK(format(error) == "plan.json:3: error NNT0103: not valid JSON\n");
  error.loc.line = 0;
  CHECK(format(error) == "plan.json: error NNT0103: not valid JSON\n");
  error.loc.file = "";
  CHECK(format(error) == "error NNT0103: not valid JSON\n");
}

TEST_CASE("notes follow their error, indented", "[diagnostic]") {
  Diagnostics diags;
  Diagnostic &error = diags.error("NNT0103", {"a", 1, 2}, "first");
  error.notes.push_back({{"b", 3, 4}, "because of this"});
  error.notes.push_back({{"", 0, 0}, "and of that"});
  CHECK(format(error) == "a:1:2: error NNT0103: first\n  b:3:4: note: because of this\n  note: and of that\n");
}

TEST_CASE("notes and warnings are no errors", "[diagnostic]") {
  Diagnostics diags;
  CHECK(format(diags.note({}, "5 tokens were routed elsewhere")) == "note: 5 tokens were routed elsewhere\n");
  diags.error("NNT0101", {}, "mild").severity = Severity::warning;
  CHECK(format(diags.all()[1]) == "warning NNT0101: mild\n");
  CHECK_FALSE(diags.hasErrors());
  diags.error("NNT0101", {}, "grave");
  CHECK(diags.hasErrors());
  CHECK(diags.all().size() == 3);
}

TEST_CASE("every code is well formed, explained and used once", "[diagnostic]") {
  std::set<std::string_view> codes;
  for (const ErrorInfo &info : errorTable()) {
    INFO(info.code);
    CHECK(info.code.size() == 7);
    CHECK(info.code.substr(0, 3) == "NNT");
    CHECK(info.code.find_first_not_of("0123456789", 3) == std::string_view::npos);
    CHECK(codes.insert(info.code).second);
    CHECK_FALSE(info.title.empty());
    CHECK(info.text.size() > 10);
    CHECK(info.text.back() == '.');
    CHECK(explain(info.code) == info.text);
  }
  CHECK(codes.count("NNT0101") == 1);
  CHECK(explain("NNT9999").empty());
}

TEST_CASE("the nearest names come first, equal ones in the order given", "[diagnostic]") {
  std::vector<std::string> names = {"layer_output", "layer_input", "mlp_output", "logits", "layer_mid"};
  CHECK(nearest("layer_outptu", names) == std::vector<std::string>{"layer_output", "layer_input", "layer_mid"});
  CHECK(nearest("logit", names, 1) == std::vector<std::string>{"logits"});
  CHECK(nearest("b", {"ab", "cb", "abc"}, 2) == std::vector<std::string>{"ab", "cb"});
  CHECK(nearest("", {"abc", "a"}) == std::vector<std::string>{"a", "abc"});
  CHECK(nearest("x", {}).empty());
}

TEST_CASE("lists of names read like a sentence", "[diagnostic]") {
  CHECK(joinOr({}) == "");
  CHECK(joinOr({"a"}) == "\"a\"");
  CHECK(joinOr({"a", "b"}) == "\"a\" or \"b\"");
  CHECK(joinOr({"a", "b", "c"}) == "\"a\", \"b\" or \"c\"");
}
