// Chat templates: where they come from, what they are given, what Jinja offers them.
#include "ChatHelp.h"

#include <ctime>

using namespace nnterp;

static const std::string hi = R"([{"role": "user", "content": "hi"}])";

TEST_CASE("the template's own file goes before the one in tokenizer_config.json") {
  const std::string config = R"({"chat_template": "config {{ eos_token }}", "eos_token": {"content": "<e>"}})";
  CHECK(TemplateFolder("file {{ eos_token }}", config).render(hi) == "file <e>");
  CHECK(TemplateFolder("", config).render(hi) == "config <e>");
}

TEST_CASE("named templates: default, and tool_use for a conversation with tools") {
  const TemplateFolder folder("", R"({"chat_template": [{"name": "tool_use", "template": "tools"},
                                                        {"name": "default", "template": "plain"}, 7]})");
  CHECK(folder.render(hi) == "plain");
  CHECK(folder.render(R"([{"messages": [{"role": "u"}], "tools": []}, [{"role": "u"}]])") == "tools|plain");
}

TEST_CASE("what a template is given") {
  const TemplateFolder folder("{{ messages[0].content }},{{ tools }},{{ documents }},{{ add_generation_prompt }},"
                              "{{ bos_token is defined }},{{ pad_token }},{{ extra }}",
                              R"({"bos_token": null, "pad_token": "<p>"})");
  CHECK(folder.render(hi) == "hi,None,None,True,False,<p>,");
  CHECK(folder.render(R"({"messages": [{"role": "u", "content": "x"}], "tools": [{"a": 1}], "documents": ["d"],
                          "extra": 1.10, "pad_token": "<q>", "add_generation_prompt": false})") ==
        "x,[{'a': 1}],['d'],False,False,<q>,1.1");
  ChatOptions options;
  options.generationPrompt = false;
  CHECK(folder.render(hi, options) == "hi,None,None,False,False,<p>,");
}

TEST_CASE("thinking: the command line wins over the file") {
  const TemplateFolder folder("{{ enable_thinking }}");
  const std::string off = R"({"messages": [{"role": "u"}], "enable_thinking": false})";
  ChatOptions on;
  on.enableThinking = true;
  CHECK(folder.render(off) == "False");
  CHECK(folder.render(off, on) == "True");
  CHECK(folder.render(hi, on) == "True");
}

TEST_CASE("NNT0415: a template that knows the switch wants it said") {
  CHECK(TemplateFolder("{{ enable_thinking is defined }}").render(hi) ==
        "c.json:1:1: error NNT0415: the chat template knows the switch enable_thinking, and what it renders depends on "
        "it; expected --enable-thinking or --no-thinking\n");
  ChatOptions off;
  off.enableThinking = false;
  CHECK(TemplateFolder("x").render(hi, off) ==
        "xc.json:1:1: note: the chat template does not know the switch enable_thinking\n");
}

TEST_CASE("members that a template does not mention are noted") {
  CHECK(TemplateFolder("x").render("{\"messages\": [{\"role\": \"u\"}],\n\"tool\": [], \"tools\": []}") ==
        "xc.json:2:1: note: the chat template does not mention \"tool\"\n"
        "c.json:1:1: note: the chat template does not mention \"tools\"\n");
}

TEST_CASE("blocks are trimmed, loops can be left, functions and filters are the reference's") {
  CHECK(TemplateFolder("a\n  {% if true %}\nb\n  {% endif %}\nc\n").render(hi) == "a\nb\nc");
  CHECK(TemplateFolder("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}"
                       "{% endif %}{{ i }}{% endfor %}")
            .render(hi) == "02");
  CHECK(
      TemplateFolder("{{ messages | tojson }}").render("[{\"role\":\"<é&'>\",\"n\":12345678901234567890,\"f\":2.0}]") ==
      "[{\"role\": \"<é&'>\", \"n\": 12345678901234567890, \"f\": 2.0}]");
  CHECK(TemplateFolder("{{ {'b': 1, 'a': [1]} | tojson(indent=1, sort_keys=true) }}").render(hi) ==
        "{\n \"a\": [\n  1\n ],\n \"b\": 1\n}");
  CHECK(TemplateFolder("{{ {'a': 'é'} | tojson(ensure_ascii=true, separators=(',', ':')) }}").render(hi) ==
        "{\"a\":\"\\u00e9\"}");
  CHECK(TemplateFolder("a{% generation %}{{ messages[0].role }}{% endgeneration %}b").render(hi) == "auserb");
  const std::time_t now = std::time(nullptr);
  char year[8];
  std::strftime(year, sizeof year, "%Y", std::localtime(&now));
  CHECK(TemplateFolder("{{ strftime_now('%Y') }}").render(hi) == year);
}

TEST_CASE("characters of every plane go there and back") {
  CHECK(TemplateFolder("é{{ messages[0].content }}")
            .render("[{\"role\": \"u\", \"content\": \"\\ud83d\\ude42\\u0000€\"}]") ==
        std::string("é\U0001f642\0€", 10));
}

TEST_CASE("several conversations, one text each") {
  CHECK(TemplateFolder("{{ messages | length }}").render("[[{\"role\":\"u\"}],[{\"role\":\"u\"},{\"role\":\"u\"}]]") ==
        "1|2");
}
