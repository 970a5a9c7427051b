// The flag --edit: a place, an operation and its arguments, to the edit they stand for.
#include "frontend/plan/FlagText.h"
#include "frontend/plan/PlanChecks.h"

#include <vector>

namespace nnterp {
namespace {

/// The operations with the arguments that --edit takes for them. `call` is here so that its refusal can name it.
struct OperationForm {
  std::string_view name;
  size_t least, most;
  const char *arguments;
};
constexpr OperationForm operations[] = {
    {"zero", 0, 0, "no argument"},
    {"mask", 0, 0, "no argument"},
    {"fill", 1, 1, "a number"},
    {"scale", 1, 1, "a number or a source"},
    {"add", 1, 1, "SRC[*C]"},
    {"replace", 1, 1, "a source"},
    {"clamp", 2, 2, "MIN MAX (- for an open end)"},
    {"affine", 2, 2, "two numbers, scale and shift"},
    {"lerp", 2, 2, "a source and a number"},
    {"project_out", 1, 1, "a source"},
    {"drop", 1, 1, "experts between commas"},
    {"drop_renorm", 1, 1, "experts between commas"},
    {"reroute", 1, 1, "experts between commas"},
    {"force", 1, 2, "experts between commas and, if wanted, max"},
    {"call", 1, 1, "@FUNCTION"},
};

class EditFlag : FlagText {
public:
  EditFlag(const std::string &text, Diagnostics &diags)
      : FlagText("--edit", "--edit [WORLD:]NAME[{AXIS=SEL,…}] OP [ARGS]", text, diags) {}

  std::optional<Json> read() {
    Piece rest = all();
    Json entry = at(rest, Json::dict());
    if (!place(rest, entry))
      return std::nullopt;
    if (!rest.empty() && blanks.find(rest.front()) == std::string_view::npos)
      return fail(rest, "a blank and an operation");
    std::vector<Piece> words;
    for (rest = rest.trimmed(); !rest.empty(); rest = rest.part(words.back().text.size()).trimmed())
      words.push_back(rest.part(0, rest.text.find_first_of(blanks)));
    if (words.empty())
      return fail(rest, "an operation");
    Piece op = words[0];
    words.erase(words.begin());
    Json action = at(op, Json::dict());
    if (!countArguments(op, words) || !operation(op, words, action))
      return std::nullopt;
    put(entry, "do", op, std::move(action));
    return entry;
  }

private:
  bool countArguments(const Piece &op, const std::vector<Piece> &args) {
    for (const OperationForm &known : operations) {
      if (known.name != op.text)
        continue;
      std::string expected = std::string(known.arguments) + " after \"" + std::string(op.text) + "\"";
      if (args.size() > known.most)
        fail(args[known.most], known.most == 0 ? expected : "only " + expected);
      else if (args.size() < known.least)
        fail(args.empty() ? Piece{{}, op.begin + op.text.size()}
                          : Piece{{}, args.back().begin + args.back().text.size()},
             expected);
      else
        return true;
      return false;
    }
    std::string word(op.text);
    diags.error("NNT0507", loc(op.begin), "unknown operation \"" + word + "\"" + suggest(word, operationNames()));
    return false;
  }

  /// Fills `action`, the `do` of the edit.
  bool operation(const Piece &op, const std::vector<Piece> &args, Json &action) {
    std::string name(op.text);
    if (name == "fill")
      return put(action, name, op, number(args[0]));
    if (name == "scale" || name == "replace" || name == "project_out")
      return put(action, name, op, source(args[0]));
    if (name == "call")
      return put(action, name, op, string(args[0]));
    if (name == "add") {
      size_t star = args[0].text.rfind('*');
      bool sound = put(action, name, op, source(args[0].part(0, star)));
      if (star == std::string_view::npos)
        return sound;
      Piece factor = args[0].part(star + 1);
      return put(action, "scale", factor, number(factor)) && sound;
    }
    Json argument = at(args.empty() ? op : args[0], Json::dict());
    bool sound = arguments(name, args, argument);
    return sound && put(action, name, op, std::move(argument));
  }

  /// The members of an operation whose argument is an object; every wrong one is reported.
  bool arguments(const std::string &name, const std::vector<Piece> &args, Json &argument) {
    bool sound = true;
    auto member = [&](const char *key, const Piece &where, std::optional<Json> value) {
      sound = put(argument, key, where, std::move(value)) && sound;
    };
    if (name == "clamp") {
      for (size_t i : {0, 1})
        if (args[i].text != "-")
          member(i == 0 ? "min" : "max", args[i], number(args[i]));
    } else if (name == "affine") {
      member("scale", args[0], number(args[0]));
      member("shift", args[1], number(args[1]));
    } else if (name == "lerp") {
      member("to", args[0], source(args[0]));
      member("t", args[1], number(args[1]));
    } else if (!args.empty()) { // drop, drop_renorm, reroute, force
      member("experts", args[0], numbers(args[0]));
      if (args.size() == 2)
        member("logit", args[1],
               args[1].text == "max" ? std::optional<Json>(string(args[1])) : fail(args[1], "\"max\""));
    }
    return sound;
  }

  /// A number, a value's name, or @WORLD for the same place there.
  std::optional<Json> source(const Piece &piece) {
    if (std::optional<Json> read = numberOrNone(piece))
      return read;
    if (piece.front() == '$')
      return string(piece);
    Json object = at(piece, Json::dict());
    bool world = piece.front() == '@';
    Piece name = piece.part(world ? 1 : 0);
    if (!isPlanName(name.text))
      return fail(piece, "a number, a value's name or @WORLD");
    put(object, world ? "world" : "value", name, string(name));
    return object;
  }
};

} // namespace

std::optional<Json> editOfFlag(const std::string &text, Diagnostics &diags) { return EditFlag(text, diags).read(); }

} // namespace nnterp
