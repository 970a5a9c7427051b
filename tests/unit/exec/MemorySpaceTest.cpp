// Tests of tensors that live on a device.
#include "runtime/exec/MemorySpace.h"
#include "../weights/Fixtures.h"
#include "TestDevice.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

struct OnDevice {
  std::shared_ptr<TestDevice> device = std::make_shared<TestDevice>();
  std::unique_ptr<MemorySpace> space = deviceSpace(device);
  Diagnostics diags;

  Tensor fetched(const Tensor &here) {
    Tensor host = Tensor::make(here.dtype, here.shape);
    REQUIRE(space->fetch(here, host, diags));
    return host;
  }
};

} // namespace

TEST_CASE("tensors on a device start as zeros, of any size", "[space]") {
  OnDevice on;
  for (int64_t count : {0, 1, 5, 16384, 16385, 100000}) { // zeros are sent in pieces of 64 KiB and doubled
    Tensor here;
    REQUIRE(on.space->make(here, DType::f32, {count, 1}, on.diags));
    CHECK(here.shape == Shape{count, 1});
    for (double value : valuesOf(on.fetched(here)))
      if (value != 0)
        FAIL("not zero");
  }
  CHECK(on.device->blocks() == 0); // gone with their tensors
}

TEST_CASE("an update sends what changed", "[space]") {
  OnDevice on;
  Tensor host = tensorOf(DType::i64, {3}, {1, 2, 3}), here;
  REQUIRE(on.space->update(host, here, on.diags));
  const void *address = here.data;
  CHECK(same(on.fetched(here), host));
  REQUIRE(on.space->update(host, here, on.diags));
  CHECK(on.device->uploads == 1);
  host.as<int64_t>()[1] = 7;
  REQUIRE(on.space->update(host, here, on.diags));
  CHECK(on.device->uploads == 2);
  CHECK(here.data == address);
  CHECK(same(on.fetched(here), host));
  // Another shape of as many bytes is no other memory; of more it is.
  host = tensorOf(DType::i64, {1, 3}, {1, 7, 3});
  REQUIRE(on.space->update(host, here, on.diags));
  CHECK(on.device->uploads == 2);
  CHECK(here.shape == Shape{1, 3});
  CHECK(here.data == address);
  host = tensorOf(DType::i64, {4}, {1, 7, 3, 4});
  REQUIRE(on.space->update(host, here, on.diags));
  CHECK(here.data != address);
  CHECK(same(on.fetched(here), host));
  CHECK(on.device->blocks() == 1);
  // Large ones are not remembered.
  Tensor large = Tensor::make(DType::f32, {20000}), there;
  const int64_t before = on.device->uploads;
  REQUIRE(on.space->update(large, there, on.diags));
  REQUIRE(on.space->update(large, there, on.diags));
  CHECK(on.device->uploads == before + 2);
}

TEST_CASE("copies stay on the device", "[space]") {
  OnDevice on;
  Tensor from, to;
  REQUIRE(on.space->put(tensorOf(DType::f32, {4}, {1, 2, 3, 4}), from, on.diags));
  REQUIRE(on.space->make(to, DType::f32, {3}, on.diags));
  REQUIRE(on.space->copy(from, 4, to, 0, 8, on.diags));
  CHECK(valuesOf(on.fetched(to)) == std::vector<double>{2, 3, 0});
  CHECK(on.device->downloads == 1);
}

TEST_CASE("a tensor keeps its device", "[space]") {
  Tensor here;
  std::weak_ptr<TestDevice> device;
  {
    OnDevice on;
    device = on.device;
    REQUIRE(on.space->make(here, DType::f32, {2}, on.diags));
  }
  CHECK_FALSE(device.expired());
  here = Tensor();
  CHECK(device.expired());
}

TEST_CASE("room is asked for once", "[space]") {
  auto device = std::make_shared<TestDevice>();
  device->room = 100;
  int asked = 0;
  void *spare = device->allocate(80);
  std::unique_ptr<MemorySpace> space = deviceSpace(device, [&] {
    ++asked;
    if (spare)
      device->release(spare);
    const bool any = spare != nullptr;
    spare = nullptr;
    return any;
  });
  Diagnostics diags;
  Tensor here, more;
  REQUIRE(space->make(here, DType::u8, {90}, diags));
  CHECK(asked == 1);
  CHECK_FALSE(space->make(more, DType::u8, {90}, diags));
  CHECK(asked == 2);
  CHECK(text(diags) ==
        "error NNT1742: the device (test device) has no memory left for a tensor of 90 bytes, uint8 [90]; a smaller "
        "batch, fewer taps or a shorter prompt needs less\n");
}

TEST_CASE("in the host's memory a mirror is the tensor itself", "[space]") {
  Diagnostics diags;
  MemorySpace &space = hostSpace();
  const Tensor host = tensorOf(DType::f32, {2}, {1, 2});
  Tensor here, copy;
  REQUIRE(space.update(host, here, diags));
  CHECK(here.data == host.data);
  REQUIRE(space.mirror(host, here, diags));
  CHECK(here.data == host.data);
  REQUIRE(space.put(host, copy, diags));
  CHECK(copy.data != host.data);
  CHECK(same(copy, host));
  REQUIRE(space.copy(host, 4, copy, 0, 4, diags));
  CHECK(valuesOf(copy) == std::vector<double>{2, 2});
  REQUIRE(space.fetch(copy, host, diags));
  CHECK(valuesOf(host) == std::vector<double>{2, 2});
}
