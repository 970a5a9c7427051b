// `--plan=FILE`: attaches a plan to an imported graph.
#include "tools/nnterp-opt/AttachPlan.h"

#include "dialect/Nnterp/Nnterp.h"
#include "frontend/import/PlanToIR.h"
#include "frontend/plan/Resolved.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace nnterp {
namespace {

struct AttachPlanPass : PassWrapper<AttachPlanPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttachPlanPass)

  AttachPlanPass() = default;
  AttachPlanPass(const AttachPlanPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "nnterp-attach-plan"; }
  StringRef getDescription() const override { return "Appends a JSON plan to an imported graph as nnterp.plan"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<NnterpDialect>(); }

  Option<std::string> plan{*this, "plan", llvm::cl::desc("the plan's file")};

  void runOnOperation() override {
    Diagnostics diags;
    attach(diags);
    for (const Diagnostic &d : diags.all())
      if (d.severity == Severity::error) {
        Location loc = FileLineColLoc::get(&getContext(), d.loc.file, unsigned(d.loc.line), unsigned(d.loc.col));
        auto error = emitError(loc) << d.code << ": " << d.message;
        for (const auto &note : d.notes)
          error.attachNote() << note.message;
      }
    if (diags.hasErrors())
      signalPassFailure();
  }

  void attach(Diagnostics &diags) {
    auto config = getOperation()->getAttrOfType<StringAttr>("nnterp.config");
    if (!config) {
      getOperation().emitError() << "has no attribute nnterp.config: a plan needs a graph made by 'nnterp import'";
      return signalPassFailure();
    }
    std::optional<Json> text = parseJson(config.getValue().str(), "nnterp.config", diags);
    std::optional<ModelConfig> model = text ? readConfig(*text, diags) : std::nullopt;
    std::optional<Json> file = readJsonFile(plan, diags);
    if (!model || !file)
      return;
    StringRef directory = llvm::sys::path::parent_path(plan);
    std::optional<Plan> read = readPlan(*file, directory.empty() ? "." : directory.str(), diags);
    if (!read)
      return;
    RunShape shape;
    shape.next = shape.steps = shape.memory = getOperation().lookupSymbol("step") != nullptr;
    std::optional<ResolvedPlan> resolved =
        resolvePlan(std::make_shared<Plan>(std::move(*read)), qwen35MoePoints(*model), *model, shape, diags);
    if (resolved)
      addPlan(getOperation(), *resolved);
  }
};

} // namespace

void registerAttachPlan() { PassRegistration<AttachPlanPass>(); }

std::vector<std::string> expandPlanFlag(int argc, char **argv) {
  std::vector<std::string> args;
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (arg.consume_front("--plan=") || arg.consume_front("-plan="))
      args.push_back("--nnterp-attach-plan=plan=" + arg.str());
    else
      args.push_back(argv[i]);
  }
  return args;
}

} // namespace nnterp
