// nnterp tokenize and nnterp detokenize
#include "runtime/text/Tokenizer.h"
#include "tools/nnterp/Commands.h"
#include "tools/nnterp/PreparePlan.h"
#include "tools/nnterp/Terminal.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace nnterp {

static std::optional<std::string> readStandardInput(Diagnostics &diags) {
  std::string text;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, stdin))
    text.append(buffer, count);
  if (!std::ferror(stdin))
    return text;
  diags.error("NNT0101", {"standard input", 0, 0}, std::string("cannot read it: ") + std::strerror(errno));
  return std::nullopt;
}

int tokenizeCommand(const std::string &checkpoint, bool json) {
  Diagnostics diags;
  std::optional<Tokenizer> tokenizer = Tokenizer::load(checkpointFolder(checkpoint), diags);
  const std::optional<std::string> text = tokenizer ? readStandardInput(diags) : std::nullopt;
  if (!text)
    return report(diags);
  std::optional<std::vector<Token>> tokens = tokenizer->encode(*text, diags);
  if (!tokens) {
    for (Diagnostic &problem : diags.all())
      problem.loc.file = "standard input"; // places in a text carry no file's name
    return report(diags);
  }
  std::vector<Json> ids, pieces, offsets;
  std::string line;
  for (const Token &token : *tokens) {
    ids.push_back(Json::of(token.id));
    pieces.push_back(Json::of(tokenizer->decode({token.id})));
    offsets.push_back(Json::list({Json::of(int64_t(token.begin)), Json::of(int64_t(token.end))}));
    line += (line.empty() ? "" : " ") + std::to_string(token.id);
  }
  Json result = Json::dict();
  result.add("ids", Json::list(std::move(ids)))
      .add("pieces", Json::list(std::move(pieces)))
      .add("offsets", Json::list(std::move(offsets)));
  return print((json ? result.dump() : line) + "\n");
}

int detokenizeCommand(const std::string &checkpoint, bool skipSpecial) {
  Diagnostics diags;
  std::optional<Tokenizer> tokenizer = Tokenizer::load(checkpointFolder(checkpoint), diags);
  const std::optional<std::string> text = tokenizer ? readStandardInput(diags) : std::nullopt;
  if (!text)
    return report(diags);
  std::vector<int64_t> ids;
  const char *at = text->data(), *end = at + text->size();
  int line = 1;
  const char *lineStart = at;
  while (at != end) {
    if (*at == '\n')
      ++line, lineStart = at + 1;
    if (*at == ' ' || *at == ',' || *at == '\n' || *at == '\t' || *at == '\r') {
      ++at;
      continue;
    }
    int64_t id = 0;
    auto [stop, failure] = std::from_chars(at, end, id);
    const SourceLoc loc{"standard input", line, int(at - lineStart) + 1};
    if (failure != std::errc()) {
      diags.error("NNT1003", loc, "expected token ids, separated by blanks or commas");
      break;
    }
    if (id < 0 || id >= tokenizer->size())
      diags.error("NNT1005", loc,
                  "id " + std::to_string(id) + " is outside the vocabulary (0 to " +
                      std::to_string(tokenizer->size() - 1) + ")");
    ids.push_back(id);
    at = stop;
  }
  if (diags.hasErrors())
    return report(diags);
  return print(tokenizer->decode(ids, skipSpecial));
}

} // namespace nnterp
