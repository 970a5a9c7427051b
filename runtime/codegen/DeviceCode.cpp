// Compiles kernels with LLVM's NVPTX backend.
#include "runtime/codegen/DeviceCode.h"

#include "passes/lower/gpu/KernelWork.h"
#include "runtime/codegen/Optimize.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

using namespace mlir;

namespace nnterp {

namespace {

std::unique_ptr<llvm::TargetMachine> deviceMachine(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return makeMachine(llvm::Triple("nvptx64-nvidia-cuda"), chipName, "+ptx70", std::nullopt, error);
}

bool fail(Diagnostics &diags, const char *code, std::string message) {
  diags.error(code, {}, std::move(message));
  return false;
}

/// A kernel on its way to PTX. Each has a context of its own: LLVM compiles them beside each other.
struct Job {
  std::string name;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  llvm::SmallString<0> text; ///< with LLVM's head on it
  std::string error;

  void compile(llvm::TargetMachine &machine) {
    optimizeModule(*module, machine);
    if (!compileModule(*module, machine, llvm::CodeGenFileType::AssemblyFile, text))
      error = "LLVM writes no PTX";
    module = nullptr;
  }
};

/// Compiles the jobs with all processors.
void compileAll(llvm::MutableArrayRef<std::unique_ptr<Job>> jobs) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    std::string error;
    std::unique_ptr<llvm::TargetMachine> machine = deviceMachine(error);
    for (size_t i; (i = next++) < jobs.size();)
      jobs[i]->compile(*machine);
  };
  const size_t processors = std::max(std::thread::hardware_concurrency(), 1u);
  std::vector<std::thread> helpers(std::min(processors - 1, jobs.size())); // beside this one
  for (std::thread &helper : helpers)
    helper = std::thread(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
}

/// What stands behind the lines that every module begins with.
llvm::StringRef withoutHead(llvm::StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    llvm::StringRef word = line.trim();
    if (!word.empty() && !word.starts_with("//") && !word.starts_with(".version") && !word.starts_with(".target") &&
        !word.starts_with(".address_size"))
      break;
    text = rest;
  }
  return text.rtrim();
}

/// The head of a module, as the first kernel has it.
std::string headOf(llvm::StringRef text) {
  std::string head;
  for (llvm::StringRef line : llvm::split(text, '\n'))
    if (line.starts_with(".version") || line.starts_with(".target") || line.starts_with(".address_size"))
      head += line.str() + "\n";
  return head;
}

} // namespace

/// "linear, layers[3].self_attn.q_proj.output": what a location names, from the outermost on; places in files as
/// FILE:LINE:COLUMN.
static std::string locationText(Location location) {
  std::vector<std::string> parts;
  location->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part))
      parts.push_back(named.getName().str());
    else if (auto place = dyn_cast<FileLineColLoc>(part))
      parts.push_back(place.getFilename().str() + ":" + std::to_string(place.getLine()) + ":" +
                      std::to_string(place.getColumn()));
    return WalkResult::advance();
  });
  return llvm::join(parts, ", ");
}

std::vector<KernelSpec> kernelSpecs(ModuleOp module) {
  std::vector<KernelSpec> specs;
  for (auto kernel : module.getOps<gpu::GPUModuleOp>()) {
    KernelWork work = workOf(kernel.lookupSymbol<gpu::GPUFuncOp>(kernel.getName()));
    specs.push_back(
        {kernel.getName().str(), locationText(kernel.getLoc()), std::move(work.flops), std::move(work.memory)});
  }
  return specs;
}

bool emitDeviceCode(ModuleOp module, std::string &ptx, Diagnostics &diags) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerGPUDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerNVVMDialectTranslation(*module.getContext());
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = deviceMachine(error);
  if (!machine)
    return fail(diags, "NNT1110", "LLVM does not write PTX: " + error);
  std::vector<std::unique_ptr<Job>> jobs;
  auto failed = [&](const Job &job) {
    return fail(diags, "NNT1110", "the kernel " + job.name + " cannot be compiled: " + job.error);
  };
  for (auto kernel : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
    Job &job = *jobs.emplace_back(std::make_unique<Job>());
    job.name = kernel.getName().str();
    job.module = translateModule(kernel, job.context, job.name, *machine, job.error);
    if (!job.module)
      return failed(job);
    kernel.erase();
  }
  compileAll(jobs);
  std::string bodies;
  for (const std::unique_ptr<Job> &job : jobs) {
    if (!job->error.empty())
      return failed(*job);
    llvm::StringRef text = job->text;
    if (text.contains(".extern .func"))
      return fail(diags, "NNT1111", "the kernel " + job->name + " calls a function that is not its own");
    if (ptx.empty())
      ptx = headOf(text);
    bodies += "\n" + withoutHead(text).str() + "\n";
  }
  ptx += bodies;
  return true;
}

} // namespace nnterp
