// Compiles graphs for both targets, runs them, and compares what comes out.
#include "tests/exec/DeviceKernels.h"

#include "passes/Pipelines.h"
#include "runtime/codegen/DeviceCode.h"
#include "runtime/codegen/Emit.h"
#include "runtime/exec/HostTier.h"
#include "runtime/exec/Program.h"
#include "runtime/gpu/emulator/Emulator.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace nnterp::test {

namespace {

void requireNone(const Diagnostics &diags) {
  for (const Diagnostic &diagnostic : diags.all())
    FAIL(format(diagnostic));
}

DType dtypeOf(mlir::Type type) {
  if (type.isInteger(64))
    return DType::i64;
  return type.isBF16() ? DType::bf16 : type.isF16() ? DType::f16 : DType::f32;
}

std::vector<SlotSpec> slotsOf(mlir::ModuleOp module) {
  std::vector<SlotSpec> slots;
  for (mlir::Attribute attr : module->getAttrOfType<mlir::ArrayAttr>("nnterp.slots")) {
    auto entry = mlir::cast<mlir::DictionaryAttr>(attr);
    llvm::StringRef kind = entry.getAs<mlir::StringAttr>("kind").getValue();
    auto type = mlir::cast<mlir::RankedTensorType>(entry.getAs<mlir::TypeAttr>("type").getValue());
    SlotSpec slot;
    slot.kind = kind == "output" ? SlotKind::output : kind == "state" ? SlotKind::state : SlotKind::input;
    slot.name = entry.getAs<mlir::StringAttr>("name").getValue().str();
    slot.dtype = dtypeOf(type.getElementType());
    for (int64_t dim : type.getShape())
      slot.dims.push_back(mlir::ShapedType::isDynamic(dim) ? -1 : dim);
    slots.push_back(slot);
  }
  return slots;
}

/// Memory of the target for a tensor, filled with it.
void *placed(const Tensor &tensor, gpu::Device *device, Diagnostics &diags) {
  if (!device)
    return tensor.data;
  void *memory = device->allocate(tensor.bytes());
  device->upload(memory, tensor.data, tensor.bytes(), diags);
  return memory;
}

/// Races and reads of what nobody wrote are found too: data is small here.
gpu::EmulatorOptions checkingEverything() {
  gpu::EmulatorOptions options;
  options.races = options.unwritten = true;
  return options;
}

Tensor copyOf(const Tensor &tensor) {
  Tensor copy = Tensor::make(tensor.dtype, tensor.shape);
  if (tensor.bytes() > 0)
    std::memcpy(copy.data, tensor.data, tensor.bytes());
  return copy;
}

/// The tensor a slot stands for, checked against its type.
Tensor tensorFor(const SlotSpec &slot, const Values &given, const Shapes &results) {
  if (slot.kind == SlotKind::output) {
    auto shape = results.find(slot.name);
    INFO("extents of result " << slot.name);
    REQUIRE(shape != results.end());
    return Tensor::make(slot.dtype, shape->second);
  }
  auto value = given.find(slot.name);
  INFO("value of " << slot.name);
  REQUIRE(value != given.end());
  REQUIRE(value->second.dtype == slot.dtype);
  REQUIRE(value->second.shape.size() == slot.dims.size());
  for (size_t axis = 0; axis < slot.dims.size(); ++axis)
    REQUIRE((slot.dims[axis] < 0 || slot.dims[axis] == value->second.shape[axis]));
  return copyOf(value->second);
}

} // namespace

Graph::Graph(const std::string &mlir) {
  cpu = compile(mlir, false);
  device = compile(mlir, true);
}

Graph::Compiled Graph::compile(const std::string &text, bool forDevice) {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry r;
    registerForPipelines(r);
    return r;
  }();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  const Target target = forDevice ? Target::gpu : Target::cpu;
  Compiled result;
  Manifest &m = result.manifest;
  auto run = [&](auto populate) {
    mlir::PassManager pm(&context);
    populate(pm);
    REQUIRE(mlir::succeeded(pm.run(*module)));
  };
  run([&](mlir::OpPassManager &pm) { populateKernelsPipeline(pm, target); });
  m.slots = slotsOf(*module);
  run([&](mlir::OpPassManager &pm) { populateBufferizedStagePipeline(pm, target); });
  if (forDevice) {
    run(populateLaunchesStagePipeline);
    m.kernels = kernelSpecs(*module);
  }
  run([&](mlir::OpPassManager &pm) { populateLlvmStagePipeline(pm, target); });
  m.abi = abi::version;
  m.target = forDevice ? "gpu" : "cpu";
  m.chip = forDevice ? chipName : "";
  Diagnostics diags;
  if (forDevice)
    emitDeviceCode(*module, deviceCode, diags);
  requireNone(diags);
  emitSharedObject(*module, *tierByName(hostTier()), forDevice ? deviceCode : "", result.object, diags);
  requireNone(diags);
  return result;
}

