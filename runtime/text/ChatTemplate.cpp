// Finds a checkpoint's chat template, and has Jinja render it.
#include "runtime/text/ChatTemplate.h"
#include "runtime/abi/File.h"
#include "runtime/text/ChatScript.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sys/wait.h>

namespace nnterp {

namespace fs = std::filesystem;

// -- finding it --

std::optional<ChatTemplate> ChatTemplate::load(const std::string &checkpoint, Diagnostics &diags) {
  ChatTemplate result;
  const fs::path folder = checkpoint;
  const std::string file = (folder / "chat_template.jinja").string();
  const std::string config = (folder / "tokenizer_config.json").string();
  std::error_code failure;
  if (fs::exists(config, failure) && !result.readConfig(config, diags))
    return std::nullopt;
  if (fs::exists(file, failure)) {
    std::optional<std::string> source = readFile(file, diags);
    if (!source)
      return std::nullopt;
    if (std::optional<size_t> invalid = findInvalidUtf8(*source)) {
      diags.error("NNT0416", {file, 0, 0}, "the chat template is not UTF-8 at byte " + std::to_string(*invalid));
      return std::nullopt;
    }
    result.texts["default"] = {std::move(*source), {file, 0, 0}, true};
  }
  if (result.texts.count("default"))
    return result;
  diags.error("NNT0410", {checkpoint, 0, 0},
              result.texts.empty() ? "there is no chat template: expected chat_template.jinja, or \"chat_template\" in "
                                     "tokenizer_config.json"
                                   : "none of the chat templates in tokenizer_config.json is named \"default\"");
  return std::nullopt;
}

/// Special tokens, which templates may use, and the template, as tokenizer_config.json has them.
bool ChatTemplate::readConfig(const std::string &path, Diagnostics &diags) {
  const std::optional<Json> json = readJsonFile(path, diags);
  if (!json)
    return false;
  for (const char *name :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
    const Json *token = json->find(name);
    const Json *content = token && token->isObject() ? token->find("content") : token;
    if (content && content->isString())
      specialTokens.set(name, Json::of(content->string));
  }
  const Json *found = json->find("chat_template");
  if (found && found->isString())
    texts["default"] = {found->string, found->loc, false};
  if (found && found->isArray())
    for (const Json &entry : found->array) {
      const Json *name = entry.find("name"), *source = entry.find("template");
      if (name && name->isString() && source && source->isString())
        texts[name->string] = {source->string, source->loc, false};
    }
  return true;
}

const ChatTemplate::Text &ChatTemplate::textFor(const Conversation &conversation) const {
  auto forTools = texts.find("tool_use");
  return conversation.hasTools && forTools != texts.end() ? forTools->second : texts.at("default");
}

// -- rendering --

/// What the template is given beside the conversation's own members; nothing when a switch is missing.
std::optional<Json> ChatTemplate::arguments(const Conversation &conversation, const ChatOptions &options,
                                            Diagnostics &diags) const {
  const Text &text = textFor(conversation);
  auto mentions = [&](const std::string &name) { return text.source.find(name) != std::string::npos; };
  Json variables = Json::dict();
  const bool prompt = options.generationPrompt && conversation.generationPrompt.value_or(true);
  variables.add("add_generation_prompt", Json::of(prompt));
  const std::optional<bool> thinking = options.enableThinking ? options.enableThinking : conversation.enableThinking;
  if (thinking) {
    variables.add("enable_thinking", Json::of(*thinking));
    if (!mentions("enable_thinking"))
      diags.note(conversation.loc, "the chat template does not know the switch enable_thinking");
  } else if (mentions("enable_thinking")) {
    diags.error("NNT0415", conversation.loc,
                "the chat template knows the switch enable_thinking, and what it renders depends on it; expected "
                "--enable-thinking or --no-thinking");
    return std::nullopt;
  }
  for (const Json::Member &variable : conversation.variables)
    if (!mentions(variable.key))
      diags.note(variable.keyLoc, "the chat template does not mention \"" + variable.key + "\"");
  if (conversation.hasTools && !mentions("tools"))
    diags.note(conversation.loc, "the chat template does not mention \"tools\"");
  Json result = Json::dict();
  result.add("template", Json::of(&text == &texts.at("default") ? "default" : "tool_use"));
  return result.add("variables", std::move(variables));
}

std::optional<std::vector<std::string>> ChatTemplate::render(const ConversationFile &file, const ChatOptions &options,
                                                             Diagnostics &diags) const {
  if (file.conversations.empty())
    return std::vector<std::string>();
  Json sources = Json::dict(), chats = Json::list();
  for (const auto &[name, text] : texts)
    sources.add(name, Json::of(text.source));
  for (const Conversation &conversation : file.conversations) {
    if (conversation.messages.array.empty()) {
      diags.error("NNT0412", conversation.loc,
                  "Cannot apply chat template to an empty conversation. Provide at least one message.");
      return std::nullopt;
    }
    std::optional<Json> chat = arguments(conversation, options, diags);
    if (!chat)
      return std::nullopt;
    chats.array.push_back(std::move(*chat));
  }
  Json request = Json::dict();
  request.add("texts", std::move(sources)).add("tokens", specialTokens).add("file", Json::of(file.text));
  request.add("several", Json::of(file.several)).add("chats", std::move(chats));

  const std::optional<Json> reply = ask(request.dump(), file.conversations[0].loc, diags);
  if (!reply)
    return std::nullopt;
  if (const Json *index = reply->find("chat")) {
    reportFailure(*reply, file.conversations[size_t(index->integer)], diags);
    return std::nullopt;
  }
  std::vector<std::string> rendered;
  for (const Json &text : reply->find("texts")->array)
    rendered.push_back(text.string);
  return rendered;
}

/// The beginning of a text that may be of any length.
static std::string beginning(const std::string &text) {
  constexpr size_t most = 1000;
  if (text.size() <= most)
    return text;
  size_t end = most;
  while (end > 0 && (text[end] & 0xC0) == 0x80)
    --end;
  return text.substr(0, end) + "…";
}

static std::string lastLine(std::string text) {
  text.erase(text.find_last_not_of("\r\n ") + 1);
  const size_t newline = text.rfind('\n');
  return beginning(newline == std::string::npos ? text : text.substr(newline + 1));
}

/// The renderer's answer, whose members are known to be there; problems of the process are reported here.
std::optional<Json> ChatTemplate::ask(const std::string &request, const SourceLoc &loc, Diagnostics &diags) const {
  const std::string needed =
      ", and chat templates are rendered by Jinja; on Debian, install the package python3-jinja2";
  const ChildResult child = runChild({"python3", "-I", "-B", "-c", chatScript}, request, limits);
  std::string trouble;
  switch (child.end) {
  case ChildResult::End::notStarted:
    diags.error("NNT0413", loc, "python3 cannot be started (" + child.error + ")" + needed);
    return std::nullopt;
  case ChildResult::End::tooSlow:
    trouble = "took longer than " + std::to_string(limits.time.count()) + " ms";
    break;
  case ChildResult::End::tooMuch:
    trouble = "wrote more than " + std::to_string(limits.bytes) + " bytes";
    break;
  case ChildResult::End::finished:
    Diagnostics unread;
    std::optional<Json> reply = parseJson(child.out, "", unread);
    if (reply && (reply->find("texts") || reply->find("chat")))
      return reply;
    if (const Json *missing = reply ? reply->find("missing") : nullptr) {
      diags.error("NNT0413", loc, "python3 has no Jinja (" + missing->string + ")" + needed);
      return std::nullopt;
    }
    if (WIFSIGNALED(child.status))
      trouble = std::string("was ended by the system: ") + strsignal(WTERMSIG(child.status));
    else if (child.status == 0)
      trouble = "gave no answer that can be read";
    else
      trouble = child.err.empty() ? "failed with status " + std::to_string(WEXITSTATUS(child.status))
                                  : "failed: " + lastLine(child.err);
    break;
  }
  diags.error("NNT0414", loc, "rendering the chat template " + trouble);
  return std::nullopt;
}

void ChatTemplate::reportFailure(const Json &failure, const Conversation &conversation, Diagnostics &diags) const {
  const Text &text = textFor(conversation);
  const std::string kind = failure.find("kind")->string, said = beginning(failure.find("error")->string);
  const Json *line = failure.find("line");
  const int64_t at = line && line->kind == Json::Kind::integer ? line->integer : 0;
  SourceLoc place = text.loc;
  if (text.isFile)
    place.line = int(at);
  const std::string inside = text.isFile || at == 0 ? "" : " (line " + std::to_string(at) + " of the template)";
  if (failure.find("syntax")->boolean) {
    diags.error("NNT0416", place, "the chat template is wrong" + inside + ": " + said);
    return;
  }
  // What the template itself objects to stands alone; any other failure comes with its kind.
  std::string message = kind == "TemplateError" ? said : kind + (said.empty() ? "" : ": " + said);
  diags.error("NNT0412", conversation.loc, std::move(message))
      .notes.push_back({place, "the chat template stops here" + inside});
}

} // namespace nnterp
