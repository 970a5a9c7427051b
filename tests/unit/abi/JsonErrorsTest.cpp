// Tests of broken JSON: the message, and the place where reading stopped.
#include "runtime/abi/Json.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static std::string errorsOf(std::string_view text) {
  Diagnostics diags;
  CHECK_FALSE(parseJson(text, "f", diags));
  std::string all;
  for (const Diagnostic &d : diags.all())
    all += format(d);
  return all;
}

TEST_CASE("NNT0103: an unexpected token is shown where it begins", "[json]") {
  CHECK(errorsOf("[1,,2]") ==
        "f:1:4: error NNT0103: not valid JSON: unexpected ','; expected '[', '{', or a literal\n");
  CHECK(errorsOf("[1,2,]") ==
        "f:1:6: error NNT0103: not valid JSON: unexpected ']'; expected '[', '{', or a literal\n");
  CHECK(errorsOf("[1\n 234]") == "f:2:2: error NNT0103: not valid JSON: unexpected number literal; expected ']'\n");
  CHECK(errorsOf("{\"a\" \"bcd\"}") ==
        "f:1:6: error NNT0103: not valid JSON: unexpected string literal; expected ':'\n");
  CHECK(errorsOf("{,}") == "f:1:2: error NNT0103: not valid JSON: unexpected ','; expected string literal\n");
  CHECK(errorsOf("[1}") == "f:1:3: error NNT0103: not valid JSON: unexpected '}'; expected ']'\n");
  CHECK(errorsOf("[01]") == "f:1:3: error NNT0103: not valid JSON: unexpected number literal; expected ']'\n");
  CHECK(errorsOf("{} {}") == "f:1:4: error NNT0103: not valid JSON: unexpected '{'; expected end of input\n");
}

TEST_CASE("NNT0103: a broken token is shown where it breaks", "[json]") {
  CHECK(errorsOf("[\"a\\q\"]") == "f:1:5: error NNT0103: not valid JSON: invalid string: forbidden character after "
                                  "backslash\n");
  CHECK(errorsOf("nul") == "f:1:4: error NNT0103: not valid JSON: invalid literal\n");
  CHECK(errorsOf("[1.]") == "f:1:4: error NNT0103: not valid JSON: invalid number; expected digit after '.'\n");
  CHECK(errorsOf("\"\xFF\"") == "f:1:2: error NNT0103: not valid JSON: invalid string: ill-formed UTF-8 byte\n");
  CHECK(errorsOf("'a'") == "f:1:1: error NNT0103: not valid JSON: invalid literal\n");
}

TEST_CASE("NNT0103: a text that ends too early", "[json]") {
  CHECK(errorsOf("") ==
        "f:1:1: error NNT0103: not valid JSON: unexpected end of input; expected '[', '{', or a literal\n");
  CHECK(errorsOf("[1,2\n") == "f:2:1: error NNT0103: not valid JSON: unexpected end of input; expected ']'\n");
  CHECK(errorsOf("\"abc") == "f:1:5: error NNT0103: not valid JSON: invalid string: missing closing quote\n");
}

TEST_CASE("NNT0103: a number that no double holds", "[json]") {
  CHECK(errorsOf("[1, 1e999]") == "f:1:5: error NNT0103: not valid JSON: number overflow parsing '1e999'\n");
}

TEST_CASE("NNT0103: a repeated key names both places", "[json]") {
  CHECK(errorsOf("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2},\n \"a\": 3}") ==
        "f:2:16: error NNT0103: the key \"c\" occurs twice in this object; expected one\n"
        "  f:2:8: note: it was given here first\n"
        "f:3:2: error NNT0103: the key \"a\" occurs twice in this object; expected one\n"
        "  f:1:2: note: it was given here first\n");
}

TEST_CASE("NNT0103: nesting without end is refused and not followed", "[json]") {
  const std::string message = "f:1:257: error NNT0103: not valid JSON here: nested deeper than 256 levels\n";
  CHECK(errorsOf(std::string(1000000, '[')) == message);
  Diagnostics diags;
  CHECK(parseJson(std::string(256, '[') + std::string(256, ']'), "f", diags));
  CHECK_FALSE(parseJson(std::string(257, '[') + std::string(257, ']'), "f", diags));
}

TEST_CASE("NNT0101, NNT0103: files are named in their errors", "[json]") {
  Diagnostics diags;
  CHECK_FALSE(readJsonFile("/no/such.json", diags));
  const std::string path = NNTERP_TEST_DATA "/checkpoints/tiny-text/chat_template.jinja";
  CHECK_FALSE(readJsonFile(path, diags));
  REQUIRE(diags.all().size() == 2);
  CHECK(diags.all()[0].code == "NNT0101");
  CHECK(diags.all()[1].code == "NNT0103");
  CHECK(diags.all()[1].loc.file == path);
  CHECK(diags.all()[1].loc.line == 1);
  CHECK(readJsonFile(NNTERP_TEST_DATA "/checkpoints/tiny-text/config.json", diags));
}
