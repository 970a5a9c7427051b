// Reads tokenizer.json of this family (spec/qwen3_5_moe.md 6.1) and refuses every part that would change the result.
#include "runtime/text/PartReader.h"
#include "runtime/text/TokenizerParts.h"
#include "runtime/text/Utf8.h"

#include <unordered_map>

namespace nnterp {

namespace {

using Kind = Json::Kind;

const std::vector<std::string_view> anyBoolean = {"false", "true"};
const std::vector<std::string_view> noneOrEmpty = {"null", "\"\""};

class TokenizerReader : PartReader {
public:
  explicit TokenizerReader(Diagnostics &diags) : PartReader(diags) {}

  std::optional<TokenizerParts> read(const Json &json) {
    if (!json.isObject()) {
      hasKind(json, "", Kind::object);
      return std::nullopt;
    }
    check(json, "",
          {{"version", {"\"1.0\""}, true},
           {"truncation", {"null"}, true},
           {"padding", {"null"}, true},
           {"added_tokens", {}, true},
           {"normalizer"},
           {"pre_tokenizer"},
           {"post_processor", {}, true},
           {"decoder"},
           {"model"}});
    if (const Json *part = json.find("normalizer"))
      check(*part, "normalizer", {{"type", {"\"NFC\""}}});
    if (const Json *part = json.find("pre_tokenizer"))
      readPreTokenizer(*part);
    if (const Json *part = json.find("post_processor"); part && part->kind != Kind::null)
      checkByteLevel(*part, "post_processor");
    if (const Json *part = json.find("decoder"))
      checkByteLevel(*part, "decoder");
    const Json *model = json.find("model");
    const bool vocabularyGood = model && readModel(*model);
    if (const Json *tokens = json.find("added_tokens"); tokens && hasKind(*tokens, "added_tokens", Kind::array))
      readAddedTokens(tokens->array, vocabularyGood);
    return good() ? std::optional(std::move(parts)) : std::nullopt;
  }

private:
  /// As decoder or post-processor, where the options change nothing that is read here.
  void checkByteLevel(const Json &part, const std::string &path) {
    check(part, path,
          {{"type", {"\"ByteLevel\""}},
           {"add_prefix_space", anyBoolean, true},
           {"trim_offsets", anyBoolean, true},
           {"use_regex", anyBoolean, true}});
  }

  void readPreTokenizer(const Json &part) {
    const std::string path = "pre_tokenizer";
    if (!check(part, path, {{"type", {"\"Sequence\""}}, {"pretokenizers"}}))
      return;
    const Json *list = member(part, path, "pretokenizers", Kind::array);
    if (!list)
      return;
    if (list->array.size() != 2) {
      error("NNT0402", list->loc,
            "pre_tokenizer.pretokenizers has " + std::to_string(list->array.size()) +
                " steps; expected 2, \"Split\" and \"ByteLevel\"");
      return;
    }
    const std::string first = path + ".pretokenizers[0]", second = path + ".pretokenizers[1]";
    if (check(list->array[0], first,
              {{"type", {"\"Split\""}}, {"pattern"}, {"behavior", {"\"Isolated\""}}, {"invert", {"false"}}}))
      readPattern(*list->array[0].find("pattern"), first + ".pattern");
    check(list->array[1], second,
          {{"type", {"\"ByteLevel\""}},
           {"add_prefix_space", {"false"}},
           {"trim_offsets", anyBoolean, true},
           {"use_regex", {"false"}}});
  }

  void readPattern(const Json &pattern, const std::string &path) {
    if (!check(pattern, path, {{"Regex"}}))
      return;
    const Json *expression = member(pattern, path, "Regex", Kind::string);
    if (!expression)
      return;
    SplitError problem;
    if (std::optional<SplitExpression> compiled = SplitExpression::compile(expression->string, problem))
      parts.split = std::move(*compiled);
    else
      error("NNT0403", expression->loc,
            join(path, "Regex") + ", byte " + std::to_string(problem.at) + ": " + problem.message);
  }

