// Checks that an artefact is for a run, and says what differs.
#include "tools/nnterp/ArtefactProgram.h"
#include "runtime/exec/Hash.h"
#include "runtime/exec/HostTier.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

namespace nnterp {

namespace fs = std::filesystem;

/// Makes the paths under one member of a plan absolute.
static void makeAbsolute(Json &plan, const char *section, const std::string &directory) {
  for (Json::Member &part : plan.object)
    if (part.key == section)
      for (Json::Member &entry : part.value.object)
        for (Json::Member &member : entry.value.object)
          if ((member.key == "file" || member.key == "chat") && member.value.isString())
            member.value.string = fs::absolute(fs::path(directory) / member.value.string).lexically_normal().string();
}

std::string planToKeep(const Plan &plan) {
  Json json = plan.json;
  makeAbsolute(json, "values", plan.directory);
  makeAbsolute(json, "inputs", plan.directory);
  return json.dump(1) + "\n";
}

std::optional<Json> keptPlan(const Artefact &artefact, const std::vector<std::string> &values, Diagnostics &diags) {
  if (artefact.plan.empty()) {
    diags.error("NNT1748", {artefact.folder, 0, 0},
                "\"" + artefact.folder +
                    "\" has no plan.json; expected --plan with the plan that it was compiled from");
    return std::nullopt;
  }
  std::optional<Json> plan = parseJson(artefact.plan, artefact.planPath(), diags);
  if (!plan)
    return std::nullopt;
  for (Json::Member &part : plan->object)
    if (part.key == "values") {
      std::vector<Json::Member> &defined = part.value.object;
      auto isAnew = [&](const Json::Member &value) {
        return std::any_of(values.begin(), values.end(),
                           [&](const std::string &flag) { return flag.rfind(value.key + "=", 0) == 0; });
      };
      defined.erase(std::remove_if(defined.begin(), defined.end(), isAnew), defined.end());
    }
  return plan;
}

static std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// What runs are for, by the words of a structure's first line.
static constexpr struct {
  const char *word, *meaning;
} purposes[] = {{"next", "generates tokens (--generate)"},
                {"steps", "generates two tokens or more (--generate 2)"},
                {"resume", "reads its prompt in pieces or continues a state (--chunk, --load-state)"},
                {"save", "saves its state (--save-state)"},
                {"images", "has images"}};

/// At most three of the lines that one structure has and the other lacks.
static void addMissing(const std::vector<std::string> &has, const std::vector<std::string> &lacks, const char *what,
                       std::vector<Diagnostic::Note> &notes) {
  const std::set<std::string> known(lacks.begin(), lacks.end());
  size_t shown = 0, more = 0;
  for (const std::string &line : has)
    if (!known.count(line) && line.rfind("run", 0) != 0) {
      if (shown++ < 3)
        notes.push_back({{}, what + line});
      else
        ++more;
    }
  if (more)
    notes.back().message += " (and " + std::to_string(more) + " more)";
}

static std::vector<Diagnostic::Note> differences(const std::string &compiled, const std::string &wanted) {
  const std::vector<std::string> program = linesOf(compiled), run = linesOf(wanted);
  auto words = [](const std::vector<std::string> &lines) {
    std::istringstream stream(lines.empty() ? "" : lines.front());
    return std::set<std::string>(std::istream_iterator<std::string>(stream), {});
  };
  const std::set<std::string> ofProgram = words(program), ofRun = words(run);
  std::vector<Diagnostic::Note> notes;
  for (const auto &[word, meaning] : purposes)
    if (ofProgram.count(word) != ofRun.count(word))
      notes.push_back(
          {{}, std::string(ofProgram.count(word) ? "it is for a run that " : "it is not for a run that ") + meaning});
  addMissing(program, run, "compiled, but not in this plan: ", notes);
  addMissing(run, program, "in this plan, but not compiled: ", notes);
  return notes;
}

std::optional<ReadyProgram> openArtefact(const Artefact &artefact, const ProgramRequest &request, Diagnostics &diags,
                                         std::shared_ptr<gpu::Device> device) {
  const Manifest &manifest = artefact.manifest;
  const SourceLoc loc{artefact.folder, 0, 0};
  bool good = true;
  auto refuse = [&](const char *code, const std::string &message) -> Diagnostic & {
    good = false;
    return diags.error(code, loc, message);
  };
  if (manifest.config != hashOf(configFingerprint(request.prepared.config)))
    refuse("NNT1749", "it was compiled for another configuration than that of " + request.prepared.config.file);
  if (const std::string wanted = request.prepared.resolved.structure(); good && manifest.structure != wanted)
    refuse("NNT1751", "it was compiled for a plan of another structure").notes =
        differences(manifest.structure, wanted);
  if (!runsTier(manifest.tier))
    refuse("NNT1752", "it was compiled for processors with " + manifest.tier + "; this one has " + hostTier());
  if (!good)
    return std::nullopt;
  std::unique_ptr<Program> program = Program::open(artefact.object, manifest, diags, std::move(device));
  return program ? std::optional(ReadyProgram{std::move(program), false}) : std::nullopt;
}

} // namespace nnterp
