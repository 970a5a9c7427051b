// Tests of the memory that programs allocate from on a device.
#include "runtime/exec/DeviceArena.h"
#include "TestDevice.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

TEST_CASE("calls that allocate alike get the same addresses", "[device-arena]") {
  TestDevice device;
  DeviceArena arena(device, false);
  auto call = [&] {
    std::vector<void *> blocks = {arena.allocate(1000), arena.allocate(1000), arena.allocate(70)};
    arena.release(blocks[0]);
    blocks.push_back(arena.allocate(1001)); // of the same class as the one that was just released
    for (size_t i = 1; i < blocks.size(); ++i)
      arena.release(blocks[i]);
    return blocks;
  };
  call(); // brings the lists into their order
  const std::vector<void *> second = call();
  const uint64_t asked = arena.systemAllocations();
  CHECK(call() == second);
  CHECK(call() == second);
  CHECK(arena.systemAllocations() == asked);
  CHECK(second[3] == second[0]);
  CHECK(arena.currentBytes() == 0);
  CHECK(arena.peakBytes() == 1024 + 1024 + 128);
}

TEST_CASE("blocks of a device that checks accesses are exact, and go back at once unless they are kept",
          "[device-arena]") {
  TestDevice device;
  {
    DeviceArena arena(device, true);
    void *block = arena.allocate(1000);
    CHECK(device.used == 1000);
    arena.release(block);
    CHECK(device.used == 0);
    CHECK(arena.reservedBytes() == 0);
    arena.keep(true);
    void *kept = arena.allocate(1000);
    arena.release(kept);
    CHECK(device.used == 1000);
    CHECK(arena.allocate(1001) != kept);
    CHECK(arena.allocate(1000) == kept);
    arena.release(nullptr);
    void *empty = arena.allocate(0);
    CHECK(empty);
    CHECK(arena.currentBytes() == 2001);
  }
  CHECK(device.used == 0); // what was not given back went back with the arena
}

TEST_CASE("what nobody holds makes room, and is not asked for while a call is recorded", "[device-arena]") {
  TestDevice device;
  device.room = 3072;
  DeviceArena arena(device, false);
  void *held = arena.allocate(512);
  arena.release(arena.allocate(2048));
  const uint64_t before = arena.generation();
  void *large = arena.allocate(2304);
  CHECK(large); // the free block went back to the device
  CHECK(arena.generation() != before);
  CHECK(arena.reservedBytes() == 512 + 2560);
  CHECK(arena.allocate(2304) == nullptr);
  CHECK(arena.allocate(~uint64_t(0)) == nullptr);
  CHECK_FALSE(arena.trim());
  arena.release(large);
  arena.freeze(true);
  CHECK(arena.allocate(100) == nullptr);
  CHECK(arena.allocate(2304) == large);
  arena.freeze(false);
  arena.release(held);
  arena.clear();
  CHECK(device.used == 0);
  CHECK(arena.currentBytes() == 0);
}