  /// Whether the vocabulary can be used to check the rest.
  bool readModel(const Json &model) {
    if (!check(model, "model",
               {{"type", {"\"BPE\""}},
                {"dropout", {"null", "0", "0.0"}, true},
                {"unk_token", {"null"}, true},
                {"continuing_subword_prefix", noneOrEmpty, true},
                {"end_of_word_suffix", noneOrEmpty, true},
                {"fuse_unk", anyBoolean, true}, // nothing is unknown
                {"byte_fallback", {"false"}, true},
                {"ignore_merges", anyBoolean, true},
                {"vocab"},
                {"merges"}}))
      return false;
    if (const Json *ignore = model.find("ignore_merges"))
      parts.ignoreMerges = ignore->boolean;
    const Json *vocab = member(model, "model", "vocab", Kind::object);
    const Json *merges = member(model, "model", "merges", Kind::array);
    if (!vocab || !readVocabulary(*vocab))
      return false;
    if (merges)
      readMerges(merges->array);
    return true;
  }

  /// Reports the first bad entry only: a broken vocabulary has as many as it has entries.
  bool readVocabulary(const Json &vocab) {
    parts.vocabulary.reserve(vocab.object.size());
    for (const Json::Member &entry : vocab.object) {
      if (entry.value.kind != Kind::integer)
        return hasKind(entry.value, "model.vocab[" + quoted(entry.key) + "]", Kind::integer);
      if (entry.value.integer < 0 || entry.value.integer >= UINT32_MAX) {
        error("NNT0404", entry.value.loc,
              "the vocabulary entry " + quoted(entry.key) + " has id " + std::to_string(entry.value.integer) +
                  "; expected one from 0 to 4294967294");
        return false;
      }
      parts.vocabulary.add(entry.key, uint32_t(entry.value.integer)); // keys of an object are distinct
    }
    if (std::optional<uint32_t> id = parts.vocabulary.finish())
      return reportSharedId(vocab, *id);
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string letter;
      appendUtf8(letter, byteToLetter(uint8_t(byte)));
      std::optional<uint32_t> id = parts.vocabulary.idOf(letter);
      if (id)
        parts.bpe.setByte(uint8_t(byte), *id);
      const bool occursInText = byte < 0xC0 || (byte > 0xC1 && byte < 0xF5);
      if (!id && occursInText) {
        error("NNT0404", vocab.loc,
              "the vocabulary has no entry for byte " + hexByte(uint8_t(byte)) + "; expected " + quoted(letter));
        return false;
      }
    }
    return true;
  }

  bool reportSharedId(const Json &vocab, uint32_t id) {
    std::vector<const Json::Member *> sharing;
    for (const Json::Member &entry : vocab.object)
      if (entry.value.integer == id)
        sharing.push_back(&entry);
    error("NNT0404", sharing[1]->value.loc,
          "the vocabulary entry " + quoted(sharing[1]->key) + " has id " + std::to_string(id) + ", which " +
              quoted(sharing[0]->key) + " has too; expected an id of its own")
        .notes.push_back({sharing[0]->value.loc, "the other entry is here"});
    return false;
  }

  /// Reports the first bad merge only, for the same reason.
  void readMerges(const std::vector<Json> &merges) {
    parts.bpe.reserve(merges.size());
    uint32_t rank = 0;
    for (size_t i = 0; i < merges.size(); ++i) {
      if (merges[i].isString() && merges[i].string.compare(0, 8, "#version") == 0)
        continue; // the heading of the older merges.txt
      std::optional<std::pair<std::string, std::string>> pair = readPair(merges[i], i);
      if (!pair || !addMerge(*pair, rank++, merges[i].loc, i))
        return;
    }
  }

  static std::string mergePath(size_t index) { return "model.merges[" + std::to_string(index) + "]"; }

  std::optional<std::pair<std::string, std::string>> readPair(const Json &merge, size_t index) {
    if (merge.isArray() && merge.array.size() == 2 && merge.array[0].isString() && merge.array[1].isString())
      return std::pair(merge.array[0].string, merge.array[1].string);
    const size_t space = merge.isString() ? merge.string.find(' ') : std::string::npos;
    if (space != std::string::npos && merge.string.find(' ', space + 1) == std::string::npos)
      return std::pair(merge.string.substr(0, space), merge.string.substr(space + 1));
    error("NNT0405", merge.loc,
          mergePath(index) + " is " + (merge.isString() ? quoted(merge.string) : std::string(kindName(merge.kind))) +
              "; expected two entries, [\"a\", \"b\"] or \"a b\"");
    return std::nullopt;
  }

