// Tests of the arena: alignment, reuse, what it counts.
#include "runtime/exec/Arena.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace nnterp;

TEST_CASE("blocks are aligned, disjoint and as large as asked", "[arena]") {
  HostArena arena;
  std::vector<std::pair<unsigned char *, uint64_t>> blocks;
  for (uint64_t size = 0; size < 600000; size = size < 300 ? size + 1 : size * 3 / 2) {
    auto *block = static_cast<unsigned char *>(arena.allocate(size));
    REQUIRE(block);
    CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
    std::memset(block, int(blocks.size() % 251), size);
    blocks.emplace_back(block, size);
  }
  for (size_t b = 0; b < blocks.size(); ++b)
    for (uint64_t i = 0; i < blocks[b].second; ++i)
      if (blocks[b].first[i] != b % 251)
        FAIL("block " << b << " was overwritten at byte " << i);
}

TEST_CASE("a released block is handed out again", "[arena]") {
  HostArena arena;
  for (uint64_t size : {1, 64, 1000, 1 << 20}) {
    void *first = arena.allocate(size);
    arena.release(first);
    CHECK(arena.allocate(size) == first);
  }
  const uint64_t reserved = arena.reservedBytes();
  for (int i = 0; i < 1000; ++i)
    arena.release(arena.allocate(50000));
  CHECK(arena.reservedBytes() <= reserved + (1 << 20));
}

TEST_CASE("current and peak bytes are counted by class", "[arena]") {
  HostArena arena;
  CHECK(arena.currentBytes() == 0);
  void *a = arena.allocate(1), *b = arena.allocate(65);
  CHECK(arena.currentBytes() == 64 + 128);
  void *c = arena.allocate(9 * 64); // four classes per power of two: 8, 10, 12, 14 units
  CHECK(arena.currentBytes() == 64 + 128 + 640);
  arena.release(c);
  arena.release(a);
  CHECK(arena.currentBytes() == 128);
  CHECK(arena.peakBytes() == 64 + 128 + 640);
  arena.release(nullptr);
  arena.release(b);
  CHECK(arena.currentBytes() == 0);
}

TEST_CASE("a block is at most a quarter larger than asked", "[arena]") {
  HostArena arena;
  for (uint64_t size = 320; size < uint64_t(1) << 22; size = size * 11 / 10) {
    void *block = arena.allocate(size);
    CHECK(arena.currentBytes() >= size);
    CHECK(double(arena.currentBytes()) <= 1.25 * double(size) + 64);
    arena.release(block);
  }
}

TEST_CASE("what no system has is refused", "[arena]") {
  HostArena arena;
  CHECK(arena.allocate(~uint64_t(0)) == nullptr);
  CHECK(arena.currentBytes() == 0);
}

TEST_CASE("requests to the system are counted, and the peak can start again", "[arena]") {
  HostArena arena;
  CHECK(arena.systemAllocations() == 0);
  void *a = arena.allocate(100);
  CHECK(arena.systemAllocations() == 1);
  void *b = arena.allocate(1000000); // large blocks come one by one
  CHECK(arena.systemAllocations() == 2);
  arena.release(b);
  CHECK(arena.peakBytes() >= 1000000);
  arena.restartPeak();
  CHECK(arena.peakBytes() == 128);
  arena.release(arena.allocate(1000000));
  CHECK(arena.systemAllocations() == 2);
  arena.release(a);
}

TEST_CASE("clearing takes everything back", "[arena]") {
  HostArena arena;
  arena.allocate(100);
  arena.allocate(1000000);
  arena.clear();
  CHECK(arena.currentBytes() == 0);
  CHECK(arena.reservedBytes() == 0);
  auto *block = static_cast<char *>(arena.allocate(100));
  std::memset(block, 1, 100);
  CHECK(arena.currentBytes() == 128);
}

TEST_CASE("threads may allocate at once", "[arena]") {
  HostArena arena;
  auto work = [&](unsigned char mark) {
    for (int i = 0; i < 2000; ++i) {
      auto *block = static_cast<unsigned char *>(arena.allocate(200));
      std::memset(block, mark, 200);
      for (int k = 0; k < 200; ++k)
        if (block[k] != mark)
          std::abort();
      arena.release(block);
    }
  };
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
  CHECK(arena.currentBytes() == 0);
}
