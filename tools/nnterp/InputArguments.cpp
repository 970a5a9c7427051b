// Reads prompts given as text, ids or file.
#include "tools/nnterp/InputArguments.h"
#include "runtime/text/Tokenizer.h"
#include "tools/nnterp/PreparePlan.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace nnterp {

namespace {

/// The one input that a plan without worlds reads.
constexpr const char *mainInput = "main";

const char *flagOf(InputKind kind) {
  return kind == InputKind::prompt ? "--prompt" : kind == InputKind::ids ? "--ids" : "--input";
}

/// Takes the name of an input off the front of an argument; `main` without one.
std::string takeName(InputArgument &argument, const Plan &plan) {
  const std::string separator = argument.kind == InputKind::file ? "=" : ":=";
  const size_t end = argument.text.find(separator);
  if (end == std::string::npos)
    return mainInput;
  std::string name = argument.text.substr(0, end);
  if (name != mainInput && !plan.inputs.count(name))
    return mainInput;
  argument.text.erase(0, end + separator.size());
  return name;
}

std::optional<std::vector<int64_t>> idsOf(const std::string &text, Diagnostics &diags) {
  std::vector<int64_t> ids;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    while (at != end && *at == ' ')
      ++at;
    int64_t id = 0;
    auto [stop, failure] = std::from_chars(at, end, id);
    if (failure != std::errc())
      break;
    ids.push_back(id);
    for (at = stop; at != end && *at == ' ';)
      ++at;
    if (at == end)
      return ids;
    if (*at++ != ',')
      break;
  }
  diags.error("NNT1003", {"--ids", 0, 0},
              "expected ids with commas between them, such as 1,2,3; found \"" + text + "\"");
  return std::nullopt;
}

using Rows = std::vector<std::vector<int64_t>>;

std::optional<Rows> encode(const std::vector<std::string> &prompts, const SourceLoc &source,
                           const std::string &checkpoint, Diagnostics &diags) {
  std::optional<Tokenizer> tokenizer = Tokenizer::load(checkpointFolder(checkpoint), diags);
  if (!tokenizer)
    return std::nullopt;
  Rows rows;
  for (const std::string &prompt : prompts) {
    Diagnostics unread;
    std::optional<std::vector<Token>> tokens = tokenizer->encode(prompt, unread);
    for (Diagnostic &problem : unread.all()) { // "text" says less than where the text came from
      if (source.line > 0)
        problem.loc = source;
      else
        problem.loc.file = source.file;
      diags.all().push_back(std::move(problem));
    }
    if (!tokens)
      continue;
    std::vector<int64_t> &row = rows.emplace_back();
    for (const Token &token : *tokens)
      row.push_back(token.id);
  }
  return rows.size() == prompts.size() ? std::optional(std::move(rows)) : std::nullopt;
}

std::nullopt_t severalWays(const std::map<InputKind, std::vector<std::string>> &given, Diagnostics &diags) {
  std::string flags;
  for (const auto &[kind, texts] : given)
    flags += (flags.empty() ? "" : " and ") + std::string(flagOf(kind));
  diags.error("NNT1002", {flagOf(given.rbegin()->first), 0, 0},
              "the input \"main\" is given by " + flags + " at once; expected one of them");
  return std::nullopt;
}

std::optional<Batch> fromCommandLine(InputKind kind, const std::vector<std::string> &texts, const InputRules &rules,
                                     const std::string &checkpoint, Diagnostics &diags) {
  const SourceLoc loc{flagOf(kind), 0, 0};
  if (kind == InputKind::file) {
    if (texts.size() == 1)
      return batchFromFile(texts.front(), rules, diags);
    diags.error("NNT1002", loc,
                "the input \"main\" is given by " + std::to_string(texts.size()) + " files; expected one of them");
    return std::nullopt;
  }
  std::optional<Rows> rows;
  if (kind == InputKind::prompt) {
    rows = encode(texts, loc, checkpoint, diags);
  } else {
    rows.emplace();
    for (const std::string &text : texts)
      if (std::optional<std::vector<int64_t>> ids = idsOf(text, diags))
        rows->push_back(std::move(*ids));
  }
  return rows && rows->size() == texts.size() ? batchFromIds(*rows, rules, loc, diags) : std::nullopt;
}

} // namespace

std::optional<Batch> readInput(const std::vector<InputArgument> &arguments, const Plan &plan, const ModelConfig &config,
                               const std::string &checkpoint, Diagnostics &diags) {
  InputRules rules;
  rules.vocabSize = config.vocabSize;
  if (config.multimodal)
    rules.imageTokens = {config.imageTokenId, config.videoTokenId};

  std::map<InputKind, std::vector<std::string>> given;
  for (InputArgument argument : arguments)
    if (takeName(argument, plan) == mainInput)
      given[argument.kind].push_back(std::move(argument.text));
  if (given.size() > 1)
    return severalWays(given, diags);
  if (!given.empty())
    return fromCommandLine(given.begin()->first, given.begin()->second, rules, checkpoint, diags);

  auto fromPlan = plan.inputs.find(mainInput);
  if (fromPlan == plan.inputs.end()) {
    std::string others;
    for (const auto &[name, input] : plan.inputs)
      others += (others.empty() ? "; the plan's inputs are \"" : ", \"") + name + "\"";
    diags.error("NNT1001", plan.json.loc,
                "the run has no input \"main\"; expected --prompt, --ids or --input, or \"inputs\" in the plan" +
                    others);
    return std::nullopt;
  }
  const PlanInput &input = fromPlan->second;
  if (!input.file.empty())
    return batchFromFile(input.file, rules, diags);
  if (!input.ids.empty())
    return batchFromIds(input.ids, rules, input.loc, diags);
  std::optional<Rows> rows = encode(input.prompts, input.loc, checkpoint, diags);
  return rows ? batchFromIds(*rows, rules, input.loc, diags) : std::nullopt;
}

} // namespace nnterp
