// Checks parts of tokenizer.json against the members and values that are known.
#include "runtime/text/PartReader.h"

#include <algorithm>

namespace nnterp {

std::string join(const std::string &path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

std::string quoted(std::string_view text) { return Json::of(std::string(text)).dump(); }

static std::string subject(const std::string &path) { return path.empty() ? "the tokenizer" : path; }

static std::string expectation(const std::vector<std::string_view> &allowed) {
  std::string text;
  for (size_t i = 0; i < allowed.size(); ++i)
    text.append(i == 0 ? "" : i + 1 < allowed.size() ? ", " : " or ").append(allowed[i]);
  return text;
}

Diagnostic &PartReader::error(std::string code, const SourceLoc &loc, std::string message) {
  failed = true;
  return diags.error(std::move(code), loc, std::move(message));
}

void PartReader::missing(const Json &part, const std::string &path, std::string_view key, const std::string &expected) {
  error("NNT0408", part.loc,
        subject(path) + " has no \"" + std::string(key) + "\"" +
            (expected.empty() ? ", which has to be there" : "; expected " + expected));
}

bool PartReader::hasKind(const Json &value, const std::string &path, Json::Kind kind) {
  if (value.kind == kind)
    return true;
  error("NNT0104", value.loc,
        subject(path) + " is " + std::string(kindName(value.kind)) + "; expected " + std::string(kindName(kind)));
  return false;
}

const Json *PartReader::member(const Json &part, const std::string &path, std::string_view key, Json::Kind kind) {
  const Json *value = part.find(key);
  if (!value)
    missing(part, path, key, std::string(kindName(kind)));
  return value && hasKind(*value, join(path, key), kind) ? value : nullptr;
}

bool PartReader::check(const Json &part, const std::string &path, const std::vector<PartOption> &options) {
  if (!hasKind(part, path, Json::Kind::object))
    return false;
  bool all = true;
  std::vector<std::string> known;
  for (const PartOption &option : options)
    known.emplace_back(option.key);
  for (const Json::Member &member : part.object)
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      all = false;
      error("NNT0402", member.keyLoc,
            subject(path) + " has a member " + quoted(member.key) +
                ", which this version does not read; nearest: " + joinOr(nearest(member.key, known)));
    }
  for (const PartOption &option : options) {
    const Json *value = part.find(option.key);
    if (!value && !option.optional)
      missing(part, path, option.key, expectation(option.allowed)), all = false;
    if (!value || option.allowed.empty())
      continue;
    const bool scalar = !value->isArray() && !value->isObject();
    const std::string found = scalar ? value->dump() : std::string(kindName(value->kind));
    if (scalar && std::find(option.allowed.begin(), option.allowed.end(), found) != option.allowed.end())
      continue;
    all = false;
    error("NNT0402", value->loc,
          join(path, option.key) + " is " + found + ", which this version does not read; expected " +
              expectation(option.allowed));
  }
  return all;
}

} // namespace nnterp
