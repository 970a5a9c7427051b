// Reads conversations and checks what every template relies on.
#include "runtime/text/Conversation.h"
#include "runtime/abi/File.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace nnterp {

namespace {

class ConversationReader {
public:
  explicit ConversationReader(Diagnostics &diags) : diags(diags) {}

  std::optional<Conversation> read(const Json &json) {
    Conversation result;
    result.loc = json.loc;
    if (json.isArray()) {
      result.messages = json;
    } else if (json.isObject()) {
      for (const Json::Member &member : json.object)
        take(member, result);
      if (!json.find("messages"))
        fail(json, "a conversation needs the key \"messages\", which is missing");
    } else {
      fail(json, "a conversation must be a list of messages, or an object with \"messages\"; found " + found(json));
    }
    for (const Json &message : result.messages.array)
      checkMessage(message);
    return sound ? std::optional(std::move(result)) : std::nullopt;
  }

private:
  void take(const Json::Member &member, Conversation &result) {
    const Json &value = member.value;
    if (member.key == "messages") {
      if (is(value, Json::Kind::array, member.key))
        result.messages = value;
    } else if (member.key == "tools") {
      result.hasTools = value.kind != Json::Kind::null && is(value, Json::Kind::array, member.key);
    } else if (member.key == "enable_thinking") {
      if (is(value, Json::Kind::boolean, member.key))
        result.enableThinking = value.boolean;
    } else if (member.key == "add_generation_prompt") {
      if (is(value, Json::Kind::boolean, member.key))
        result.generationPrompt = value.boolean;
    } else {
      result.variables.push_back(member);
    }
  }

  void checkMessage(const Json &message) {
    if (!message.isObject())
      return fail(message, "a message must be an object with \"role\" and \"content\"; found " + found(message));
    const Json *role = message.find("role");
    if (!role)
      fail(message, "a message needs the key \"role\", which is missing");
    else
      is(*role, Json::Kind::string, "role");
  }

  bool is(const Json &json, Json::Kind kind, const std::string &key) {
    if (json.kind != kind)
      fail(json, "\"" + key + "\" must be " + std::string(kindName(kind)) + ", found " + found(json));
    return json.kind == kind;
  }

  static std::string found(const Json &json) { return std::string(kindName(json.kind)); }

  void fail(const Json &json, std::string message) {
    diags.error("NNT0411", json.loc, std::move(message));
    sound = false;
  }

  Diagnostics &diags;
  bool sound = true;
};

/// A list of conversations and not of messages.
bool holdsSeveral(const Json &json) {
  return json.isArray() && !json.array.empty() && (json.array[0].isArray() || json.array[0].find("messages"));
}

} // namespace

std::optional<ConversationFile> ConversationFile::parse(std::string text, const std::string &file, Diagnostics &diags) {
  const std::optional<Json> json = parseJson(text, file, diags);
  if (!json)
    return std::nullopt;
  ConversationFile result;
  result.text = std::move(text);
  result.several = holdsSeveral(*json);
  auto add = [&](const Json &one) {
    if (std::optional<Conversation> conversation = ConversationReader(diags).read(one))
      result.conversations.push_back(std::move(*conversation));
  };
  if (result.several)
    std::for_each(json->array.begin(), json->array.end(), add);
  else
    add(*json);
  const size_t wanted = result.several ? json->array.size() : 1;
  return result.conversations.size() == wanted ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<ConversationFile> ConversationFile::read(const std::string &path, Diagnostics &diags,
                                                       const SourceLoc &from) {
  std::optional<std::string> text = readFile(path, diags, from);
  return text ? parse(std::move(*text), path, diags) : std::nullopt;
}

std::optional<ConversationFile> ConversationFile::ofPrompts(const std::vector<std::string> &prompts,
                                                            const SourceLoc &loc, Diagnostics &diags) {
  ConversationFile result;
  result.several = true;
  std::vector<Json> rows;
  for (const std::string &prompt : prompts) {
    if (std::optional<size_t> invalid = findInvalidUtf8(prompt)) {
      diags.error("NNT0401", loc,
                  "the text is not UTF-8: byte " + hexByte(uint8_t(prompt[*invalid])) + " at offset " +
                      std::to_string(*invalid) + "; expected a whole UTF-8 character");
      continue;
    }
    Json message = Json::dict();
    message.add("role", Json::of("user")).add("content", Json::of(prompt));
    Conversation &conversation = result.conversations.emplace_back();
    conversation.messages = Json::list({std::move(message)});
    conversation.loc = loc;
    rows.push_back(conversation.messages);
  }
  result.text = Json::list(std::move(rows)).dump();
  return result.conversations.size() == prompts.size() ? std::optional(std::move(result)) : std::nullopt;
}

static bool isPicture(const Json &item) {
  const Json *type = item.find("type");
  for (const char *kind : {"image", "image_url", "video"})
    if (item.find(kind) || (type && type->string == kind))
      return true;
  return false;
}

const Json *findPicture(const Conversation &conversation) {
  for (const Json &message : conversation.messages.array)
    if (const Json *content = message.find("content"))
      for (const Json &item : content->array)
        if (isPicture(item))
          return &item;
  return nullptr;
}

} // namespace nnterp
