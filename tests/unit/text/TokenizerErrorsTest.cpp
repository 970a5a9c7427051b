// One test per error code of the tokenizer, with the exact message.
#include "TinyTokenizer.h"

using namespace nnterp;

static std::string encodingErrors(const Tokenizer &tokenizer, std::string_view text) {
  Diagnostics diags;
  CHECK_FALSE(tokenizer.encode(text, diags));
  return formatted(diags);
}

TEST_CASE("NNT0401: text that is no UTF-8") {
  CHECK(encodingErrors(tokenizerOf(tinyJson()), "one\ntw\u00f6 \xff") ==
        "text:2:5: error NNT0401: the text is not UTF-8: byte 0xff at offset 9; expected a whole UTF-8 character\n");
  CHECK(encodingErrors(tokenizerOf(tinyJson()), "\xed\xa0\x80") ==
        "text:1:1: error NNT0401: the text is not UTF-8: byte 0xed at offset 0; expected a whole UTF-8 character\n");
}

TEST_CASE("NNT0402: parts of other tokenizers") {
  const std::string text = tinyJson();
  CHECK(errorsOf(replaced(text, "\"NFC\"", "\"NFKC\"")) ==
        "tokenizer.json:188:13: error NNT0402: normalizer.type is \"NFKC\", which this version does not read; expected "
        "\"NFC\"\n");
  CHECK(errorsOf(replaced(text, "\"BPE\"", "\"WordPiece\"")) ==
        "tokenizer.json:217:13: error NNT0402: model.type is \"WordPiece\", which this version does not read; expected "
        "\"BPE\"\n");
  CHECK(errorsOf(replaced(text, "\"version\": \"1.0\"", "\"version\": \"2.0\"")) ==
        "tokenizer.json:2:14: error NNT0402: version is \"2.0\", which this version does not read; expected \"1.0\"\n");
  CHECK(errorsOf(replaced(text, "\"padding\": null", "\"padding\": {}")) ==
        "tokenizer.json:4:14: error NNT0402: padding is an object, which this version does not read; expected null\n");
  CHECK(
      errorsOf(replaced(text, "\"post_processor\": null", "\"post_processor\": {\"type\": \"TemplateProcessing\"}")) ==
      "tokenizer.json:209:30: error NNT0402: post_processor.type is \"TemplateProcessing\", which this version does "
      "not read; expected \"ByteLevel\"\n");
  CHECK(errorsOf(replaced(text, "\"post_processor\"", "\"post_procesor\"")) ==
        "tokenizer.json:209:3: error NNT0402: the tokenizer has a member \"post_procesor\", which this version does "
        "not read; nearest: \"post_processor\", \"normalizer\" or \"pre_tokenizer\"\n");
  CHECK(errorsOf(replaced(text, "\"Isolated\"", "\"Removed\"")) ==
        "tokenizer.json:198:21: error NNT0402: pre_tokenizer.pretokenizers[0].behavior is \"Removed\", which this "
        "version does not read; expected \"Isolated\"\n");
  CHECK(errorsOf(replaced(text, "\"invert\": false", "\"invert\": true")) ==
        "tokenizer.json:199:19: error NNT0402: pre_tokenizer.pretokenizers[0].invert is true, which this version does "
        "not read; expected false\n");
  CHECK(errorsOf(replaced(text, "\"Regex\"", "\"String\"")) ==
        "tokenizer.json:196:11: error NNT0402: pre_tokenizer.pretokenizers[0].pattern has a member \"String\", which "
        "this version does not read; nearest: \"Regex\"\n"
        "tokenizer.json:195:20: error NNT0408: pre_tokenizer.pretokenizers[0].pattern has no \"Regex\", which has to "
        "be there\n");
  CHECK(errorsOf(replaced(text, "\"use_regex\": false", "\"use_regex\": true")) ==
        "tokenizer.json:205:22: error NNT0402: pre_tokenizer.pretokenizers[1].use_regex is true, which this version "
        "does not read; expected false\n");
  CHECK(errorsOf(replaced(text, "\"add_prefix_space\": false", "\"add_prefix_space\": true")) ==
        "tokenizer.json:203:29: error NNT0402: pre_tokenizer.pretokenizers[1].add_prefix_space is true, which this "
        "version does not read; expected false\n");
  CHECK(errorsOf(replaced(text, "\"dropout\": null", "\"dropout\": 0.1")) ==
        "tokenizer.json:218:16: error NNT0402: model.dropout is 0.1, which this version does not read; expected null, "
        "0 or 0.0\n");
  CHECK(errorsOf(replaced(text, "\"unk_token\": null", "\"unk_token\": \"<unk>\"")) ==
        "tokenizer.json:219:18: error NNT0402: model.unk_token is \"<unk>\", which this version does not read; "
        "expected null\n");
  CHECK(errorsOf(replaced(text, "\"byte_fallback\": false", "\"byte_fallback\": true")) ==
        "tokenizer.json:223:22: error NNT0402: model.byte_fallback is true, which this version does not read; expected "
        "false\n");
  CHECK(errorsOf(replaced(text, "\"continuing_subword_prefix\": null", "\"continuing_subword_prefix\": \"##\"")) ==
        "tokenizer.json:220:34: error NNT0402: model.continuing_subword_prefix is \"##\", which this version does not "
        "read; expected null or \"\"\n");
  CHECK(errorsOf(replaced(text, "\"pretokenizers\": [", "\"pretokenizers\": [{\"type\": \"Digits\"},")) ==
        "tokenizer.json:192:22: error NNT0402: pre_tokenizer.pretokenizers has 3 steps; expected 2, \"Split\" and "
        "\"ByteLevel\"\n");
}

