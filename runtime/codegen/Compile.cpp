// From a request to IR text or a shared object: the compiler behind runtime/codegen/Compiler.h.
#include "runtime/codegen/Compile.h"

#include "frontend/families/Qwen35MoeGraph.h"
#include "frontend/import/PlanToIR.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/Pipelines.h"
#include "passes/WorkReport.h"
#include "passes/lower/ArenaPeak.h"
#include "runtime/abi/Frame.h"
#include "runtime/codegen/DeviceCode.h"
#include "runtime/codegen/Emit.h"
#include "runtime/exec/HostTier.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace nnterp {
namespace {

SourceLoc placeOf(Location loc) {
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    return {place.getFilename().str(), int(place.getLine()), int(place.getColumn())};
  return {};
}

/// Turns MLIR's errors into ours. A message that begins with a code keeps it; any other one is a fault of the compiler.
bool translate(mlir::Diagnostic &from, Diagnostics &diags) {
  if (from.getSeverity() != DiagnosticSeverity::Error)
    return true;
  std::string message = from.str(), code = "NNT1102";
  if (message.rfind("NNT", 0) == 0 && message.size() > 9 && message[7] == ':') {
    code = message.substr(0, 7);
    message = message.substr(9);
  } else {
    message = "the compiler failed: " + message;
  }
  nnterp::Diagnostic &to = diags.error(code, placeOf(from.getLocation()), message);
  for (mlir::Diagnostic &note : from.getNotes())
    if (code != "NNT1102") // notes of a compiler fault print whole ops
      to.notes.push_back({placeOf(note.getLocation()), note.str()});
  return true;
}

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, OpPrintingFlags().useLocalScope());
  out << "\n";
  return text;
}

DType dtypeOf(Type type) {
  if (type.isInteger(64))
    return DType::i64;
  return type.isBF16() ? DType::bf16 : type.isF16() ? DType::f16 : DType::f32;
}

Manifest manifestOf(ModuleOp module, const CompileRequest &request, const Tier &tier) {
  Manifest m;
  m.abi = abi::version;
  m.tool = NNTERP_VERSION;
  m.target = request.target;
  if (m.target == "gpu")
    m.chip = chipName;
  m.tier = tier.name;
  m.cpu = tier.cpu;
  m.dtype = request.dtype;
  m.key = request.key;
  for (Attribute attr : module->getAttrOfType<ArrayAttr>("nnterp.slots")) {
    auto entry = cast<DictionaryAttr>(attr);
    StringRef kind = entry.getAs<StringAttr>("kind").getValue();
    SlotSpec slot;
    slot.kind = kind == "input"    ? SlotKind::input
                : kind == "weight" ? SlotKind::weight
                : kind == "buffer" ? SlotKind::buffer
                : kind == "state"  ? SlotKind::state
                : kind == "kept"   ? SlotKind::kept
                                   : SlotKind::output;
    slot.name = entry.getAs<StringAttr>("name").getValue().str();
    auto type = cast<RankedTensorType>(entry.getAs<TypeAttr>("type").getValue());
    slot.dtype = dtypeOf(type.getElementType());
    for (int64_t dim : type.getShape())
      slot.dims.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
    m.slots.push_back(std::move(slot));
  }
  if (auto blocks = module->getAttrOfType<IntegerAttr>("nnterp.blocks"))
    m.blocks = blocks.getInt();
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    m.functions += function.isPrivate();
  m.steps = module.lookupSymbol("nnterp_step") != nullptr;
  m.images = module.lookupSymbol("nnterp_images") != nullptr;
  if (m.target == "gpu")
    module.walk(
        [&](ProjectOutOp op) { m.failureEntries = std::max<int64_t>(m.failureEntries, int64_t(op.getEntry()) + 1); });
  return m;
}

} // namespace

/// Points of single images' attention that a plan touches: the graph has those alone.
static std::set<std::string> segmentPoints(const ResolvedPlan &plan) {
  std::set<std::string> names;
  auto add = [&](const std::string &name) {
    if (name.find('#') != std::string::npos)
      names.insert(name);
  };
  for (const EditSpec &edit : plan.edits) {
    add(edit.point);
    for (const SourceSpec &source : edit.sources)
      add(source.place.point);
  }
  for (const TapSpec &tap : plan.taps)
    add(tap.gather.point);
  for (const KeepSpec &keep : plan.keeps)
    add(keep.gather.point);
  return names;
}

/// How much memory the attention of one image takes is a number in memory, which the host of a GPU does not read.
static bool fitsGpu(const ResolvedPlan &plan, Diagnostics &diags) {
  auto refuse = [&](const SourceLoc &loc, const std::string &point) {
    if (point.find('#') != std::string::npos)
      diags.error("NNT0910", loc,
                  "on a GPU this version does not look inside the attention of single images, as at \"" + point +
                      "\"; --target cpu does");
  };
  for (const EditSpec &edit : plan.edits)
    refuse(plan.plan->edits[edit.entry].atLoc, edit.point);
  for (const TapSpec &tap : plan.taps)
    refuse(plan.plan->taps[tap.entry].atLoc, tap.gather.point);
  for (const std::string &point : segmentPoints(plan)) // of sources and of what generated tokens read
    if (!diags.hasErrors())
      refuse({}, point);
  return !diags.hasErrors();
}

