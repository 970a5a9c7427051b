// Conversation files: their three forms, and what is wrong with others.
#include "../weights/Fixtures.h"
#include "runtime/text/Conversation.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static ConversationFile read(const std::string &json) {
  Diagnostics diags;
  auto file = ConversationFile::parse(json, "c.json", diags);
  INFO(text(diags));
  REQUIRE(file);
  return *file;
}

static std::string wrong(const std::string &json) {
  Diagnostics diags;
  CHECK_FALSE(ConversationFile::parse(json, "c.json", diags));
  return text(diags);
}

TEST_CASE("a list of messages is a conversation") {
  const ConversationFile file = read(R"([{"role": "user", "content": "hi"}, {"role": "assistant"}])");
  CHECK_FALSE(file.several);
  REQUIRE(file.conversations.size() == 1);
  CHECK(file.conversations[0].messages.array.size() == 2);
  CHECK_FALSE(file.conversations[0].hasTools);
  CHECK(read("[]").conversations[0].messages.array.empty()); // the template's to refuse
}

TEST_CASE("an object has messages and what else the template takes") {
  const ConversationFile file = read(
      R"({"tools": [{"name": "w"}], "messages": [{"role": "user", "content": "hi"}], "enable_thinking": false,
          "add_generation_prompt": true, "add_vision_id": 1})");
  const Conversation &one = file.conversations.at(0);
  CHECK((one.hasTools && one.messages.array.size() == 1));
  CHECK((one.enableThinking == std::optional(false) && one.generationPrompt == std::optional(true)));
  REQUIRE(one.variables.size() == 1);
  CHECK(one.variables[0].key == "add_vision_id");
  CHECK_FALSE(read(R"({"messages": [], "tools": null})").conversations[0].hasTools);
}

TEST_CASE("a list of conversations is a batch") {
  const ConversationFile lists = read(R"([[{"role": "user"}], [{"role": "user"}, {"role": "user"}]])");
  CHECK((lists.several && lists.conversations.size() == 2 && lists.conversations[1].messages.array.size() == 2));
  const ConversationFile mixed = read(R"([{"messages": [{"role": "user"}]}, [{"role": "user"}]])");
  CHECK((mixed.several && mixed.conversations.size() == 2));
}

TEST_CASE("one message of a user each") {
  Diagnostics diags;
  const auto file = ConversationFile::ofPrompts({"a\"b", "\xc3\xa9\n"}, {"--chat-prompt", 0, 0}, diags);
  REQUIRE(file);
  CHECK((file->several && file->conversations.size() == 2));
  CHECK(file->conversations[0].messages.dump() == R"([{"role":"user","content":"a\"b"}])");
  CHECK(file->text ==
        "[" + file->conversations[0].messages.dump() + "," + file->conversations[1].messages.dump() + "]");
  CHECK_FALSE(ConversationFile::ofPrompts({"a", "b\xff"}, {"--chat-prompt", 0, 0}, diags));
  CHECK(text(diags) == "--chat-prompt: error NNT0401: the text is not UTF-8: byte 0xff at offset 1; expected a whole "
                       "UTF-8 character\n");
}

TEST_CASE("NNT0411: malformed conversations") {
  CHECK(wrong("7") == "c.json:1:1: error NNT0411: a conversation must be a list of messages, or an object with "
                      "\"messages\"; found an integer\n");
  CHECK(wrong(R"({"message": []})") ==
        "c.json:1:1: error NNT0411: a conversation needs the key \"messages\", which is missing\n");
  CHECK(wrong(R"({"messages": "hi", "tools": {}, "enable_thinking": 1, "add_generation_prompt": "no"})") ==
        "c.json:1:14: error NNT0411: \"messages\" must be an array, found a string\n"
        "c.json:1:29: error NNT0411: \"tools\" must be an array, found an object\n"
        "c.json:1:52: error NNT0411: \"enable_thinking\" must be a boolean, found an integer\n"
        "c.json:1:80: error NNT0411: \"add_generation_prompt\" must be a boolean, found a string\n");
  CHECK(wrong("[\"hi\",\n{\"content\": \"x\"}, {\"role\": null}]") ==
        "c.json:1:2: error NNT0411: a message must be an object with \"role\" and \"content\"; found a string\n"
        "c.json:2:1: error NNT0411: a message needs the key \"role\", which is missing\n"
        "c.json:2:28: error NNT0411: \"role\" must be a string, found null\n");
  CHECK(wrong("[[], 3]") == "c.json:1:6: error NNT0411: a conversation must be a list of messages, or an object with "
                            "\"messages\"; found an integer\n");
}

TEST_CASE("NNT0103, NNT0101: no JSON, no file") {
  CHECK(wrong("[{").substr(0, 27) == "c.json:1:3: error NNT0103: ");
  Diagnostics diags;
  CHECK_FALSE(ConversationFile::read("/nowhere.json", diags, {"plan.json", 3, 4}));
  CHECK(text(diags) == "plan.json:3:4: error NNT0101: cannot read \"/nowhere.json\": No such file or directory\n");
}

TEST_CASE("pictures in messages are found") {
  CHECK_FALSE(findPicture(read(R"([{"role": "user", "content": "image"}, {"role": "user", "content":
      [{"type": "text", "text": "image"}, "image", 7]}])")
                              .conversations[0]));
  for (const char *item : {R"({"type": "image"})", R"({"image": "a.png"})", R"({"type": "image_url", "image_url": {}})",
                           R"({"type": "video"})"}) {
    const ConversationFile file =
        read(R"([{"role": "user", "content": "x"}, {"role": "user", "content": [{"text": "x"}, )" + std::string(item) +
             "]}]");
    const Json *picture = findPicture(file.conversations[0]);
    REQUIRE(picture);
    CHECK(picture->loc.col == 80);
  }
}
