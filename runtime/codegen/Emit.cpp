// Translates, optimises and compiles a module with LLVM, checks what the object refers to, and links it with lld.
#include "runtime/codegen/Emit.h"
#include "runtime/codegen/Optimize.h"

#include "runtime/abi/Diagnostic.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

namespace nnterp {

namespace {

/// A folder that is gone when its owner is.
class TemporaryFolder {
public:
  TemporaryFolder() : error(llvm::sys::fs::createUniqueDirectory("nnterp", path)) {}
  ~TemporaryFolder() {
    if (!error)
      llvm::sys::fs::remove_directories(path);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;

  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return std::string(full);
  }

  llvm::SmallString<128> path;
  std::error_code error;
};

bool fail(Diagnostics &diags, const char *code, std::string message) {
  diags.error(code, {}, std::move(message));
  return false;
}

std::unique_ptr<llvm::TargetMachine> targetMachine(const Tier &tier, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  return makeMachine(llvm::Triple(llvm::sys::getDefaultTargetTriple()), tier.cpu, tier.features, llvm::Reloc::PIC_,
                     error);
}

/// What the generated code may take from the C library.
constexpr llvm::StringLiteral allowedSymbols[] = {"memcpy", "memmove", "memset"};

std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                        const llvm::TargetMachine &machine, std::string &error) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  return translateModule(module, context, "nnterp", machine, error);
}

/// Checks that every symbol the object needs is one it may need.
bool checkSymbols(llvm::StringRef object, Diagnostics &diags) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file)
    return fail(diags, "NNT1110", "the generated object cannot be read: " + llvm::toString(file.takeError()));
  std::vector<std::string> unknown;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return fail(diags, "NNT1110", "the generated object has a broken symbol table");
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty() &&
        !llvm::is_contained(allowedSymbols, *name))
      unknown.push_back(name->str());
  }
  if (unknown.empty())
    return true;
  return fail(diags, "NNT1111",
              "the generated code calls " + joinOr(unknown) + ", expected calls through the host's table only");
}

std::string findLinker() {
  for (const std::string &name : {"ld.lld-" + std::to_string(LLVM_VERSION_MAJOR), std::string("ld.lld")})
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name))
      return *found;
  return "";
}

bool link(llvm::StringRef object, std::string &soBytes, Diagnostics &diags) {
  std::string linker = findLinker();
  if (linker.empty())
    return fail(diags, "NNT1112", "expected ld.lld in PATH, found no such program");
  TemporaryFolder folder;
  if (folder.error)
    return fail(diags, "NNT0102", "no temporary folder can be made: " + folder.error.message());
  std::string objectFile = folder.file("program.o"), sharedFile = folder.file("program.so"), log = folder.file("log");
  std::error_code error;
  {
    llvm::raw_fd_ostream out(objectFile, error);
    if (!error)
      out << object;
    out.close();
    if (!error && out.has_error())
      error = out.error();
    out.clear_error();
  }
  if (error)
    return fail(diags, "NNT0102", objectFile + ": " + error.message());
  // Undefined symbols were checked; the executor's process has the C library.
  std::vector<llvm::StringRef> arguments = {linker,     "-shared",     "-Bsymbolic",      "--gc-sections",
                                            "-z",       "noexecstack", "--build-id=none", "-o",
                                            sharedFile, objectFile};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt,
                                         {llvm::StringRef(), llvm::StringRef(log), llvm::StringRef(log)},
                                         /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  auto read = [](const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  if (status != 0)
    return fail(diags, "NNT1112", linker + " ended with status " + std::to_string(status) + ": " + message + read(log));
  soBytes = read(sharedFile);
  return !soBytes.empty() || fail(diags, "NNT1112", linker + " wrote no file");
}

} // namespace

/// The text of kernels as a constant of the program.
static void addDeviceCode(llvm::Module &module, const std::string &code) {
  llvm::Constant *text = llvm::ConstantDataArray::getString(module.getContext(), code, /*AddNull=*/true);
  new llvm::GlobalVariable(module, text->getType(), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, text,
                           "nnterp_device_code");
}

bool emitSharedObject(mlir::ModuleOp module, const Tier &tier, const std::string &deviceCode, std::string &soBytes,
                      Diagnostics &diags) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = targetMachine(tier, error);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = machine ? translate(module, context, *machine, error) : nullptr;
  if (!ir)
    return fail(diags, "NNT1110", "no code can be generated for tier " + tier.name + ": " + error);
  if (!deviceCode.empty())
    addDeviceCode(*ir, deviceCode);
  optimizeModule(*ir, *machine);
  llvm::SmallVector<char, 0> object;
  if (!compileModule(*ir, *machine, llvm::CodeGenFileType::ObjectFile, object))
    return fail(diags, "NNT1110", "no code can be generated for tier " + tier.name + ": LLVM writes no objects for it");
  llvm::StringRef bytes(object.data(), object.size());
  return checkSymbols(bytes, diags) && link(bytes, soBytes, diags);
}

std::string llvmIrText(mlir::ModuleOp module, const Tier &tier) {
  std::string error, text;
  std::unique_ptr<llvm::TargetMachine> machine = targetMachine(tier, error);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = machine ? translate(module, context, *machine, error) : nullptr;
  if (ir) {
    llvm::raw_string_ostream stream(text);
    ir->print(stream, nullptr);
  }
  return text;
}

} // namespace nnterp
