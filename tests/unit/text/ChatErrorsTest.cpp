// What can go wrong with chat templates: broken ones, objections, hostile ones, no Jinja.
#include "ChatHelp.h"

#include <cstdlib>
#include <filesystem>

using namespace nnterp;

static const std::string hi = R"([{"role": "user", "content": "hi"}])";

static std::string wrong(const std::string &source) { return TemplateFolder(source).render(hi); }

TEST_CASE("NNT0410: no chat template") {
  const std::string nothing = "CKPT: error NNT0410: there is no chat template: expected chat_template.jinja, or "
                              "\"chat_template\" in tokenizer_config.json\n";
  CHECK(TemplateFolder("").render(hi) == nothing);
  CHECK(TemplateFolder("", "{}").render(hi) == nothing);
  CHECK(TemplateFolder("", R"({"chat_template": [{"name": "rag", "template": "x"}]})").render(hi) ==
        "CKPT: error NNT0410: none of the chat templates in tokenizer_config.json is named \"default\"\n");
  CHECK(TemplateFolder("x", "{").render(hi).find("CKPT/tokenizer_config.json:1:2: error NNT0103") == 0);
}

TEST_CASE("NNT0412: the template objects") {
  CHECK(wrong("a\n{{ raise_exception('no \"x\" here') }}") ==
        "c.json:1:1: error NNT0412: no \"x\" here\n"
        "  CKPT/chat_template.jinja:2: note: the chat template stops here\n");
  // In a macro, the line is the macro's.
  CHECK(wrong("{% macro f() %}\n{{ raise_exception('deep') }}\n{% endmacro %}\n\n{{ f() }}") ==
        "c.json:1:1: error NNT0412: deep\n  CKPT/chat_template.jinja:2: note: the chat template stops here\n");
  CHECK(
      TemplateFolder("", "{\n\"chat_template\": \"a\\n\\n{{ raise_exception('no') }}\"}").render(hi) ==
      "c.json:1:1: error NNT0412: no\n  CKPT/tokenizer_config.json:2:18: note: the chat template stops here (line 3 of "
      "the template)\n");
  // The conversation that is objected to.
  CHECK(TemplateFolder("{% if messages[0].role == 'b' %}{{ raise_exception('b') }}{% endif %}")
            .render("[[{\"role\":\"a\"}],\n [{\"role\":\"b\"}]]") ==
        "c.json:2:2: error NNT0412: b\n  CKPT/chat_template.jinja:1: note: the chat template stops here\n");
}

TEST_CASE("NNT0412: the template fails") {
  const std::string here = "\n  CKPT/chat_template.jinja:1: note: the chat template stops here\n";
  CHECK(wrong("{{ messages[0].content + 1 }}") ==
        "c.json:1:1: error NNT0412: TypeError: can only concatenate str (not \"int\") to str" + here);
  CHECK(wrong("{{ messages[0].missing.deeper }}") ==
        "c.json:1:1: error NNT0412: UndefinedError: 'dict object' has no attribute 'missing'" + here);
  CHECK(TemplateFolder("x").render("[]") == "c.json:1:1: error NNT0412: Cannot apply chat template to an empty "
                                            "conversation. Provide at least one message.\n");
  CHECK(wrong("{{ '\\ud800' }}").find("c.json:1:1: error NNT0412: UnicodeEncodeError: ") == 0);
  // A long message is cut.
  CHECK(wrong("{{ raise_exception('é' * 5000) }}").size() < 1200);
}

TEST_CASE("NNT0416: a broken template") {
  CHECK(wrong("a\n{% if %}") == "CKPT/chat_template.jinja:2: error NNT0416: the chat template is wrong: Expected an "
                                "expression, got 'end of statement block'\n");
  CHECK(TemplateFolder("", "{\"chat_template\": \"{{ a b }}\"}").render(hi) ==
        "CKPT/tokenizer_config.json:1:19: error NNT0416: the chat template is wrong (line 1 of the template): expected "
        "token 'end of print statement', got 'b'\n");
  CHECK(wrong("ab\xff") == "CKPT/chat_template.jinja: error NNT0416: the chat template is not UTF-8 at byte 2\n");
}

