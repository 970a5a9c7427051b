// Shuffles, votes, matches and reductions, against the manual's rules lane by lane.
#include "Harness.h"

#include <catch2/catch.hpp>

using namespace nnterp::gpu::test;

/// One warp: lane l has a[l], b[l], c[l].
static void checkWarp(const std::string &instruction, const std::string &types,
                      const std::function<std::vector<uint64_t>(uint32_t)> &sources,
                      const std::function<uint64_t(uint32_t)> &expected) {
  std::vector<Row> rows;
  for (uint32_t l = 0; l < 32; ++l)
    rows.push_back({sources(l), expected(l)});
  // Behind a branch a part of the warp is missing, and the mask says so.
  check("{ .reg .b32 %mask; activemask.b32 %mask; " + instruction + " }", types, rows);
}

static uint64_t value(uint32_t lane) { return lane * 1000 + 7; }

TEST_CASE("shuffles take values from other lanes", "[emulator]") {
  // Without the lanes 3 mod 4, which are missing behind a branch.
  for (uint32_t shift : {0u, 4u, 8u, 16u, 20u})
    for (uint32_t c : {31u, 0u, 0x181fu, 0x1807u, 0x1c1fu})
      for (const std::string mode : {"up", "down", "bfly", "idx"}) {
        const auto from = [=](uint32_t lane, bool &inside) {
          const int segment = int(c >> 8 & 31), clamp = int(c & 31), l = int(lane), b = int(shift);
          const int first = l & segment, last = first | (clamp & ~segment);
          const int j = mode == "up" ? l - b : mode == "down" ? l + b : mode == "bfly" ? l ^ b : first | (b & ~segment);
          inside = mode == "up" ? j >= last : j <= last;
          return uint32_t(inside ? j : l);
        };
        const std::string operands = ", %a, " + std::to_string(shift) + ", " + std::to_string(c) + ", %mask;";
        const auto sources = [](uint32_t l) { return std::vector<uint64_t>{value(l)}; };
        bool inside = false;
        checkWarp("shfl.sync." + mode + ".b32 %d" + operands, "b32 b32", sources,
                  [&](uint32_t l) { return value(from(l, inside)); });
        checkWarp("{ .reg .b32 %x; shfl.sync." + mode + ".b32 %x|%d" + operands + " }", "pred b32", sources,
                  [&](uint32_t l) {
                    from(l, inside);
                    return uint64_t(inside);
                  });
      }
}

TEST_CASE("a shuffle by an index of each lane's own", "[emulator]") {
  checkWarp(
      "shfl.sync.idx.b32 %d, %a, %b, 31, %mask;", "b32 b32 b32",
      [](uint32_t l) {
        return std::vector<uint64_t>{value(l), l * 4 % 32};
      },
      [](uint32_t l) { return value(l * 4 % 32); });
}

