// Added tokens of a tokenizer: matched in text before anything else, by the rules of the `tokenizers` library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

struct AddedToken {
  int64_t id = 0;
  std::string content;
  bool singleWord = false; ///< matches only between characters that are no word characters
  bool lstrip = false;     ///< takes the white space before it along
  bool rstrip = false;     ///< takes the white space after it along
  bool normalized = false; ///< matched in the normalised text, in its normalised form
  bool special = false;    ///< left out by a decoding that skips special tokens
};

/// Finds tokens in a text: the leftmost first, of those the longest.
class TokenMatcher {
public:
  /// `pattern` is not empty. A pattern added twice belongs to the later token.
  void add(std::string_view pattern, const AddedToken &token);

  struct Span {
    size_t begin, end;
    std::optional<int64_t> id; ///< nothing for text between tokens
  };
  /// Cuts valid UTF-8 into tokens and the text between them; nothing empty.
  std::vector<Span> split(std::string_view text) const;

private:
  struct Node {
    std::map<char, size_t> children;
    std::optional<size_t> token;
  };
  struct Match {
    size_t length, token;
  };
  std::optional<Match> longestAt(std::string_view text, size_t at) const;

  std::vector<AddedToken> tokens;
  std::vector<Node> nodes{1};
};

} // namespace nnterp
