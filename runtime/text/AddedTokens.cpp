// Matches added tokens with a trie, and applies their flags to what was found.
#include "runtime/text/AddedTokens.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace nnterp {

void TokenMatcher::add(std::string_view pattern, const AddedToken &token) {
  size_t node = 0;
  for (char c : pattern) {
    auto [it, isNew] = nodes[node].children.emplace(c, nodes.size());
    node = it->second;
    if (isNew)
      nodes.emplace_back();
  }
  nodes[node].token = tokens.size();
  tokens.push_back(token);
}

std::optional<TokenMatcher::Match> TokenMatcher::longestAt(std::string_view text, size_t at) const {
  std::optional<Match> best;
  size_t node = 0;
  for (size_t i = at; i < text.size(); ++i) {
    auto it = nodes[node].children.find(text[i]);
    if (it == nodes[node].children.end())
      break;
    node = it->second;
    if (nodes[node].token)
      best = Match{i + 1 - at, *nodes[node].token};
  }
  return best;
}

static bool betweenWords(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !isWord(readUtf8Before(text, begin).value)) &&
         (end == text.size() || !isWord(readUtf8(text, end).value));
}

/// Where the white space before `end` begins, not before `floor`.
static size_t spaceBegin(std::string_view text, size_t floor, size_t end) {
  while (end > floor) {
    Utf8Char c = readUtf8Before(text, end);
    if (!isSpace(c.value))
      break;
    end -= c.length;
  }
  return end;
}

static size_t spaceEnd(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    Utf8Char c = readUtf8(text, begin);
    if (!isSpace(c.value))
      break;
    begin += c.length;
  }
  return begin;
}

std::vector<TokenMatcher::Span> TokenMatcher::split(std::string_view text) const {
  std::vector<Span> spans;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    std::optional<Match> match = longestAt(text, at);
    if (!match) {
      ++at;
      continue;
    }
    const AddedToken &token = tokens[match->token];
    size_t begin = at, end = at + match->length;
    at = end; // a match refused below is not tried again from inside: the library does not either
    if (token.singleWord && !betweenWords(text, begin, end))
      continue;
    if (token.lstrip)
      begin = std::min(std::max(spaceBegin(text, done, begin), done), end);
    if (token.rstrip)
      end = spaceEnd(text, end);
    if (done < begin)
      spans.push_back({done, begin, std::nullopt});
    spans.push_back({begin, end, token.id});
    done = end;
  }
  if (done < text.size())
    spans.push_back({done, text.size(), std::nullopt});
  return spans;
}

} // namespace nnterp
