// Makes the runs that checks need, each once, and lets checks look at them.
#include "tools/nnterp/verify/Verify.h"

#include "tools/nnterp/Stopwatch.h"
#include "tools/nnterp/verify/EditPlans.h"
#include "tools/nnterp/verify/Prompts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace nnterp::verify {

namespace fs = std::filesystem;

std::string atBlock(int64_t block, std::string_view name) {
  return "layers[" + std::to_string(block) + "]." + std::string(name);
}

const std::vector<Check> &checks() {
  static const std::vector<Check> list = [] {
    std::vector<Check> all;
    for (auto group : {streamChecks, mixtureChecks, attentionChecks, deltaChecks, runChecks})
      for (Check &check : group())
        all.push_back(std::move(check));
    return all;
  }();
  return list;
}

namespace {

/// Padded prompts and a state between two runs; gone with the object.
class ScratchFolder {
public:
  ScratchFolder() {
    std::error_code failure;
    std::string name = fs::temp_directory_path(failure) / "nnterp-verify-XXXXXX";
    folder = mkdtemp(name.data()) ? name : "";
  }
  ~ScratchFolder() {
    std::error_code failure;
    if (!folder.empty())
      fs::remove_all(folder, failure);
  }
  ScratchFolder(const ScratchFolder &) = delete;
  std::string path(const char *name) const { return folder + "/" + name; }
  bool exists() const { return !folder.empty(); }

private:
  std::string folder;
};

std::vector<int64_t> chosenBlocks(const ModelConfig &config, bool all) {
  std::vector<int64_t> blocks;
  for (int64_t i = 0; i < config.numLayers; ++i) {
    const auto before = config.layerTypes.begin() + i;
    const bool firstOfKind = std::find(config.layerTypes.begin(), before, config.layerTypes[size_t(i)]) == before;
    if (all || firstOfKind || i + 1 == config.numLayers)
      blocks.push_back(i);
  }
  return blocks;
}

/// Runs from which others follow: the tokens that a row generates, and the experts that it chooses.
bool followsFromValues(RunKind kind) {
  return kind != RunKind::values && kind != RunKind::again && kind != RunKind::logits && kind != RunKind::chunked;
}

} // namespace

class Verifier::Session : public Evidence {
public:
  Session(VerifyOptions options, ModelConfig config, DType dtype, Rows rows)
      : options(std::move(options)), model(std::move(config)), type(dtype), rows(std::move(rows)),
        points(qwen35MoePoints(model)), chosen(chosenBlocks(model, this->options.allBlocks)) {}

  const ModelConfig &config() const override { return model; }
  DType dtype() const override { return type; }
  Target target() const override { return options.target; }
  std::vector<int64_t> blocks(BlockSet set) const override {
    std::vector<int64_t> list;
    for (int64_t i : chosen)
      if (set == BlockSet::every || (set == BlockSet::full && model.isFull(i)) ||
          (set == BlockSet::linear && !model.isFull(i)))
        list.push_back(i);
    return list;
  }
  const RunResult &result(RunKind kind, size_t index) const override { return made[size_t(kind)].at(index); }
  RunView run(RunKind kind, size_t index, const std::string &world) const override {
    std::vector<int64_t> first;
    if (kind == RunKind::continued)
      for (const auto &row : rows)
        first.push_back(int64_t(row.size()));
    return RunView(result(kind, index), std::move(first), world);
  }
  int64_t expert(int64_t block) const override {
    return experts[size_t(std::find(chosen.begin(), chosen.end(), block) - chosen.begin())];
  }

  /// Makes a run that is not there, and first what it follows from.
  bool need(RunKind kind, Diagnostics &diags);
  void release(RunKind kind) { made[size_t(kind)].clear(); }
  size_t runsOf(RunKind kind) const {
    return kind == RunKind::alone ? rows.size() : kind == RunKind::continued ? 2 : 1;
  }

  VerifyOptions options;
  const ModelConfig model;
  const DType type;
  const Rows rows;

private:
  RunOptions plain(const std::string &plan, const Rows &prompts, bool generate) const;
  bool make(RunKind kind, Diagnostics &diags);
  bool add(RunKind kind, const RunOptions &run, Diagnostics &diags);
  bool continueSaved(RunOptions run, Diagnostics &diags);
  void learn(const RunResult &values);

  const PointTable points;
  const std::vector<int64_t> chosen;
  std::vector<RunResult> made[runKinds];
  ScratchFolder scratch;
  Rows longer;                  ///< rows with the tokens that were fed back
  std::vector<int64_t> experts; ///< by chosen block
};

bool Verifier::Session::need(RunKind kind, Diagnostics &diags) {
  if (!made[size_t(kind)].empty())
    return true;
  if (followsFromValues(kind) && experts.empty() && !need(RunKind::values, diags))
    return false;
  return make(kind, diags);
}