Values Graph::run(const Compiled &compiled, bool onDevice, const Values &given, const Shapes &results) {
  Diagnostics diags;
  std::shared_ptr<gpu::Device> device = onDevice ? gpu::makeEmulator(checkingEverything()) : nullptr;
  std::unique_ptr<Program> program = Program::fromBytes(compiled.object, compiled.manifest, diags, device);
  requireNone(diags);
  std::vector<Tensor> tensors;
  std::vector<abi::Slot> slots;
  for (const SlotSpec &spec : compiled.manifest.slots) {
    tensors.push_back(tensorFor(spec, given, results));
    abi::Slot slot{placed(tensors.back(), device.get(), diags), {}};
    std::copy(tensors.back().shape.begin(), tensors.back().shape.end(), slot.sizes);
    slots.push_back(slot);
  }
  requireNone(diags);
  std::optional<RunReport> report = program->run(slots, {}, diags);
  requireNone(diags);
  REQUIRE(report);
  Values values;
  for (size_t i = 0; i < slots.size(); ++i) {
    const SlotSpec &spec = compiled.manifest.slots[i];
    if (device)
      device->download(tensors[i].data, slots[i].data, tensors[i].bytes(), diags);
    if (spec.kind == SlotKind::output || spec.kind == SlotKind::state)
      values[spec.name] = tensors[i];
    else // what a program reads stays as it is
      CHECK(bitDifference(given.at(spec.name), tensors[i]) == "");
  }
  requireNone(diags);
  return values;
}

std::vector<std::string> Graph::kernels() const {
  std::vector<std::string> kinds;
  for (const KernelSpec &kernel : device.manifest.kernels)
    kinds.push_back(kernel.name.substr(0, kernel.name.rfind('_')));
  return kinds;
}

Tensor random(DType dtype, Shape shape, unsigned seed, double scale) {
  Tensor exact = Tensor::make(DType::f32, std::move(shape));
  std::mt19937 bits(seed);
  for (int64_t i = 0; i < elementCount(exact.shape); ++i) {
    double sum = -2; // of four uniform numbers: variance 1/3
    for (int k = 0; k < 4; ++k)
      sum += double(bits()) * 0x1p-32;
    exact.as<float>()[i] = float(sum * std::sqrt(3.0) * scale);
  }
  return dtype == DType::f32 ? exact : exact.to(dtype);
}

Tensor randomIntegers(Shape shape, unsigned seed, int64_t least, int64_t end) {
  Tensor result = Tensor::make(DType::i64, std::move(shape));
  std::mt19937 bits(seed);
  for (int64_t i = 0; i < elementCount(result.shape); ++i)
    result.as<int64_t>()[i] = least + int64_t(bits() % uint64_t(end - least));
  return result;
}

Tensor integers(Shape shape, const std::vector<int64_t> &values) {
  Tensor result = Tensor::make(DType::i64, std::move(shape));
  REQUIRE(int64_t(values.size()) == elementCount(result.shape));
  std::copy(values.begin(), values.end(), result.as<int64_t>());
  return result;
}

Tensor row(const Tensor &t, int64_t index) {
  Shape shape = t.shape;
  REQUIRE(index < shape.at(0));
  shape[0] = 1;
  Tensor result = Tensor::make(t.dtype, shape);
  if (result.bytes() > 0)
    std::memcpy(result.data, t.as<char>() + result.bytes() * size_t(index), result.bytes());
  return result;
}

std::string bitDifference(const Tensor &expected, const Tensor &got) {
  if (expected.dtype != got.dtype || expected.shape != got.shape)
    return "expected " + toString(expected.shape) + ", found " + toString(got.shape);
  const size_t size = byteSize(expected.dtype);
  for (int64_t i = 0; i < elementCount(expected.shape); ++i)
    if (std::memcmp(expected.as<char>() + size_t(i) * size, got.as<char>() + size_t(i) * size, size) != 0)
      return "element " + std::to_string(i) + ": expected " + std::to_string(expected.at(i)) + ", found " +
             std::to_string(got.at(i));
  return "";
}

std::string difference(const Tensor &expected, const Tensor &got, double bound, double fewEntries) {
  if (expected.dtype != got.dtype || expected.shape != got.shape || expected.dtype == DType::i64)
    return bitDifference(expected, got);
  const int64_t count = elementCount(expected.shape);
  double largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::abs(expected.at(i)));
  const bool narrow = expected.dtype == DType::bf16;
  int64_t unequal = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double a = expected.at(i), b = got.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    ++unequal;
    const double ulp = narrow ? std::ldexp(1.0, std::ilogb(std::max({std::abs(a), std::abs(b), 1e-30})) - 7) : 0;
    if (!(std::abs(a - b) <= bound * largest + ulp))
      return "element " + std::to_string(i) + ": expected " + std::to_string(a) + ", found " + std::to_string(b) +
             "; the largest is " + std::to_string(largest);
  }
  if (narrow && double(unequal) > std::max(3.0, fewEntries * double(count)))
    return std::to_string(unequal) + " of " + std::to_string(count) + " entries are not equal";
  return "";
}

} // namespace nnterp::test
