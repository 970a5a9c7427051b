// Finds or compiles programs.
#include "tools/nnterp/ProgramSource.h"
#include "runtime/exec/Cache.h"
#include "runtime/exec/CompilerDoor.h"
#include "runtime/exec/Hash.h"
#include "runtime/exec/HostTier.h"
#include "runtime/exec/Key.h"

namespace nnterp {

/// What a program's own code may use. That of a program for a GPU only starts kernels: it runs on every machine.
static std::string tierOf(Target target) { return target == Target::cpu ? hostTier() : "generic"; }

std::string programKey(const ProgramRequest &request) {
  ProgramKey key;
  key.config = configFingerprint(request.prepared.config);
  for (const FoundTensor &tensor : request.weights.tensors())
    key.inventory.push_back({tensor.wanted.key, tensor.wanted.shape, tensor.dtype});
  key.structure = request.prepared.resolved.structure();
  key.target = programTarget(request.target);
  key.tier = tierOf(request.target);
  key.dtype = request.dtype;
  key.compiler = compilerBuild();
  return key.hex();
}

std::optional<CompileResult> compileTo(Stage stage, const ModelConfig &config, const ResolvedPlan *plan,
                                       const CompileWish &wish, Diagnostics &diags) {
  CompileFunction compile = loadCompiler(diags);
  if (!compile)
    return std::nullopt;
  CompileRequest request;
  request.config = &config;
  request.plan = plan;
  if (wish.weights)
    request.weightTypes = storageTypes(*wish.weights);
  request.dtype = wish.dtype;
  request.target = programTarget(wish.target);
  request.tier = tierOf(wish.target);
  request.key = wish.key;
  request.emit = stage;
  request.progress = wish.progress;
  CompileResult result;
  if (!compile(request, result, diags))
    return std::nullopt;
  result.manifest.config = hashOf(configFingerprint(config));
  if (plan)
    result.manifest.structure = plan->structure();
  return result;
}

/// Compiles the program of a request and tries to keep it.
static std::optional<CompileResult> compileAndStore(const ProgramRequest &request, const ProgramCache &cache,
                                                    const std::string &key, Diagnostics &diags) {
  std::optional<CompileResult> compiled =
      compileTo(Stage::object, request.prepared.config, &request.prepared.resolved,
                {request.dtype, request.target, &request.weights, key, request.progress}, diags);
  Diagnostics storing;
  if (compiled && request.useCache && !cache.store(key, compiled->object, compiled->manifest, storing))
    for (const Diagnostic &problem : storing.all())
      diags.note(problem.loc, problem.message);
  return compiled;
}

static ProgramCache cacheOf(const ProgramRequest &request) {
  return ProgramCache(request.cacheDir.empty() ? ProgramCache::defaultRoot() : request.cacheDir);
}

std::optional<bool> cacheProgram(const ProgramRequest &request, Diagnostics &diags) {
  const ProgramCache cache = cacheOf(request);
  const std::string key = programKey(request);
  if (cache.find(key))
    return false;
  return compileAndStore(request, cache, key, diags) ? std::optional(true) : std::nullopt;
}

/// A program of the cache; null without an error when it has to be compiled again.
static std::unique_ptr<Program> fromCache(const ProgramCache &cache, const std::string &key,
                                          const std::shared_ptr<gpu::Device> &device, Diagnostics &diags) {
  std::optional<Artefact> entry = cache.find(key);
  Diagnostics opening;
  std::unique_ptr<Program> program =
      entry ? Program::open(entry->object, std::move(entry->manifest), opening, device) : nullptr;
  for (const Diagnostic &problem : opening.all())
    if (problem.code != "NNT1014" && problem.code != "NNT1015") // then it is the device that failed
      diags.all().push_back(problem);
  return program;
}

std::optional<ReadyProgram> obtainProgram(const ProgramRequest &request, Diagnostics &diags,
                                          std::shared_ptr<gpu::Device> device) {
  const ProgramCache cache = cacheOf(request);
  const std::string key = programKey(request);
  if (request.useCache)
    if (std::unique_ptr<Program> program = fromCache(cache, key, device, diags))
      return ReadyProgram{std::move(program), false};
  if (diags.hasErrors())
    return std::nullopt;
  std::optional<CompileResult> compiled = compileAndStore(request, cache, key, diags);
  if (!compiled)
    return std::nullopt;
  // The bytes at hand need no reading back, and work where the cache's file system forbids execution.
  std::unique_ptr<Program> program =
      Program::fromBytes(compiled->object, std::move(compiled->manifest), diags, std::move(device));
  return program ? std::optional(ReadyProgram{std::move(program), true}) : std::nullopt;
}

} // namespace nnterp