RunOptions Verifier::Session::plain(const std::string &plan, const Rows &prompts, bool generate) const {
  RunOptions run;
  run.checkpoint = options.checkpoint;
  Diagnostics unused; // the text is our own
  run.plan.json = parseJson(plan, "plan of nnterp verify", unused);
  run.inputs = idArguments(prompts);
  run.dtype = type;
  run.generation.tokens = generate ? options.generate : 0;
  run.generation.greedy = true;
  run.generation.eos.emplace(); // no token ends a row
  run.generation.pad = 0;
  run.useCache = options.useCache;
  run.target = options.target;
  run.onDevice = options.onDevice;
  run.cacheDir = options.cacheDir;
  run.progress = options.progress;
  return run;
}

bool Verifier::Session::make(RunKind kind, Diagnostics &diags) {
  const std::string everything = tapPlan(allNames(points, chosen));
  const EditTargets targets = editTargets(model, experts);
  switch (kind) {
  case RunKind::values:
  case RunKind::again:
    return add(kind, plain(everything, rows, true), diags);
  case RunKind::logits:
    return add(kind, plain(tapPlan({"logits"}), rows, true), diags);
  case RunKind::whole:
    return add(kind, plain(everything, longer, false), diags);
  case RunKind::order:
    return add(kind, plain(tapPlan(namesBackwards(chosen)), longer, false), diags);
  case RunKind::padded: {
    RunOptions run = plain(everything, longer, false);
    const std::string file = scratch.path("padded.safetensors");
    run.inputs = {{InputKind::file, file}};
    return writePadded(file, longer, 3, diags) && add(kind, run, diags);
  }
  case RunKind::alone:
    return std::all_of(longer.begin(), longer.end(), [&](const std::vector<int64_t> &row) {
      return add(kind, plain(everything, {row}, false), diags);
    });
  case RunKind::chunked: {
    RunOptions run = plain(everything, rows, true);
    run.chunk = options.chunk;
    return add(kind, run, diags);
  }
  case RunKind::continued:
    return continueSaved(plain(everything, rows, true), diags);
  case RunKind::edited:
    return add(kind, plain(editedPlan(model, chosen, targets), rows, true), diags);
  case RunKind::rerouted:
    return add(kind, plain(reroutedPlan(chosen, targets), rows, true), diags);
  }
  return false;
}

/// One token is generated and saved unread; the run that loads it reads it first.
bool Verifier::Session::continueSaved(RunOptions run, Diagnostics &diags) {
  RunOptions before = plain(tapPlan({"logits"}), rows, true);
  before.generation.tokens = 1;
  before.saveState = run.loadState = scratch.path("state.safetensors");
  run.generation.tokens = options.generate - 1;
  run.inputs.clear();
  if (!add(RunKind::continued, before, diags))
    return false;
  release(RunKind::continued); // its file is what counts
  return add(RunKind::continued, run, diags);
}

bool Verifier::Session::add(RunKind kind, const RunOptions &run, Diagnostics &diags) {
  if (!scratch.exists()) {
    diags.error("NNT0102", {fs::temp_directory_path().string(), 0, 0}, "cannot make a folder for files between runs");
    return false;
  }
  Diagnostics own; // remarks on plans that the user did not write help nobody
  std::optional<RunResult> result = options.run ? options.run(kind, run, own) : runModel(run, own);
  for (const Diagnostic &diagnostic : own.all())
    if (diagnostic.severity == Severity::error)
      diags.all().push_back(diagnostic);
  if (!result)
    return false;
  if (kind == RunKind::values)
    learn(*result);
  made[size_t(kind)].push_back(std::move(*result));
  return true;
}

void Verifier::Session::learn(const RunResult &values) {
  const RunView view(values);
  longer = rows;
  for (const GeneratedRow &row : values.generated)
    for (int64_t k = 0; k < view.steps() && !isPictureToken(model, row.tokens[size_t(k)]); ++k)
      longer[size_t(row.row)].push_back(row.tokens[size_t(k)]);
  experts.clear();
  for (int64_t i : chosen)
    experts.push_back(int64_t(TokenValues(view, atBlock(i, "mlp.expert_indices"))(0, view.promptEnd(0) - 1).at(0)));
}

Verifier::Verifier(std::unique_ptr<Session> session) : session(std::move(session)) {}
Verifier::Verifier(Verifier &&) noexcept = default;
Verifier::~Verifier() = default;

std::optional<Verifier> Verifier::open(const VerifyOptions &options, Diagnostics &diags) {
  std::optional<ModelConfig> config = loadConfig(options.checkpoint, diags);
  if (!config)
    return std::nullopt;
  std::optional<OpenWeights> weights = openWeights(options.checkpoint, *config, options.dtype, diags);
  std::optional<Rows> rows =
      options.inputs.empty() ? defaultRows(*config) : rowsOf(options.inputs, *config, options.checkpoint, diags);
  if (!weights || !rows)
    return std::nullopt;
  return Verifier(std::make_unique<Session>(options, std::move(*config), weights->dtype, std::move(*rows)));
}

