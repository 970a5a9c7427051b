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

#include <mutex>

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

/// One kernel's text with LLVM's head on it.
std::optional<std::string> compileKernel(gpu::GPUModuleOp kernel, llvm::TargetMachine &machine, std::string &error) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModule(kernel, context, kernel.getName(), machine, error);
  if (!module)
    return std::nullopt;
  optimizeModule(*module, machine);
  llvm::SmallString<0> text;
  if (!compileModule(*module, machine, llvm::CodeGenFileType::AssemblyFile, text)) {
    error = "LLVM writes no PTX";
    return std::nullopt;
  }
  return std::string(text);
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
  std::string bodies;
  for (auto kernel : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
    std::optional<std::string> text = compileKernel(kernel, *machine, error);
    if (!text)
      return fail(diags, "NNT1110", "the kernel " + kernel.getName().str() + " cannot be compiled: " + error);
    if (text->find(".extern .func") != std::string::npos)
      return fail(diags, "NNT1111", "the kernel " + kernel.getName().str() + " calls a function that is not its own");
    if (ptx.empty())
      ptx = headOf(*text);
    bodies += "\n" + withoutHead(*text).str() + "\n";
    kernel.erase();
  }
  ptx += bodies;
  return true;
}

} // namespace nnterp