bool compile(const CompileRequest &request, CompileResult &result, Diagnostics &diags) {
  static const DialectRegistry registry = [] {
    DialectRegistry r;
    registerForPipelines(r);
    return r;
  }();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // errors speak of the user's plan, not of ops
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) { return success(translate(d, diags)); });
  auto progress = [&](const char *phase, double fraction) {
    if (request.progress)
      request.progress(phase, fraction);
  };

  if (request.target == "gpu" && request.plan && !fitsGpu(*request.plan, diags))
    return false;
  progress("import", 0.0);
  PointTable points = qwen35MoePoints(*request.config);
  auto emit = [&](const RunShape &shape) {
    OwningOpRef<ModuleOp> module =
        emitQwen35Moe(context, *request.config, points, request.weightTypes, request.dtype, shape,
                      request.plan ? segmentPoints(*request.plan) : std::set<std::string>());
    if (request.plan)
      addPlan(*module, *request.plan);
    return module;
  };
  const RunShape shape = request.plan ? request.plan->shape : RunShape();
  // What a prompt leaves in memory for its next chunk is for no reader but the prompt itself: whether an edit is dead
  // is decided as if the prompt were one call, since cutting it never changes what a plan means.
  if (shape.resume && !shape.steps && !shape.save && request.emit >= Stage::checked) {
    RunShape atOnce = shape;
    atOnce.memory = atOnce.resume = false;
    OwningOpRef<ModuleOp> whole = emit(atOnce);
    PassManager pm(&context);
    populatePlanPipeline(pm);
    populateCheckedPipeline(pm);
    if (failed(pm.run(*whole)))
      return false;
  }
  OwningOpRef<ModuleOp> module = emit(shape);
  if (request.emit == Stage::import) // so that the printed graph can be given a plan by nnterp-opt
    if (std::optional<Json> config = readJsonFile(request.config->file, diags))
      (*module)->setAttr("nnterp.config", StringAttr::get(&context, config->dump()));
  const Target target = request.target == "gpu" ? Target::gpu : Target::cpu;
  struct Step {
    Stage stage;
    std::function<void(OpPassManager &)> populate;
    double share; ///< of the whole time, for progress
  };
  const Step steps[] = {
      {Stage::plan, populatePlanPipeline, 0.05},
      {Stage::checked, populateCheckedPipeline, 0.05},
      {Stage::simplified, populateSimplifiedPipeline, 0.08},
      {Stage::kernels, [&](OpPassManager &pm) { populateKernelsPipeline(pm, target); }, 0.12},
      {Stage::bufferized, [&](OpPassManager &pm) { populateBufferizedStagePipeline(pm, target); }, 0.4},
      {Stage::launches, target == Target::gpu ? populateLaunchesStagePipeline : [](OpPassManager &) {}, 0.45},
      {Stage::llvm, [&](OpPassManager &pm) { populateLlvmStagePipeline(pm, target); }, 0.6}};
  const Tier *tier = tierByName(request.tier.empty() ? hostTier() : request.tier);
  if (!tier) {
    diags.error("NNT1103", {}, "unknown instruction tier \"" + request.tier + "\"");
    return false;
  }
  for (auto &step : steps) {
    if (step.stage > request.emit)
      break;
    PassManager pm(&context);
    pm.enableVerifier(false); // after each pass; what a stage leaves is verified
    step.populate(pm);
    if (failed(pm.run(*module)) || failed(verify(*module))) {
      if (!diags.hasErrors())
        diags.error("NNT1102", {}, "the compiler failed in stage " + std::string(name(step.stage)));
      return false;
    }
    if (step.stage == Stage::simplified)
      reportWork(*module, result.report);
    if (step.stage == Stage::kernels) {
      result.manifest = manifestOf(*module, request, *tier);
      reportKernels(*module, result.report);
    }
    if (step.stage == Stage::launches)
      result.manifest.kernels = kernelSpecs(*module);
    if (step.stage == Stage::bufferized) {
      result.manifest.imagePeaks = arenaPeaks(*module, "nnterp_images");
      result.manifest.promptPeaks = arenaPeaks(*module, "nnterp_main");
      result.manifest.stepPeaks = arenaPeaks(*module, "nnterp_step");
    }
    progress(std::string(name(step.stage)).c_str(), step.share);
  }
  if (request.emit < Stage::ptx) {
    result.text = print(*module);
    return true;
  }
  std::string deviceCode;
  if (target == Target::gpu && !emitDeviceCode(*module, deviceCode, diags))
    return false;
  progress("ptx", 0.8);
  if (request.emit == Stage::ptx) {
    result.text = std::move(deviceCode);
    return true;
  }
  if (!emitSharedObject(*module, *tier, deviceCode, result.object, diags))
    return false;
  progress("object", 1.0);
  return true;
}

} // namespace nnterp