TEST_CASE("NNT0403: a split expression that is not read the same everywhere") {
  CHECK(errorsOf(replaced(tinyJson(), "\"(?i:'s|", "\"\\\\w+|(?i:'s|")) ==
        "tokenizer.json:196:20: error NNT0403: pre_tokenizer.pretokenizers[0].pattern.Regex, byte 0: \"\\w+|(?i:'s|'\" "
        "is not supported in a split expression\n");
}

TEST_CASE("NNT0404: a vocabulary with bad ids or without a byte") {
  const std::string text = tinyJson();
  CHECK(errorsOf(replaced(text, "\"!\": 0,", "\"!\": -1,")) ==
        "tokenizer.json:226:12: error NNT0404: the vocabulary entry \"!\" has id -1; expected one from 0 to "
        "4294967294\n");
  CHECK(errorsOf(replaced(text, "\"!\": 0,", "\"!\": 5,")) ==
        "tokenizer.json:231:12: error NNT0404: the vocabulary entry \"&\" has id 5, which \"!\" has too; expected an "
        "id of its own\n"
        "  tokenizer.json:226:12: note: the other entry is here\n");
  CHECK(errorsOf(replaced(text, "\"!\": 0,", "\"?!\": 0,")) ==
        "tokenizer.json:225:14: error NNT0404: the vocabulary has no entry for byte 0x21; expected \"!\"\n");
}

TEST_CASE("NNT0405: merges that are no pairs or have no entry") {
  const std::string text = tinyJson();
  const size_t list = text.find("\"merges\": [") + 11;
  auto with = [&](const std::string &merge) { return std::string(text).insert(list, merge + ","); };
  CHECK(errorsOf(with("\"a b c\"")) == "tokenizer.json:517:16: error NNT0405: model.merges[0] is \"a b c\"; expected "
                                       "two entries, [\"a\", \"b\"] or \"a b\"\n");
  CHECK(errorsOf(with("[\"a\"]")) == "tokenizer.json:517:16: error NNT0405: model.merges[0] is an array; expected two "
                                     "entries, [\"a\", \"b\"] or \"a b\"\n");
  CHECK(errorsOf(with("7")) == "tokenizer.json:517:16: error NNT0405: model.merges[0] is an integer; expected two "
                               "entries, [\"a\", \"b\"] or \"a b\"\n");
  CHECK(errorsOf(with("[\"the\", \"q\"]")) ==
        "tokenizer.json:517:16: error NNT0405: model.merges[0] joins \"the\" and \"q\", but the vocabulary has no "
        "entry \"theq\"; nearest: \"the\", \"he\" or \"e\"\n");
}