TEST_CASE("the sandbox holds") {
  for (const char *source :
       {"{{ ''.__class__.__mro__ }}", "{{ messages.append(1) }}", "{{ messages[0].update({'a': 1}) }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}", "{{ range(10000000) }}",
        "{% include '/etc/passwd' %}"}) {
    CAPTURE(source);
    CHECK(wrong(source).find("c.json:1:1: error NNT0412: ") == 0);
  }
  for (const char *source :
       {"{{ ''.__class__ }}", "{{ ''.format.__self__.__class__ }}", "{{ '{0.__class__}'.format(1) }}"}) {
    CAPTURE(source);
    CHECK(wrong(source) == "");
  }
}

TEST_CASE("a hostile template neither hangs nor fills the memory") {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(3000);
  limits.bytes = 1 << 20;
  auto hostile = [&](const std::string &source) { return TemplateFolder(source).render(hi, {}, limits); };
  CHECK(hostile("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}") ==
        "c.json:1:1: error NNT0414: rendering the chat template took longer than 3000 ms\n");
  CHECK(hostile("{{ 'x' * 3000000 }}") ==
        "c.json:1:1: error NNT0414: rendering the chat template wrote more than 1048576 bytes\n");
  CHECK(hostile("{{ 'x' * 9000000000 }}").find("c.json:1:1: error NNT0412: MemoryError\n") == 0);
  CHECK(hostile("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}").find("c.json:1:1: error NNT0412: RecursionError") ==
        0);
  const std::string deep(20000, '(');
  CHECK(hostile("{{ " + deep).find("error NNT04") != std::string::npos);
}

namespace {

/// Another PATH for as long as it lives.
struct WithPath {
  std::string before = std::getenv("PATH");
  explicit WithPath(const std::string &path) { setenv("PATH", path.c_str(), 1); }
  ~WithPath() { setenv("PATH", before.c_str(), 1); }
};

/// A `python3` that is this shell script.
struct FakePython {
  TempDir dir;
  explicit FakePython(const std::string &script) {
    writeBytes(dir / "python3", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(dir / "python3", std::filesystem::perms::owner_all);
  }
};

} // namespace

TEST_CASE("NNT0413: no Python, no Jinja") {
  const std::string needed =
      ", and chat templates are rendered by Jinja; on Debian, install the package python3-jinja2\n";
  const TemplateFolder folder("x");
  TempDir empty;
  {
    WithPath path(empty.path);
    CHECK(folder.render(hi) ==
          "c.json:1:1: error NNT0413: python3 cannot be started (No such file or directory)" + needed);
  }
  FakePython withoutPackages("PATH=/usr/local/bin:/usr/bin:/bin exec python3 -S \"$@\"");
  WithPath path(withoutPackages.dir.path + ":" + std::getenv("PATH"));
  CHECK(folder.render(hi) == "c.json:1:1: error NNT0413: python3 has no Jinja (No module named 'jinja2')" + needed);
}

TEST_CASE("NNT0414: a Python that ends without an answer") {
  const TemplateFolder folder("x");
  const std::string trouble = "c.json:1:1: error NNT0414: rendering the chat template ";
  FakePython failing("echo first >&2; echo 'SyntaxError: last' >&2; exit 1"), killed("kill -9 $$"), silent("exit 4"),
      odd("echo '{}'");
  for (const auto &[python, said] : {std::pair{&failing, "failed: SyntaxError: last\n"},
                                     {&killed, "was ended by the system: Killed\n"},
                                     {&silent, "failed with status 4\n"},
                                     {&odd, "gave no answer that can be read\n"}}) {
    WithPath path(python->dir.path + ":" + std::getenv("PATH"));
    CHECK(folder.render(hi) == trouble + said);
  }
}
