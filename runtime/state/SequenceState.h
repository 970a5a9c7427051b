// What a sequence remembers between calls: attention keys and values, convolution windows, recurrent states, and its tokens.
#pragma once

#include "runtime/abi/Manifest.h"
#include "runtime/exec/CallInputs.h"
#include "runtime/exec/MemorySpace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// A sequence's memory at rest: how it is saved and loaded. Rows are left-aligned; what is behind a row's end is 0.
struct SavedSequence {
  TensorMap parts;                           ///< by name without the world; keys and values [B,NK,T,D]
  std::vector<int64_t> lengths;              ///< tokens of each row that the memory holds; T is the largest
  std::vector<std::vector<int64_t>> tokens;  ///< those, and behind them the pending one if there is one
  std::vector<Position> next;                ///< position of the token that comes next
  bool pending = false;                      ///< each row has a last generated token that was not fed back yet

  int64_t rows() const { return int64_t(lengths.size()); }
};

/// The memory of one world's batch of sequences, in use: a program reads and writes `parts` in place, in the space that
/// it works in. Errors everywhere: those of the space.
class SequenceState {
public:
  /// Zeroed parts for the program's slots of kind `state` whose names begin with `prefix`, with no tokens. The space
  /// must outlive it.
  static std::optional<SequenceState> make(const std::vector<SlotSpec> &slots, const std::string &prefix, int64_t rows,
                                           Diagnostics &diags, MemorySpace &space = hostSpace());

  /// Room for `tokens` tokens per row: caches grow in blocks, their rows are copied, what is new is zero. Nothing happens when
  /// there is room.
  bool reserve(int64_t tokens, Diagnostics &diags);
  /// Copies the memory of a saved sequence with as many rows; parts that the program does not have are left out. Errors: NNT1206
  /// for a part of another type or shape.
  bool restore(const SavedSequence &saved, Diagnostics &diags);
  /// Puts the parts, as they are now, under `prefix` + name. What is in use changes when caches grow.
  void publish(const std::string &prefix, TensorMap &into) const;
  /// A copy at rest, in the host's memory, caches cut to the longest row.
  std::optional<SavedSequence> snapshot(Diagnostics &diags) const;

  /// Row `row` was fed a token of the prompt (the pending one, if there was one), at `position`.
  void fed(int64_t row, int64_t token, const Position &position);
  /// A token was generated for a row; it is pending until it is fed back.
  void generated(int64_t row, int64_t token);
  /// The pending token of a row was fed back, at the next position.
  void fedBack(int64_t row);

  int64_t rows() const { return int64_t(past.size()); }
  int64_t length(int64_t row) const { return past[size_t(row)]; } ///< tokens in memory
  const Position &next(int64_t row) const { return positions[size_t(row)]; }
  const std::vector<int64_t> &tokens(int64_t row) const { return history[size_t(row)]; } ///< the pending one included
  int64_t capacity() const { return room; }
  int64_t growths() const { return grown; } ///< how often caches were made larger
  const TensorMap &parts() const { return memory; } ///< by name without the prefix

private:
  SequenceState(MemorySpace &space, int64_t rows);

  MemorySpace *space;
  TensorMap memory;
  std::vector<int64_t> past;
  std::vector<std::vector<int64_t>> history;
  std::vector<Position> positions;
  int64_t room = 0, grown = 0;
};

/// Whether a part of this name is a cache, whose axis 2 counts tokens.
bool isCache(const std::string &name);
/// Capacity of caches that hold `tokens`, when they had `capacity`: twice as much as before, at least a block, as often as needed.
int64_t grownCapacity(int64_t capacity, int64_t tokens);

} // namespace nnterp