TEST_CASE("votes, matches and reductions of a whole warp", "[emulator]") {
  const auto whole = [](const std::string &instruction, const std::function<uint64_t(uint32_t)> &source,
                        const std::function<uint64_t(uint32_t)> &expected) {
    Machine machine(module(".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b64 %in, %out; .reg .b32 %t, "
                           "%a, %d; .reg .pred %p, %q;\n"
                           "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %in, "
                           "%t, 4, %in; mad.wide.u32 %out, %t, 4, %out;\n"
                           "ld.global.u32 %a, [%in]; setp.ne.u32 %p, %a, 0;\n" +
                           instruction + "\nst.global.u32 [%out], %d; ret; }"));
    std::vector<uint32_t> in(32);
    for (uint32_t l = 0; l < 32; ++l)
      in[l] = uint32_t(source(l));
    void *const from = machine.put(in), *const to = machine.put(std::vector<uint32_t>(32));
    machine.run({address(from), address(to)});
    REQUIRE(machine.error() == "");
    const std::vector<uint32_t> out = machine.get<uint32_t>(to, 32);
    for (uint32_t l = 0; l < 32; ++l) {
      INFO(instruction << ", lane " << l);
      CHECK(out[l] == uint32_t(expected(l)));
    }
  };
  const auto third = [](uint32_t l) { return uint64_t(l % 3 == 0); };
  const auto none = [](uint32_t) { return uint64_t(0); };
  const auto every = [](uint32_t) { return uint64_t(1); };
  const std::string as = " selp.u32 %d, 1, 0, %q;";
  whole("vote.sync.ballot.b32 %d, %p, -1;", third, [](uint32_t) { return 0x49249249; });
  whole("vote.sync.ballot.b32 %d, !%p, -1;", third, [](uint32_t) { return ~0x49249249u; });
  whole("vote.sync.any.pred %q, %p, -1;" + as, third, every);
  whole("vote.sync.any.pred %q, %p, -1;" + as, none, none);
  whole("vote.sync.all.pred %q, %p, -1;" + as, third, none);
  whole("vote.sync.all.pred %q, %p, 0xffffffff;" + as, every, every);
  whole("vote.sync.uni.pred %q, %p, -1;" + as, none, every);
  whole("vote.sync.uni.pred %q, %p, -1;" + as, third, none);

  whole(
      "match.any.sync.b32 %d, %a, -1;", [](uint32_t l) { return l % 4; },
      [](uint32_t l) { return 0x11111111u << l % 4; });
  whole(
      "{ .reg .b64 %w; cvt.u64.u32 %w, %a; shl.b64 %w, %w, 33; match.any.sync.b64 %d, %w, -1; }",
      [](uint32_t l) { return l % 2; }, [](uint32_t l) { return 0x55555555u << l % 2; });
  whole("match.all.sync.b32 %d|%q, %a, -1; @%q add.u32 %d, %d, 2;", every, [](uint32_t) { return 1; });
  whole("match.all.sync.b32 %d|%q, %a, -1; @%q add.u32 %d, %d, 2;", third, none);

  const auto signs = [](uint32_t l) { return uint64_t(l * 5 - 70); };
  whole("redux.sync.add.s32 %d, %a, -1;", signs, [](uint32_t) { return uint64_t(31 * 16 * 5 - 32 * 70); });
  whole("redux.sync.add.u32 %d, %a, -1;", third, [](uint32_t) { return 11; });
  whole("redux.sync.min.s32 %d, %a, -1;", signs, [](uint32_t) { return uint64_t(-70); });
  whole("redux.sync.max.s32 %d, %a, -1;", signs, [](uint32_t) { return 85; });
  whole("redux.sync.min.u32 %d, %a, -1;", signs, none);
  whole("redux.sync.max.u32 %d, %a, -1;", signs, [](uint32_t) { return 0xfffffffb; });
  whole(
      "redux.sync.and.b32 %d, %a, -1;", [](uint32_t l) { return 0xff00 | l; }, [](uint32_t) { return 0xff00; });
  whole(
      "redux.sync.or.b32 %d, %a, -1;", [](uint32_t l) { return 0xff00 | l; }, [](uint32_t) { return 0xff1f; });
  whole(
      "redux.sync.xor.b32 %d, %a, -1;", [](uint32_t l) { return l == 5 ? 9 : 6; }, [](uint32_t) { return 15; });
}

TEST_CASE("a part of the warp votes and is reduced by itself", "[emulator]") {
  // Behind the branch the lanes 3 mod 4 are missing; with it there are all 32.
  std::vector<Row> ballots, sums;
  for (uint32_t l = 0; l < 32; ++l) {
    ballots.push_back({{l % 4 != 3}, 0x77777777});
    sums.push_back({{uint64_t(l % 4 != 3)}, 24});
  }
  check("{ .reg .b32 %mask; activemask.b32 %mask; vote.sync.ballot.b32 %d, %a, %mask; }", "b32 pred", ballots);
  check("{ .reg .b32 %mask; activemask.b32 %mask; redux.sync.add.u32 %d, %a, %mask; }", "b32 b32", sums);
}
