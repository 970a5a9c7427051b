// The tokenizer as a whole, against the reference's strings, ids and decodings.
#include "TinyTokenizer.h"

#include <chrono>
#include <sstream>
#include <thread>

using namespace nnterp;

using Ids = std::vector<int64_t>;

static Tokenizer load(const std::string &checkpoint) {
  Diagnostics diags;
  auto tokenizer = Tokenizer::load(NNTERP_TEST_DATA "/checkpoints/" + checkpoint, diags);
  INFO(formatted(diags));
  REQUIRE(tokenizer);
  return *tokenizer;
}

static Json data(const std::string &name) {
  Diagnostics diags;
  auto json = readJsonFile(NNTERP_TEST_DATA "/text/" + name, diags);
  REQUIRE(json);
  return *json;
}

static Ids integers(const Json &list) {
  Ids ids;
  for (const Json &value : list.array)
    ids.push_back(value.integer);
  return ids;
}

/// "id:begin-end …"
static std::string shown(const Tokenizer &tokenizer, std::string_view text) {
  Diagnostics diags;
  auto tokens = tokenizer.encode(text, diags);
  INFO(formatted(diags));
  REQUIRE(tokens);
  std::ostringstream out;
  for (const Token &token : *tokens)
    out << (out.tellp() > 0 ? " " : "") << token.id << ":" << token.begin << "-" << token.end;
  return out.str();
}

TEST_CASE("the reference's ids and decodings, exactly") {
  for (const char *checkpoint : {"tiny-text", "tiny-vl"}) {
    const Tokenizer tokenizer = load(checkpoint);
    const Json cases = data("tokenizer.json");
    REQUIRE(cases.array.size() > 20);
    for (const Json &entry : cases.array) {
      const std::string &text = entry.find("text")->string;
      INFO(text);
      Diagnostics diags;
      const Ids ids = tokenizer.encodeIds(text, diags);
      CHECK(ids == integers(*entry.find("ids")));
      CHECK(tokenizer.decode(ids) == entry.find("decoded")->string);
      CHECK(tokenizer.decode(ids, true) == entry.find("decoded_skipping_special")->string);
      CHECK(diags.all().empty());
    }
  }
}

TEST_CASE("the toy checkpoint's prompts and continuations") {
  const Tokenizer tokenizer = load("toy");
  const Json prompts = data("toy.json");
  REQUIRE(!prompts.array.empty());
  for (const Json &entry : prompts.array) {
    Diagnostics diags;
    CHECK(tokenizer.encodeIds(entry.find("prompt")->string, diags) == integers(*entry.find("ids")));
    CHECK(tokenizer.decode(integers(*entry.find("tokens"))) == entry.find("text")->string);
  }
  const std::string anna = prompts.array[0].find("next")->array[0].array[0].string;
  CHECK(tokenizer.piece(380) == anna);
}

TEST_CASE("names, ids and size") {
  const Tokenizer tokenizer = load("tiny-text");
  CHECK(tokenizer.size() == 310);
  CHECK(tokenizer.idOf("<|im_start|>") == 291);
  CHECK(tokenizer.idOf("\u0120the") == 258);
  CHECK_FALSE(tokenizer.idOf(" the"));
  CHECK(tokenizer.piece(258) == " the");
  CHECK(tokenizer.piece(291) == "<|im_start|>");
  CHECK(tokenizer.piece(1000).empty());
  CHECK(tokenizer.piece(-1).empty());
}

TEST_CASE("offsets are bytes of the text given") {
  const Tokenizer tokenizer = load("tiny-text");
  CHECK(shown(tokenizer, "") == "");
  CHECK(shown(tokenizer, "the the") == "257:0-3 258:3-7");
  CHECK(shown(tokenizer, "a<|im_end|>b") == "64:0-1 292:1-11 65:11-12");
  // é from two characters: both of its bytes stand for the three bytes there; then b.
  CHECK(shown(tokenizer, "e\u0301b") == "127:0-3 102:0-3 65:3-4");
  CHECK(shown(tokenizer, "b<think>e\u0301b") == "65:0-1 308:1-8 127:8-11 102:8-11 65:11-12");
  CHECK(shown(tokenizer, "\u00e9") == "127:0-1 102:1-2");
}

TEST_CASE("text between added tokens is normalised and split on its own") {
  const Tokenizer tokenizer = load("tiny-text");
  // The accent does not reach over the token.
  CHECK(shown(tokenizer, "e<think>\u0301") == "68:0-1 308:1-8 136:8-9 223:9-10");
}

TEST_CASE("incomplete characters decode to U+FFFD, and complete when the rest follows") {
  const Tokenizer tokenizer = load("tiny-text");
  Diagnostics diags;
  const Ids ids = tokenizer.encodeIds("\U0001f642", diags);
  REQUIRE(ids.size() == 4);
  CHECK(tokenizer.decode(ids) == "\U0001f642");
  CHECK(tokenizer.decode({ids[0], ids[1], ids[2]}) == "\ufffd");
  CHECK(tokenizer.decode({ids[1]}) == "\ufffd");
  CHECK(tokenizer.decode({ids[0], 64, ids[3]}) == "\ufffda\ufffd");
  CHECK(tokenizer.piece(ids[0]) == "\ufffd");
  CHECK(tokenizer.decode({64, 99999, -5, 65}) == "ab"); // unknown ids are nothing
}

