// Orders the ops of a function piece by piece.
#include "passes/lower/Pieces.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"
#include "passes/Producers.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <tuple>

using namespace mlir;

namespace nnterp {
namespace {

/// The ops of half a block in one world that have no place yet.
struct Segment {
  SmallVector<Operation *> left;
};

class Cutter {
public:
  explicit Cutter(Block &body) : body(body) {
    for (Operation &op : body.without_terminator())
      if (!isa<hybrid::WeightOp, BufferOp>(op)) {
        producers[&op] = producersOf(&op, body).takeVector();
        keys[&op] = {blockOf(&op), isChannelMixer(&op), worldIndex(&op)};
        segments[keys[&op]].left.push_back(&op);
      }
  }

  SmallVector<Piece> cut() {
    SmallVector<Piece> pieces;
    while (!segments.empty()) {
      auto next = llvm::find_if(segments, [&](const auto &entry) { return isComplete(entry.second); });
      if (next ==
          segments.end()) // worlds that read from each other: as much as is possible of the first that can go on
        next = llvm::find_if(segments, [&](const auto &entry) { return !ready(entry.second).empty(); });
      assert(next != segments.end() && "the graph has no cycle");
      auto [block, channelMixer, world] = next->first;
      Piece piece{block, channelMixer, world, ready(next->second)};
      for (Operation *op : piece.ops)
        placed.insert(op);
      llvm::erase_if(next->second.left, [&](Operation *op) { return placed.contains(op); });
      if (next->second.left.empty())
        segments.erase(next);
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

private:
  using Key = std::tuple<int64_t, bool, int64_t>; ///< block, half, world
  Block &body;
  std::map<Key, Segment> segments;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> producers;
  llvm::DenseMap<Operation *, Key> keys;
  llvm::DenseSet<Operation *> placed;

  /// The op's mark, or where it was lost, the last block among the producers of what it reads.
  int64_t blockOf(Operation *op) {
    if (std::optional<int64_t> index = blockIndex(op))
      return *index;
    int64_t index = -1;
    for (Operation *producer : producers[op])
      if (auto known = keys.find(producer); known != keys.end())
        index = std::max(index, std::get<0>(known->second));
    return index;
  }

  bool isOutside(Operation *producer) const { return !keys.count(producer) || placed.contains(producer); }

  /// Whether everything it needs from outside is there. Ops of a segment stand in order, so nothing else can be
  /// missing.
  bool isComplete(const Segment &segment) const {
    llvm::DenseSet<Operation *> own(segment.left.begin(), segment.left.end());
    return llvm::all_of(segment.left, [&](Operation *op) {
      return llvm::all_of(producers.at(op),
                          [&](Operation *producer) { return own.contains(producer) || isOutside(producer); });
    });
  }

  /// The ops of a segment that can run now, one after the other.
  SmallVector<Operation *> ready(const Segment &segment) const {
    SmallVector<Operation *> ops;
    llvm::DenseSet<Operation *> before;
    for (Operation *op : segment.left)
      if (llvm::all_of(producers.at(op),
                       [&](Operation *producer) { return before.contains(producer) || isOutside(producer); })) {
        ops.push_back(op);
        before.insert(op);
      }
    return ops;
  }
};

} // namespace

SmallVector<Piece> cutIntoPieces(Block &body) { return Cutter(body).cut(); }

} // namespace nnterp
