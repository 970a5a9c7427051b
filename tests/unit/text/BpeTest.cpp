// The order of merges, their cost, and the vocabulary's look-ups.
#include "runtime/text/Bpe.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace nnterp;

/// Merges over the ids of ASCII letters; a result that is not given gets the next id from 256.
static Bpe bpeOf(const std::vector<std::pair<uint32_t, uint32_t>> &merges) {
  Bpe bpe;
  for (int byte = 0; byte < 256; ++byte)
    bpe.setByte(uint8_t(byte), uint32_t(byte));
  uint32_t rank = 0;
  for (auto [left, right] : merges) {
    bpe.addMerge(left, right, rank, 256 + rank);
    ++rank;
  }
  return bpe;
}

static std::vector<uint32_t> idsOf(const Bpe &bpe, std::string_view piece) {
  std::vector<Bpe::Symbol> symbols;
  bpe.encode(piece, symbols);
  std::vector<uint32_t> ids;
  size_t length = 0;
  for (const Bpe::Symbol &symbol : symbols) {
    ids.push_back(symbol.id);
    length += symbol.length;
  }
  CHECK(length == piece.size());
  return ids;
}

using Ids = std::vector<uint32_t>;

TEST_CASE("the merge of lowest rank goes first, of equal ones the leftmost") {
  const Bpe bpe = bpeOf({{'b', 'c'}, {'a', 'b'}, {256, 'd'}, {'a', 258}});
  CHECK(idsOf(bpe, "") == Ids{});
  CHECK(idsOf(bpe, "a") == Ids{'a'});
  CHECK(idsOf(bpe, "ab") == Ids{257});
  CHECK(idsOf(bpe, "abc") == Ids{'a', 256});
  CHECK(idsOf(bpe, "abcd") == Ids{259});
  CHECK(idsOf(bpeOf({{'a', 'a'}}), "aaaaa") == Ids{256, 256, 'a'});
  CHECK(idsOf(bpeOf({{'a', 'a'}, {256, 'a'}}), "aaa") == Ids{257});
}

TEST_CASE("a pair given twice has the later rank") {
  CHECK(idsOf(bpeOf({{'a', 'b'}, {'b', 'c'}, {'a', 'b'}}), "abc") == Ids{'a', 257});
}

TEST_CASE("bytes without an entry are left out") {
  Bpe bpe;
  bpe.setByte('a', 7);
  std::vector<Bpe::Symbol> symbols;
  bpe.encode("xax", symbols);
  REQUIRE(symbols.size() == 1);
  CHECK(symbols[0].id == 7);
  symbols.clear();
  bpe.encode("x", symbols);
  CHECK(symbols.empty());
}

TEST_CASE("a piece of a million bytes takes no quadratic time") {
  std::vector<std::pair<uint32_t, uint32_t>> doubling = {{'a', 'a'}};
  for (uint32_t i = 0; i < 10; ++i)
    doubling.emplace_back(256 + i, 256 + i);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(idsOf(bpeOf(doubling), std::string(1 << 20, 'a')) == Ids(512, 266));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("the vocabulary finds entries both ways, and ids used twice") {
  Vocabulary vocabulary;
  for (uint32_t i = 0; i < 1000; ++i)
    vocabulary.add("entry" + std::to_string(i), 3000 - 2 * i);
  CHECK_FALSE(vocabulary.finish());
  CHECK(vocabulary.size() == 1000);
  CHECK(vocabulary.idOf("entry7") == 2986u);
  CHECK_FALSE(vocabulary.idOf("entry1000"));
  REQUIRE(vocabulary.entryOf(2986));
  CHECK(*vocabulary.entryOf(2986) == "entry7");
  CHECK_FALSE(vocabulary.entryOf(2987));
  CHECK_FALSE(vocabulary.entryOf(-1));
  CHECK_FALSE(vocabulary.entryOf(int64_t(1) << 40));
  vocabulary.add("again", 2986);
  CHECK(vocabulary.finish() == 2986u);
}
