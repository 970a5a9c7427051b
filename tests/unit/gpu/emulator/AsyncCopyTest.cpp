// cp.async: what arrives when, and what is seen before.
#include "Harness.h"

#include <catch2/catch.hpp>

using namespace nnterp::gpu::test;

static std::string kernel(const std::string &body) {
  return module(".shared .align 16 .b8 tile[1024];\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
                ".reg .b64 %in, %out, %d; .reg .b32 %t, %a, %x<8>; .reg .pred %p;\n"
                "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %a, tile; mad.lo.u32 "
                "%a, %t, 16, %a;\n"
                "mad.wide.u32 %in, %t, 16, %in; mad.wide.u32 %out, %t, 16, %out;\n" +
                body + "\nret; }\n");
}

static std::vector<uint32_t> result(const std::string &body, std::string &error) {
  Machine machine(kernel(body));
  std::vector<uint32_t> in(128);
  for (uint32_t k = 0; k < 128; ++k)
    in[k] = 100 + k;
  void *const from = machine.put(in), *const to = machine.put(std::vector<uint32_t>(128));
  machine.run({address(from), address(to)});
  error = machine.error();
  return machine.get<uint32_t>(to, 128);
}

static const std::string show =
    " ld.shared.v4.u32 {%x0, %x1, %x2, %x3}, [%a]; st.global.v4.u32 [%out], {%x0, %x1, %x2, %x3};";

TEST_CASE("asynchronous copies arrive when they are waited for", "[emulator]") {
  std::string error;
  for (const std::string wait : {"cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"}) {
    const std::vector<uint32_t> found = result("cp.async.cg.shared.global [%a], [%in], 16; " + wait + show, error);
    REQUIRE(error == "");
    for (uint32_t k = 0; k < 128; ++k)
      CHECK(found[k] == 100 + k);
  }
  // By 4 and 8 bytes, with an offset.
  std::vector<uint32_t> found =
      result("cp.async.ca.shared.global [%a], [%in+12], 4; cp.async.ca.shared.global.L2::128B [%a+4], [%in+4], 4;\n"
             "cp.async.ca.shared.global [%a+8], [%in], 8; cp.async.wait_all;" +
                 show,
             error);
  REQUIRE(error == "");
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(std::vector<uint32_t>(&found[4 * t], &found[4 * t] + 4) ==
          std::vector<uint32_t>{103 + 4 * t, 101 + 4 * t, 100 + 4 * t, 101 + 4 * t});
}

TEST_CASE("what is beyond the source's size is filled with zeroes, and not read", "[emulator]") {
  // The last thread copies nothing from behind the end.
  std::string error;
  const std::vector<uint32_t> found =
      result("setp.lt.u32 %p, %t, 31; selp.u32 %x4, 8, 0, %p; @!%p add.u64 %in, %in, 4096; cp.async.cg.shared.global "
             "[%a], [%in], 16, %x4; cp.async.wait_all;" +
                 show,
             error);
  REQUIRE(error == "");
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(std::vector<uint32_t>(&found[4 * t], &found[4 * t] + 4) ==
          (t < 31 ? std::vector<uint32_t>{100 + 4 * t, 101 + 4 * t, 0, 0} : std::vector<uint32_t>(4)));
}

TEST_CASE("groups arrive in order", "[emulator]") {
  // The first of two groups is waited for: its half is there, and the other is not to be read.
  const std::string two = "cp.async.ca.shared.global [%a], [%in], 8; cp.async.commit_group; cp.async.ca.shared.global "
                          "[%a+8], [%in+8], 8; cp.async.commit_group; cp.async.wait_group 1;";
  std::string error;
  const std::vector<uint32_t> found =
      result(two + " ld.shared.v2.u32 {%x0, %x1}, [%a]; st.global.v2.u32 [%out], {%x0, %x1};", error);
  REQUIRE(error == "");
  for (uint32_t t = 0; t < 32; ++t)
    CHECK((found[4 * t] == 100 + 4 * t && found[4 * t + 1] == 101 + 4 * t && found[4 * t + 2] == 0));
  result(two + show, error);
  CHECK(error.find("error NNT1722") != std::string::npos);
}

TEST_CASE("copies of a part of the warp", "[emulator]") {
  std::string error;
  const std::vector<uint32_t> found =
      result("st.shared.v4.u32 [%a], {1, 2, 3, 4}; setp.lt.u32 %p, %t, 5; @%p cp.async.cg.shared.global [%a], [%in], "
             "16; @%p cp.async.commit_group; @%p cp.async.wait_group 0;" +
                 show,
             error);
  REQUIRE(error == "");
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(found[4 * t] == (t < 5 ? 100 + 4 * t : 1));
}