  bool addMerge(const std::pair<std::string, std::string> &pair, uint32_t rank, const SourceLoc &loc, size_t index) {
    const std::string joined = pair.first + pair.second;
    std::optional<uint32_t> ids[3];
    size_t i = 0;
    for (const std::string *entry : {&pair.first, &pair.second, &joined}) {
      ids[i] = parts.vocabulary.idOf(*entry);
      if (!ids[i++]) {
        error("NNT0405", loc,
              mergePath(index) + " joins " + quoted(pair.first) + " and " + quoted(pair.second) +
                  ", but the vocabulary has no entry " + quoted(*entry) +
                  "; nearest: " + joinOr(nearest(*entry, parts.vocabulary.all())));
        return false;
      }
    }
    parts.bpe.addMerge(*ids[0], *ids[1], rank, *ids[2]);
    return true;
  }

  /// Ids are checked as long as all went well: each depends on the tokens before it.
  void readAddedTokens(const std::vector<Json> &list, bool checkIds) {
    int64_t nextId = int64_t(parts.vocabulary.size());
    std::unordered_map<std::string, SourceLoc> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string path = "added_tokens[" + std::to_string(i) + "]";
      std::optional<AddedToken> token = readAddedToken(list[i], path);
      if (!token) {
        checkIds = false;
        continue;
      }
      const SourceLoc &loc = list[i].find("content")->loc;
      if (auto [it, isNew] = seen.emplace(token->content, loc); !isNew) {
        error("NNT0406", loc, "the added token " + quoted(token->content) + " occurs twice; expected it once")
            .notes.push_back({it->second, "it was given here first"});
        checkIds = false;
        continue;
      }
      if (checkIds)
        checkIds = checkId(*token, list[i].find("id")->loc, nextId);
      parts.added.push_back(std::move(*token));
    }
  }

  /// The `tokenizers` library ignores the ids of added tokens: it takes the vocabulary's, or counts on from its size.
  bool checkId(const AddedToken &token, const SourceLoc &loc, int64_t &nextId) {
    std::optional<uint32_t> inVocabulary = parts.vocabulary.idOf(token.content);
    const int64_t expected = inVocabulary ? int64_t(*inVocabulary) : nextId++;
    const std::string *other = inVocabulary ? nullptr : parts.vocabulary.entryOf(expected);
    const std::string subject = "the added token " + quoted(token.content) + " has id " + std::to_string(token.id);
    if (token.id != expected) {
      error("NNT0406", loc,
            subject + "; expected " + std::to_string(expected) +
                (inVocabulary ? ", its id in the vocabulary" : ", the next after the vocabulary"));
      return false;
    }
    if (other) {
      error("NNT0406", loc,
            subject + ", which the vocabulary entry " + quoted(*other) + " has too; expected an id of its own");
      return false;
    }
    return true;
  }

  std::optional<AddedToken> readAddedToken(const Json &json, const std::string &path) {
    if (!check(json, path,
               {{"id"},
                {"content"},
                {"single_word", anyBoolean},
                {"lstrip", anyBoolean},
                {"rstrip", anyBoolean},
                {"normalized", anyBoolean},
                {"special", anyBoolean}}))
      return std::nullopt;
    const Json *id = member(json, path, "id", Kind::integer);
    const Json *content = member(json, path, "content", Kind::string);
    if (!id || !content)
      return std::nullopt;
    if (content->string.empty() || findInvalidUtf8(content->string)) {
      error("NNT0406", content->loc, path + ".content is " + quoted(content->string) + "; expected a text to match");
      return std::nullopt;
    }
    auto flag = [&](std::string_view key) { return json.find(key)->boolean; };
    return AddedToken{id->integer,    content->string,    flag("single_word"), flag("lstrip"),
                      flag("rstrip"), flag("normalized"), flag("special")};
  }

  TokenizerParts parts;
};

} // namespace

std::optional<TokenizerParts> readTokenizer(const Json &json, Diagnostics &diags) {
  return TokenizerReader(diags).read(json);
}

} // namespace nnterp
