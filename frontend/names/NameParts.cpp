// Splits names and replaces word aliases: spec/plan.md section 3.
#include "frontend/names/NameParts.h"

#include <utility>
#include <vector>

namespace nnterp {

namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  for (size_t start = 0;;) {
    size_t dot = text.find('.', start);
    list.emplace_back(text.substr(start, dot == std::string_view::npos ? dot : dot - start));
    if (dot == std::string_view::npos)
      return list;
    start = dot + 1;
  }
}

std::string joined(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &word : list)
    text += (text.empty() && &word == &list.front() ? "" : ".") + word;
  return text;
}

void replaceWord(std::string &word, std::initializer_list<std::pair<const char *, const char *>> aliases) {
  for (auto [from, to] : aliases)
    if (word == from) {
      word = to;
      return;
    }
}

/// `router` = `gate` and `shared_experts` = `shared_expert`, both children of the mixture.
std::string blockKey(std::string_view rest) {
  auto list = words(rest);
  if (list.size() > 2 && list[0] == "mlp")
    replaceWord(list[1], {{"gate", "router"}, {"shared_expert", "shared_experts"}});
  return joined(list);
}

std::string towerKey(std::string_view rest) {
  auto list = words(rest);
  for (std::string &word : list)
    replaceWord(word, {{"attn", "self_attn"},
                       {"proj", "o_proj"},
                       {"linear_fc2", "down_proj"},
                       {"norm1", "input_layernorm"},
                       {"norm2", "post_attention_layernorm"}});
  return joined(list);
}

std::string modelKey(std::string_view rest) {
  auto list = words(rest);
  replaceWord(list[0], {{"merger", "projector"}});
  if (list[0] == "projector" && list.size() > 2)
    replaceWord(list[1], {{"linear_fc2", "down_proj"}});
  return joined(list);
}

/// Cuts `#12` from the end; returns its digits (or the table's own `i`).
std::string cutSegment(std::string &rest) {
  size_t hash = rest.rfind('#');
  if (hash == std::string::npos || hash + 1 == rest.size())
    return "";
  std::string digits = rest.substr(hash + 1);
  if (digits != "i" && digits.find_first_not_of("0123456789") != std::string::npos)
    return "";
  rest.resize(hash);
  return digits;
}

} // namespace

NameParts splitName(std::string_view pattern) {
  NameParts parts;
  std::string_view behind;
  auto startsWith = [&](std::string_view word) {
    if (pattern.substr(0, word.size()) != word)
      return false;
    behind = pattern.substr(word.size());
    return behind.empty() || behind[0] == '[' || behind[0] == '.';
  };
  std::string_view host;
  if (startsWith("layers")) {
    parts.scope = NameParts::Scope::block;
    host = "layers";
  } else if (startsWith("vision.layers") || startsWith("vision.blocks") || startsWith("visual.blocks")) {
    parts.scope = NameParts::Scope::tower;
    host = "vision.layers";
  } else {
    parts.rest = pattern;
    parts.key = modelKey(pattern);
    return parts;
  }

  size_t close = behind.find(']');
  if (behind.empty() || behind[0] != '[' || close == std::string_view::npos ||
      (close + 1 < behind.size() && behind[close + 1] != '.')) {
    parts.malformed = true;
    parts.rest = behind;
    return parts;
  }
  parts.index = behind.substr(1, close - 1);
  parts.prefix = std::string(host) + "[" + parts.index + "].";
  parts.rest = close + 2 <= behind.size() ? behind.substr(close + 2) : std::string_view();
  if (parts.scope == NameParts::Scope::block) {
    parts.key = "layers[]." + blockKey(parts.rest);
    return parts;
  }
  std::string rest = parts.rest;
  parts.segment = cutSegment(rest);
  parts.key = "vision.layers[]." + towerKey(rest) + (parts.segment.empty() ? "" : "#i");
  return parts;
}

} // namespace nnterp