TEST_CASE("special tokens are those that say so") {
  const Tokenizer tokenizer = load("tiny-text");
  CHECK(tokenizer.decode({291, 64, 308, 292}, true) == "a<think>");
  CHECK(tokenizer.decode({291, 64, 308, 292}) == "<|im_start|>a<think><|im_end|>");
}

static std::string addedToken(int id, const std::string &content, const std::string &flags) {
  auto flag = [&](char c) { return flags.find(c) == std::string::npos ? "false" : "true"; };
  return "{\"id\": " + std::to_string(id) + ", \"content\": " + Json::of(content).dump() +
         ", \"single_word\": " + flag('w') + ", \"lstrip\": " + flag('l') + ", \"rstrip\": " + flag('r') +
         ", \"normalized\": " + flag('n') + ", \"special\": " + flag('s') + "}";
}

TEST_CASE("normalized tokens match the normalised text, others the text as it is") {
  const std::string list = addedToken(290, "e\u0301", "n") + "," + addedToken(291, "o\u0301", "") + "," +
                           addedToken(292, "<w>", "wls") + "," + addedToken(257, "the", "n");
  std::string text = tinyJson();
  const size_t begin = text.find("\"added_tokens\""), end = text.find("\"normalizer\"");
  text.replace(begin, end - begin, "\"added_tokens\": [" + list + "], ");
  const Tokenizer tokenizer = tokenizerOf(text);
  CHECK(tokenizer.size() == 293); // "the" is an entry already
  CHECK(shown(tokenizer, "\u00e9") == "290:0-2");
  CHECK(shown(tokenizer, "xe\u0301y") == "87:0-1 290:1-4 88:4-5");
  CHECK(shown(tokenizer, "o\u0301") == "291:0-3");
  CHECK(shown(tokenizer, "\u00f3") == "127:0-1 111:1-2");
  CHECK(shown(tokenizer, "a  <w>") == "64:0-1 292:1-6");
  CHECK(shown(tokenizer, "a<w>") == "64:0-1 27:1-2 86:2-3 29:3-4");
  CHECK(shown(tokenizer, " then") == "220:0-1 257:1-4 77:4-5");
  CHECK(tokenizer.decode({290, 257, 292}, true) == "\ufffdthe"); // the letter é stands for a byte, as in the reference
}

TEST_CASE("ignore_merges takes a piece that is an entry whole") {
  std::string text = replaced(tinyJson(), "\"ignore_merges\": false", "\"ignore_merges\": true");
  text = replaced(text, "\"!\": 0,", "\"!\": 0, \"\u0120xq\": 290,");
  const size_t begin = text.find("\"added_tokens\""), end = text.find("\"normalizer\"");
  text.erase(begin, end - begin);
  CHECK(shown(tokenizerOf(text), "the xq") == "257:0-3 290:3-6");
  CHECK(shown(tokenizerOf(replaced(text, "\"ignore_merges\": true", "\"ignore_merges\": false")), "the xq") ==
        "257:0-3 220:3-4 87:4-5 80:5-6");
}

TEST_CASE("merges may be written as strings, with the heading of merges.txt") {
  std::string text = tinyJson();
  const size_t begin = text.find("\"merges\""), end = text.rfind(']');
  text.replace(begin, end - begin + 1, R"("merges": ["#version: 0.2", "h e", "t he"])");
  CHECK(shown(tokenizerOf(text), "the the") == "257:0-3 220:3-4 257:4-7");
}

TEST_CASE("one tokenizer serves several threads") {
  const Tokenizer tokenizer = load("tiny-text");
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "The cat sat on the mat, e\u0301 <think> 123. ";
  Diagnostics diags;
  const Ids expected = tokenizer.encodeIds(text, diags);
  std::vector<Ids> results(4);
  std::vector<std::thread> threads;
  for (Ids &result : results)
    threads.emplace_back([&] {
      Diagnostics own;
      result = tokenizer.encodeIds(text, own);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Ids &result : results)
    CHECK(result == expected);
}

TEST_CASE("a vocabulary of 248 thousand entries loads at once") {
  std::string vocab, merges;
  const std::string base = "abcdefghijklmnopqrstuvwxyz";
  std::vector<std::string> entries;
  for (char c : base)
    entries.emplace_back(1, c);
  std::string text = tinyJson();
  const Tokenizer tiny = tokenizerOf(text);
  int64_t id = 290;
  for (size_t i = 0; id < 248000; ++i)
    for (char c : base) { // breadth first: all strings of 2, 3, … letters
      const std::string entry = entries[i] + c;
      entries.push_back(entry);
      if (tiny.idOf(entry))
        continue;
      vocab += "\"" + entry + "\": " + std::to_string(id++) + ", ";
      merges += ", [\"" + entries[i] + "\", \"" + c + "\"]";
    }
  text = replaced(text, "\"vocab\": {", "\"vocab\": {" + vocab);
  text.insert(text.rfind(']'), merges);
  const size_t begin = text.find("\"added_tokens\""), end = text.find("\"normalizer\"");
  text.erase(begin, end - begin);
  const auto start = std::chrono::steady_clock::now();
  const Tokenizer tokenizer = tokenizerOf(text);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  INFO(seconds.count());
  CHECK(seconds.count() < 10); // a second in a release build on a free machine; sanitizers are slower
  CHECK(tokenizer.size() == id);
  CHECK(shown(tokenizer, "abc").find(' ') == std::string::npos);
}
