// Chats against the reference: its conversations, what they become, and what it refuses.
#include "../weights/Fixtures.h"
#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Tokenizer.h"

#include <catch2/catch.hpp>

using namespace nnterp;

TEST_CASE("the reference's texts, ids and errors, exactly") {
  Diagnostics diags;
  const std::optional<Json> cases = readJsonFile(data("text/chat.json"), diags);
  REQUIRE(cases);
  REQUIRE(cases->array.size() == 12);
  for (const char *checkpoint : {"tiny-text", "tiny-vl"}) {
    const std::optional<ChatTemplate> chatTemplate = ChatTemplate::load(data("checkpoints/") + checkpoint, diags);
    const std::optional<Tokenizer> tokenizer = Tokenizer::load(data("checkpoints/") + checkpoint, diags);
    REQUIRE(chatTemplate);
    REQUIRE(tokenizer);
    for (const Json &one : cases->array) {
      CAPTURE(one.dump());
      // The reference's defaults differ: no opening of the model's turn, and no word on thinking, which is thinking.
      Json conversation = Json::dict();
      for (const Json::Member &member : one.object)
        if (member.key != "text" && member.key != "ids" && member.key != "error")
          conversation.add(member.key, member.value);
      for (const char *key : {"add_generation_prompt", "enable_thinking"})
        if (!conversation.find(key))
          conversation.add(key, Json::of(key == std::string("enable_thinking")));
      Diagnostics problems;
      const auto file = ConversationFile::parse(conversation.dump(), "c.json", problems);
      REQUIRE(file);
      const std::optional<std::vector<std::string>> texts = chatTemplate->render(*file, {}, problems);
      if (const Json *error = one.find("error")) {
        CHECK_FALSE(texts);
        REQUIRE(problems.all().size() == 1);
        CHECK(problems.all()[0].code == "NNT0412");
        CHECK(problems.all()[0].message == error->string);
        continue;
      }
      INFO(text(problems));
      REQUIRE(texts);
      REQUIRE(texts->size() == 1);
      CHECK((*texts)[0] == one.find("text")->string);
      std::vector<int64_t> expected;
      for (const Json &id : one.find("ids")->array)
        expected.push_back(id.integer);
      CHECK(tokenizer->encodeIds((*texts)[0], problems) == expected);
      CHECK(problems.all().empty());
    }
  }
}
