// What is said about a name that stands for nothing.
#include "frontend/names/NameMatcher.h"
#include "runtime/abi/Diagnostic.h"

#include <algorithm>

namespace nnterp {

namespace {

std::string_view lastWord(std::string_view name) { return name.substr(name.rfind('.') + 1); }

} // namespace

std::nullopt_t NameMatcher::fail(const char *code, std::string message, std::vector<std::string> notes) {
  error.code = code;
  error.message = std::move(message);
  error.notes = std::move(notes);
  return std::nullopt;
}

std::nullopt_t NameMatcher::malformedIndex() {
  bool tower = parts.scope == NameParts::Scope::tower;
  std::string host = tower ? "vision.layers" : "layers";
  std::string forms = tower ? "[0], [-1], [0,2], [0:8] or [*]" : "[3], [-1], [3,7], [0:8], [*], [linear] or [full]";
  return fail("NNT0604", "\"" + pattern + "\": expected an index behind \"" + host +
                             "\" and a name behind a dot: " + forms + ", as in \"" + host + "[0].layer_output\"");
}

std::nullopt_t NameMatcher::absentOnBlock(int64_t block, Presence presence) {
  BlockKind kind = table.layers()[size_t(block)];
  auto having = table.blocksOf(presence);
  std::vector<std::string> notes;
  notes.push_back(having.empty() ? "no block of this model has it" : "blocks that have it: " + indexList(having));
  // The other mixer often has a value of the same name.
  std::string other = (kind == BlockKind::linear ? "linear_attn." : "self_attn.") + std::string(lastWord(parts.rest));
  if (table.spellings.count("layers[]." + other))
    notes.push_back("block " + std::to_string(block) + " has \"layers[" + std::to_string(block) + "]." + other + "\"");
  return fail("NNT0602",
              "\"" + pattern + "\": block " + std::to_string(block) + " is a " + std::string(kindWord(kind)) +
                  " block and has no \"" + parts.rest + "\"",
              std::move(notes));
}

std::vector<std::string> NameMatcher::candidates() const {
  std::vector<std::string> list;
  bool inBlock = parts.scope != NameParts::Scope::model;
  Presence only = Presence::everyBlock; // of one numbered block, only what it has
  if (parts.scope == NameParts::Scope::block)
    if (auto form = parseIndexForm(parts.index);
        form && form->kind == IndexForm::Kind::list && form->list.size() == 1) {
      int64_t count = int64_t(table.layers().size()), index = form->list[0] < 0 ? form->list[0] + count : form->list[0];
      if (index >= 0 && index < count)
        only = table.layers()[size_t(index)] == BlockKind::linear ? Presence::linearBlock : Presence::fullBlock;
    }
  const std::string towerPrefix = "vision.layers[j].";
  for (const PointInfo &row : table.rows()) {
    auto add = [&](const std::string &spelling) {
      bool tower = spelling.compare(0, towerPrefix.size(), towerPrefix) == 0;
      if (inBlock && parts.scope == NameParts::Scope::tower && tower) {
        std::string rest = spelling.substr(towerPrefix.size());
        if (size_t hash = rest.find("#i"); hash != std::string::npos)
          rest = rest.substr(0, hash) + "#0";
        list.push_back(parts.prefix + rest);
      } else if (parts.scope == NameParts::Scope::block && row.inBlock()) {
        Presence presence = presenceOf(row, spelling);
        if (only == Presence::everyBlock || presence == Presence::everyBlock || presence == only)
          list.push_back(parts.prefix + spelling);
      } else if (!inBlock && !tower && !row.inBlock()) {
        list.push_back(spelling);
      }
    };
    add(row.name);
    for (const std::string &alias : row.aliases)
      add(alias);
  }
  return list;
}

std::vector<std::string> NameMatcher::suggestions() const {
  std::string_view last = lastWord(parts.rest);
  // A right last word with a wrong or missing host is nearer in meaning than edit distance says.
  std::vector<std::string> list, sameWord, all = candidates();
  for (const std::string &name : all)
    if (!last.empty() && lastWord(name) == last && last != "input" && last != "output")
      sameWord.push_back(name);
  list = nearest(pattern, sameWord);
  // A block's value without its block, or a value of the model inside a block.
  for (const PointInfo &row : table.rows()) {
    if (list.size() < 3 && parts.scope == NameParts::Scope::model && row.inBlock() &&
        (row.name == pattern || lastWord(row.name) == pattern))
      list.push_back(patternOf(row, row.name));
    if (list.size() < 3 && parts.scope == NameParts::Scope::block && row.presence == Presence::model &&
        row.name == parts.rest)
      list.push_back(row.name);
  }
  auto addNearest = [&](const std::vector<std::string> &from) {
    for (const std::string &name : nearest(pattern, from))
      if (list.size() < 3 && std::find(list.begin(), list.end(), name) == list.end())
        list.push_back(name);
  };
  std::vector<std::string> sameHost; // after a right first word, what stands behind it
  size_t dot = pattern.find('.');
  for (const std::string &name : all)
    if (dot != std::string::npos && name.compare(0, dot + 1, pattern, 0, dot + 1) == 0)
      sameHost.push_back(name);
  addNearest(sameHost);
  addNearest(all);
  return list;
}

std::nullopt_t NameMatcher::unknown() {
  if (pattern == "tokens")
    return fail("NNT0608", "\"tokens\" exists only when tokens are generated (--generate N)");
  if (parts.scope == NameParts::Scope::block && (parts.rest == "mlp.mlp_activation" || parts.rest == "mlp.mlp_neurons"))
    return fail("NNT0606",
                "\"" + pattern +
                    "\": the mixture has no neurons of its own, its experts are fused; the shared expert's are \"" +
                    parts.prefix + "mlp.shared_experts." + std::string(lastWord(parts.rest)) + "\"");
  return fail("NNT0601", "no value is named \"" + pattern + "\"", {"nearest: " + joinOr(suggestions())});
}

} // namespace nnterp
