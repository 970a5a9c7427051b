// Finds or compiles programs.
#include "tools/nnterp/ProgramSource.h"
#include "runtime/exec/Cache.h"
#include "runtime/exec/CompilerDoor.h"
#include "runtime/exec/HostTier.h"
#include "runtime/exec/Key.h"

namespace nnterp {

std::string programKey(const ProgramRequest &request) {
  ProgramKey key;
  key.config = configFingerprint(request.prepared.config);
  for (const FoundTensor &tensor : request.weights.tensors())
    key.inventory.push_back({tensor.wanted.key, tensor.wanted.shape, tensor.dtype});
  key.structure = request.prepared.resolved.structure();
  key.tier = hostTier();
  key.dtype = request.dtype;
  key.compiler = compilerBuild();
  return key.hex();
}

std::optional<CompileResult> compileTo(Stage stage, const ModelConfig &config, const ResolvedPlan *plan, DType dtype,
                                       const CheckpointIndex *weights, const std::string &key,
                                       std::function<void(std::string_view, double)> progress, Diagnostics &diags) {
  CompileFunction compile = loadCompiler(diags);
  if (!compile)
    return std::nullopt;
  CompileRequest request;
  request.config = &config;
  request.plan = plan;
  if (weights)
    request.weightTypes = storageTypes(*weights);
  request.dtype = dtype;
  request.tier = hostTier();
  request.key = key;
  request.emit = stage;
  request.progress = std::move(progress);
  CompileResult result;
  return compile(request, result, diags) ? std::optional(std::move(result)) : std::nullopt;
}

static std::unique_ptr<Program> fromCache(const ProgramCache &cache, const std::string &key) {
  std::optional<ProgramCache::Entry> entry = cache.find(key);
  Diagnostics unreported; // what cannot be opened is compiled again
  return entry ? Program::open(entry->object, std::move(entry->manifest), unreported) : nullptr;
}

std::optional<ReadyProgram> obtainProgram(const ProgramRequest &request, Diagnostics &diags) {
  const ProgramCache cache(request.cacheDir.empty() ? ProgramCache::defaultRoot() : request.cacheDir);
  const std::string key = programKey(request);
  if (request.useCache)
    if (std::unique_ptr<Program> program = fromCache(cache, key))
      return ReadyProgram{std::move(program), false};

  std::optional<CompileResult> compiled = compileTo(Stage::object, request.prepared.config, &request.prepared.resolved,
                                                    request.dtype, &request.weights, key, request.progress, diags);
  if (!compiled)
    return std::nullopt;
  Diagnostics storing;
  if (request.useCache && !cache.store(key, compiled->object, compiled->manifest, storing))
    for (const Diagnostic &problem : storing.all())
      diags.note(problem.loc, problem.message);
  // The bytes at hand need no reading back, and work where the cache's file system forbids execution.
  std::unique_ptr<Program> program = Program::fromBytes(compiled->object, std::move(compiled->manifest), diags);
  return program ? std::optional(ReadyProgram{std::move(program), true}) : std::nullopt;
}

} // namespace nnterp
