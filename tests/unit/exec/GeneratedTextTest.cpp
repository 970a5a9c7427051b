// Tests of generated tokens as text: characters are shown whole, end tokens are not.
#include "tools/nnterp/GeneratedText.h"
#include "../weights/Fixtures.h"
#include "tools/nnterp/Ids.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static Tokenizer toyTokenizer() {
  Diagnostics diags;
  std::optional<Tokenizer> tokenizer = Tokenizer::load(data("checkpoints/toy"), diags);
  REQUIRE(tokenizer);
  return *tokenizer;
}

TEST_CASE("a character whose bytes are several tokens comes when it is whole", "[generated]") {
  const Tokenizer tokenizer = toyTokenizer();
  Diagnostics diags;
  const std::string whole = "a \xe2\x82\xac and \xf0\x9f\xa6\x8a!";
  const std::vector<int64_t> ids = tokenizer.encodeIds(whole, diags);
  TokenText text(&tokenizer);
  std::string shown;
  bool waited = false;
  for (int64_t id : ids) {
    const std::string part = text.add(id);
    waited |= part.empty();
    CHECK(part.find("\xef\xbf\xbd") == std::string::npos);
    shown += part;
  }
  CHECK(shown + text.finish() == whole);
  CHECK(waited); // else the test shows nothing
}

TEST_CASE("a character that is never whole is shown in the end", "[generated]") {
  const Tokenizer tokenizer = toyTokenizer();
  Diagnostics diags;
  std::vector<int64_t> ids = tokenizer.encodeIds("\xf0\x9f\xa6\x8a", diags);
  REQUIRE(ids.size() > 1);
  TokenText text(&tokenizer);
  CHECK(text.add(ids[0]) == "");
  CHECK(text.finish() == "\xef\xbf\xbd");
  CHECK(text.finish() == "");
  std::string shown;
  for (int i = 0; i < 10; ++i)
    shown += text.add(ids[0]);
  CHECK(shown.size() >= 8 * 3); // it does not wait for ever
}

TEST_CASE("without a tokenizer ids are the text", "[generated]") {
  TokenText text(nullptr);
  std::string shown = text.add(5);
  shown += text.add(17);
  CHECK(shown + text.finish() == "5 17");
  CHECK(textOf({"main", 0, {5, 17, 2}, true}, nullptr) == "5 17");
}

TEST_CASE("rows are told apart where there are several", "[generated]") {
  const Tokenizer tokenizer = toyTokenizer();
  const std::vector<int64_t> a = {273, 366, 611}, b = {366};
  CHECK(textOf({"main", 0, a, true}, &tokenizer) == "The capital");
  CHECK(textOf({"main", 0, a, false}, &tokenizer) == "The capital<|endoftext|>");
  CHECK(generatedText({{"main", 0, a, true}}, false, &tokenizer) == "The capital\n");
  CHECK(generatedText({{"main", 0, a, true}, {"main", 1, b, false}}, false, &tokenizer) ==
        "row 0: The capital\nrow 1:  capital\n");
  CHECK(generatedText({{"clean", 0, a, true}, {"patched", 0, b, false}}, true, &tokenizer) ==
        "clean: The capital\npatched:  capital\n");
  CHECK(generatedText({{"x", 0, b, false}, {"x", 1, b, false}, {"y", 0, b, false}}, true, &tokenizer) ==
        "x, row 0:  capital\nx, row 1:  capital\ny:  capital\n");
}

TEST_CASE("NNT1003: end tokens that are no list of ids", "[generated]") {
  Diagnostics diags;
  CHECK(parseIds(" 1, 2 ,3", {}, diags) == std::vector<int64_t>{1, 2, 3});
  for (const char *wrong : {"", "1,", ",1", "1 2", "x", "99999999999999999999"})
    CHECK_FALSE(parseIds(wrong, {"--eos", 0, 0}, diags));
  CHECK(format(diags.all()[1]) ==
        "--eos: error NNT1003: expected ids with commas between them, such as 1,2,3; found \"1,\"\n");
}
