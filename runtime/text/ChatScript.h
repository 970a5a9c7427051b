// The Python program that renders chat templates, as the reference does: same environment, filters and functions.
#pragma once

namespace nnterp {

/// Reads {"texts": templates by name, "tokens": variables, "file": JSON text, "several": whether it is a list of
/// conversations, "chats": [{"template", "variables"}]}; answers {"texts": […]}, or {"missing": why} without Jinja, or
/// {"error", "kind", "syntax", "line", "chat": index}.
constexpr const char *chatScript = R"python(
import json, sys

def answer(reply):
    sys.stdout.buffer.write(json.dumps(reply).encode("ascii"))
    sys.stdout.flush()
    sys.exit(0)

try:
    import jinja2, jinja2.ext, jinja2.nodes, jinja2.sandbox
except ImportError as e:
    answer({"missing": str(e)})
if tuple(int(n) for n in jinja2.__version__.split(".")[:2]) < (3, 1):
    answer({"missing": "jinja2 is " + jinja2.__version__ + ", older than 3.1"})

from datetime import datetime

try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
except (ImportError, ValueError, OSError):
    pass

class Generation(jinja2.ext.Extension):
    """{% generation %}: what the model writes; a mark for training that renders as its body."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("body"), [], [], body).set_lineno(line)

    def body(self, caller):
        return caller()

def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)

def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

def strftime_now(format):
    return datetime.now().strftime(format)

def template_line(e):
    """The line of the template that failed: the innermost frame of compiled template code."""
    line, frame = None, e.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "<template>":
            line = frame.tb_lineno
        frame = frame.tb_next
    return line

request = json.load(sys.stdin.buffer)
environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
environment.filters["tojson"] = tojson
environment.globals["raise_exception"] = raise_exception
environment.globals["strftime_now"] = strftime_now

data = json.loads(request["file"])
templates, rendered = {}, []
for i, chat in enumerate(request["chats"]):
    try:
        name = chat["template"]
        if name not in templates:
            templates[name] = environment.from_string(request["texts"][name])
        given = data[i] if request["several"] else data
        given = {"messages": given} if isinstance(given, list) else given
        variables = {"tools": None, "documents": None, **request["tokens"], **given, **chat["variables"]}
        text = templates[name].render(variables)
        text.encode("utf-8")
        rendered.append(text)
    except Exception as e:
        syntax = isinstance(e, jinja2.exceptions.TemplateSyntaxError)
        answer({"error": str(e), "kind": type(e).__name__, "chat": i, "syntax": syntax,
                "line": e.lineno if syntax else template_line(e)})
answer({"texts": rendered})
)python";

} // namespace nnterp
