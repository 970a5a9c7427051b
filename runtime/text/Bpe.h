// Byte-level BPE: a vocabulary, and the merges that build its entries from bytes.
#pragma once

#include "runtime/text/FlatIndex.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nnterp {

/// The vocabulary of a tokenizer: entries in letters (byteToLetter), verbatim from the file.
class Vocabulary {
public:
  void reserve(size_t entries);
  /// Adds an entry that is not there yet. All entries are added before the first look-up by id.
  void add(std::string entry, uint32_t id);
  /// Orders the entries by id; the first id that two entries share, or nothing.
  std::optional<uint32_t> finish();

  std::optional<uint32_t> idOf(std::string_view entry) const;
  const std::string *entryOf(int64_t id) const; ///< null when there is none
  std::vector<std::string> all() const;         ///< every entry, in the order added
  size_t size() const { return entries.size(); }

private:
  struct Entry {
    std::string text;
    uint32_t id;
  };
  std::vector<Entry> entries;
  FlatIndex byText;
  std::vector<std::pair<uint32_t, uint32_t>> byId; ///< id, index in entries
};

/// Merges pairs of neighbouring symbols, the pair of lowest rank first, of equal ones the leftmost.
class Bpe {
public:
  struct Symbol {
    uint32_t id;
    uint32_t length; ///< bytes
  };

  /// The ids of all bytes; a byte without an entry has none and is left out of what is encoded.
  void setByte(uint8_t byte, uint32_t id) { bytes[byte] = id; }
  /// `rank` counts up; a pair given twice has the later rank, as in the `tokenizers` library.
  void addMerge(uint32_t left, uint32_t right, uint32_t rank, uint32_t result);
  void reserve(size_t merges);

  /// Appends the symbols of a piece; O(n log n).
  void encode(std::string_view piece, std::vector<Symbol> &out) const;

private:
  struct Rule {
    uint32_t left, right, rank, result;
  };
  const Rule *rule(uint32_t left, uint32_t right) const;

  std::array<std::optional<uint32_t>, 256> bytes;
  std::vector<Rule> rules;
  FlatIndex byPair; ///< into `rules`
};

} // namespace nnterp