std::optional<Outcome> Verifier::judge(const Check &check, Diagnostics &diags) {
  Outcome outcome{&check, session->blocks(check.blocks), {}};
  if (check.blocks != BlockSet::none && outcome.blocks.empty()) {
    outcome.findings.skip("the model has no such blocks");
    return outcome;
  }
  for (RunKind kind : check.needs)
    if (!session->need(kind, diags))
      return std::nullopt;
  check.judge(*session, outcome.findings);
  return outcome;
}

void Verifier::releaseAllBut(const std::vector<const Check *> &coming) {
  for (size_t kind = 0; kind < runKinds; ++kind) {
    const bool needed = std::any_of(coming.begin(), coming.end(), [&](const Check *check) {
      return std::find(check->needs.begin(), check->needs.end(), RunKind(kind)) != check->needs.end();
    });
    if (!needed)
      session->release(RunKind(kind));
  }
}

size_t Verifier::runsOf(const std::vector<const Check *> &list) const {
  bool wanted[runKinds] = {};
  for (const Check *check : list)
    for (RunKind kind : check->needs)
      wanted[size_t(kind)] = wanted[size_t(RunKind::values)] = true;
  size_t runs = 0;
  for (size_t kind = 0; kind < runKinds; ++kind)
    runs += wanted[kind] ? session->runsOf(RunKind(kind)) : 0;
  return runs;
}

DType Verifier::dtype() const { return session->type; }
const std::vector<std::vector<int64_t>> &Verifier::rows() const { return session->rows; }

size_t VerifyReport::failures() const {
  return size_t(std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome &o) { return !o.findings.passed(); }));
}

/// The checks that the user asks for, in the order of the list.
static std::optional<std::vector<const Check *>> wantedChecks(const std::vector<std::string> &only,
                                                              Diagnostics &diags) {
  std::vector<std::string> names;
  for (const Check &check : checks())
    names.push_back(check.name);
  bool good = true;
  for (const std::string &name : only)
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      diags.error("NNT1502", {"--only", 0, 0},
                  "there is no check called \"" + name + "\"; nearest: " + joinOr(nearest(name, names)) +
                      "; --list shows all");
      good = false;
    }
  std::vector<const Check *> wanted;
  for (const Check &check : checks())
    if (only.empty() || std::find(only.begin(), only.end(), check.name) != only.end())
      wanted.push_back(&check);
  return good ? std::optional(std::move(wanted)) : std::nullopt;
}

std::optional<VerifyReport> verifyModel(const VerifyOptions &options, Diagnostics &diags) {
  Stopwatch watch;
  std::optional<std::vector<const Check *>> wanted = wantedChecks(options.only, diags);
  VerifyOptions counted = options;
  if (!counted.onDevice && counted.target != Target::cpu) {
    counted.onDevice = openDevice(counted.target, {}, diags);
    if (!counted.onDevice)
      return std::nullopt;
  }
  double done = 0, runs = 1;
  std::string current;
  if (options.progress) {
    counted.progress = [&](std::string_view phase, double fraction) {
      // Compiling is reported before running: each counts as half of a run.
      options.progress(current, (done + (phase == "run" ? 0.5 + fraction / 2 : fraction / 2)) / runs);
    };
  }
  counted.run = [&](RunKind kind, const RunOptions &run, Diagnostics &found) {
    std::optional<RunResult> result = options.run ? options.run(kind, run, found) : runModel(run, found);
    ++done;
    return result;
  };
  std::optional<Verifier> verifier = Verifier::open(counted, diags);
  if (!verifier || !wanted)
    return std::nullopt;
  runs = double(std::max<size_t>(verifier->runsOf(*wanted), 1));

  VerifyReport report{options.checkpoint, verifier->dtype(), verifier->rows(), options.generate, {}, 0};
  while (!wanted->empty()) {
    current = wanted->front()->name;
    std::optional<Outcome> outcome = verifier->judge(*wanted->front(), diags);
    if (!outcome)
      return std::nullopt;
    if (!outcome->findings.passed())
      diags.error("NNT1501", {options.checkpoint, 0, 0},
                  "check " + current + " fails: " + outcome->check->promise + ". " + outcome->findings.first + "; " +
                      std::to_string(outcome->findings.different) + " of " +
                      std::to_string(outcome->findings.compared) + " comparisons differ");
    report.outcomes.push_back(std::move(*outcome));
    wanted->erase(wanted->begin());
    verifier->releaseAllBut(*wanted);
  }
  report.milliseconds = watch.total();
  return report;
}

} // namespace nnterp::verify
