// Hashes ops by their contents: much faster than what would do as well, printing them.
#include "passes/lower/gpu/KernelHash.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Region.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace nnterp {

namespace {

/// Writes an op as numbers: lists begin with their length, values and blocks are numbered as they come up.
class Writer {
public:
  std::vector<uint64_t> words;

  void write(Operation *op) {
    writeText(op->getName().getIdentifier());
    writeText(op->getAttrDictionary());
    words.push_back(op->getNumOperands());
    for (Value operand : op->getOperands())
      words.push_back(numberOf(operand.getAsOpaquePointer()));
    writeDefinitions(op->getResults());
    words.push_back(op->getNumSuccessors());
    for (Block *successor : op->getSuccessors())
      words.push_back(numberOf(successor));
    words.push_back(op->getNumRegions());
    for (Region &region : op->getRegions()) {
      words.push_back(region.getBlocks().size());
      for (Block &block : region) {
        words.push_back(numberOf(&block));
        writeDefinitions(block.getArguments());
        words.push_back(block.getOperations().size());
        for (Operation &inner : block)
          write(&inner);
      }
    }
  }

private:
  uint64_t numberOf(const void *thing) { return numbers.try_emplace(thing, numbers.size()).first->second; }

  template <typename Values> void writeDefinitions(Values values) {
    words.push_back(values.size());
    for (Value value : values) {
      words.push_back(numberOf(value.getAsOpaquePointer()));
      writeText(value.getType());
    }
  }

  /// A type or an attribute, as the hash of what it is printed as.
  template <typename Entity> void writeText(Entity entity) {
    auto [known, isNew] = texts.try_emplace(entity.getAsOpaquePointer(), 0);
    if (isNew) {
      std::string text;
      llvm::raw_string_ostream out(text);
      entity.print(out);
      known->second = llvm::xxh3_64bits(text);
    }
    words.push_back(known->second);
  }

  llvm::DenseMap<const void *, uint64_t> numbers, texts;
};

} // namespace

uint64_t hashOf(Operation *op) {
  Writer writer;
  writer.write(op);
  return llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(writer.words.data()), writer.words.size() * sizeof(uint64_t)));
}

} // namespace nnterp