TEST_CASE("NNT0406: added tokens out of place") {
  const std::string text = tinyJson();
  CHECK(errorsOf(replaced(text, "\"id\": 291", "\"id\": 391")) ==
        "tokenizer.json:16:13: error NNT0406: the added token \"<|im_start|>\" has id 391; expected 291, the next "
        "after the vocabulary\n");
  CHECK(errorsOf(replaced(text, "\"<|im_start|>\"", "\"the\"")) ==
        "tokenizer.json:16:13: error NNT0406: the added token \"the\" has id 291; expected 257, its id in the "
        "vocabulary\n");
  CHECK(errorsOf(replaced(text, "\"<|im_start|>\"", "\"<|endoftext|>\"")) ==
        "tokenizer.json:17:18: error NNT0406: the added token \"<|endoftext|>\" occurs twice; expected it once\n"
        "  tokenizer.json:8:18: note: it was given here first\n");
  CHECK(errorsOf(replaced(text, "\"<|im_start|>\"", "\"\"")) ==
        "tokenizer.json:17:18: error NNT0406: added_tokens[1].content is \"\"; expected a text to match\n");
  CHECK(errorsOf(replaced(text, "\"!\": 0,", "\"!\": 295,")) ==
        "tokenizer.json:52:13: error NNT0406: the added token \"<|unused_295|>\" has id 295, which the vocabulary "
        "entry \"!\" has too; expected an id of its own\n");
}

TEST_CASE("NNT0407: a split expression that takes too many steps") {
  const std::string text = replaced(tinyJson(), "\"(?i:'s|", "\"(?:a+)+b|(?i:'s|");
  CHECK(encodingErrors(tokenizerOf(text), "e\u0301\n" + std::string(60, 'a')) ==
        "text:2:1: error NNT0407: the split expression gave up at offset 4: match limit exceeded; expected a match "
        "within its limit of steps\n");
}

TEST_CASE("NNT0408: parts that are missing") {
  const std::string text = tinyJson();
  CHECK(errorsOf("{}") ==
        "tokenizer.json:1:1: error NNT0408: the tokenizer has no \"normalizer\", which has to be there\n"
        "tokenizer.json:1:1: error NNT0408: the tokenizer has no \"pre_tokenizer\", which has to be there\n"
        "tokenizer.json:1:1: error NNT0408: the tokenizer has no \"decoder\", which has to be there\n"
        "tokenizer.json:1:1: error NNT0408: the tokenizer has no \"model\", which has to be there\n");
  CHECK(errorsOf(replaced(text, "\"behavior\": \"Isolated\",", "")) ==
        "tokenizer.json:193:7: error NNT0408: pre_tokenizer.pretokenizers[0] has no \"behavior\"; expected "
        "\"Isolated\"\n");
  CHECK(errorsOf(replaced(text, "\"lstrip\": false,", "")) ==
        "tokenizer.json:6:5: error NNT0408: added_tokens[0] has no \"lstrip\"; expected false or true\n");
}

TEST_CASE("NNT0104: values of another type") {
  const std::string text = tinyJson();
  CHECK(errorsOf("[]") == "tokenizer.json:1:1: error NNT0104: the tokenizer is an array; expected an object\n");
  CHECK(errorsOf(replaced(text, "\"!\": 0,", "\"!\": \"0\",")) ==
        "tokenizer.json:226:12: error NNT0104: model.vocab[\"!\"] is a string; expected an integer\n");
  CHECK(errorsOf(replaced(text, "\"id\": 291", "\"id\": \"291\"")) ==
        "tokenizer.json:16:13: error NNT0104: added_tokens[1].id is a string; expected an integer\n");
  CHECK(errorsOf(replaced(text, "\"added_tokens\": [", "\"truncation\": null, \"added_tokens\": [")).find("NNT0103") !=
        std::string::npos);
}

TEST_CASE("NNT0101: no tokenizer.json") {
  Diagnostics diags;
  CHECK_FALSE(Tokenizer::load(NNTERP_TEST_DATA "/checkpoints/tiny-heads", diags));
  REQUIRE(diags.all().size() == 1);
  CHECK(diags.all()[0].code == "NNT0101");
}

TEST_CASE("all errors of a file are reported in one go") {
  std::string text = replaced(tinyJson(), "\"NFC\"", "\"NFD\"");
  text = replaced(text, "\"use_regex\": false", "\"use_regex\": true");
  text = replaced(text, "\"byte_fallback\": false", "\"byte_fallback\": true");
  Diagnostics diags;
  CHECK_FALSE(readTokenizer(text, diags));
  CHECK(diags.all().size() == 3);
}
