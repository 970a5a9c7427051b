// Kernels around single instructions.
#include "Harness.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <regex>
#include <sstream>

namespace nnterp::gpu::test {

std::string module(const std::string &text) { return ".version 7.0\n.target sm_80\n.address_size 64\n" + text; }

Machine::Machine(const std::string &text, const EmulatorOptions &options, const std::vector<KernelSpec> &kernels)
    : device(makeEmulator(options)) {
  device->load(text, kernels, diags);
}

void *Machine::putBytes(const void *values, size_t bytes) {
  void *memory = device->allocate(bytes);
  REQUIRE(memory);
  device->upload(memory, values, bytes, diags);
  return memory;
}

void Machine::getBytes(void *values, void *memory, size_t bytes) { device->download(values, memory, bytes, diags); }

bool Machine::run(const std::vector<uint64_t> &params, uint32_t threads, uint32_t blocks, uint32_t dynamicShared,
                  int64_t kernel) {
  Launch launch;
  launch.kernel = kernel;
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  launch.dynamicShared = dynamicShared;
  return run(params, launch);
}

bool Machine::run(const std::vector<uint64_t> &params, const Launch &geometry) {
  std::vector<const void *> pointers;
  for (const uint64_t &param : params)
    pointers.push_back(&param);
  Launch launch = geometry;
  launch.parameters = pointers.data();
  return device->launch(launch, diags);
}

std::string Machine::error() const {
  if (diags.all().empty())
    return "";
  return std::regex_replace(format(diags.all().front()), std::regex("0x[0-9a-f]{9,}"), "0x…");
}

static std::vector<std::string> words(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string word; stream >> word;)
    found.push_back(word);
  return found;
}

/// The kernel: thread t reads in[4·t…] into %a, %b, %c, %e and writes out[t].
static std::string kernelAround(const std::string &instruction, const std::vector<std::string> &types, bool branch) {
  static const char *const names[] = {"%d", "%a", "%b", "%c", "%e"};
  std::string text =
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 count) {\n"
      ".reg .b64 %in, %out, %x, %offset, %count, %index; .reg .b32 %tid, %ctaid, %ntid, %y; .reg .pred %skip;\n";
  for (size_t k = 0; k < types.size(); ++k)
    text += ".reg ." + types[k] + " " + names[k] + ";\n";
  text += "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %count, [count];\n"
          "mov.u32 %tid, %tid.x; mov.u32 %ctaid, %ctaid.x; mov.u32 %ntid, %ntid.x;\n"
          "mad.lo.u32 %y, %ctaid, %ntid, %tid; cvt.u64.u32 %index, %y;\n"
          "mul.wide.u32 %offset, %y, 32; add.u64 %in, %in, %offset; mul.wide.u32 %offset, %y, 8; add.u64 %out, %out, "
          "%offset;\n";
  for (size_t k = 1; k < types.size(); ++k) {
    const std::string from = "ld.global.u64 %x, [%in+" + std::to_string(8 * (k - 1)) + "]; ";
    text += from + (types[k] == "pred"  ? "setp.ne.u64 " + std::string(names[k]) + ", %x, 0;\n"
                    : types[k] == "b64" ? "mov.b64 " + std::string(names[k]) + ", %x;\n"
                                        : "cvt.u" + types[k].substr(1) + ".u64 " + names[k] + ", %x;\n");
  }
  // What is behind the branch runs with a part of the warp only.
  if (branch)
    text += "and.b32 %y, %tid, 3; setp.eq.u32 %skip, %y, 3; @%skip bra DONE;\n";
  text += instruction + "\n";
  text += types[0] == "pred"  ? "selp.b64 %x, 1, 0, %d;\n"
          : types[0] == "b64" ? "mov.b64 %x, %d;\n"
                              : "cvt.u64.u" + types[0].substr(1) + " %x, %d;\n";
  return module(text + "st.global.u64 [%out], %x;\nDONE: ret;\n}\n");
}

uint64_t sameNan(uint64_t value, const std::string &type) {
  if (type == "f32" && std::isnan(real(value)))
    return 0x7fffffff;
  if (type == "f64" && std::isnan(cast<double>(value)))
    return 0x7fffffffffffffff;
  if ((type == "f16" && (value & 0x7fff) > 0x7c00) || (type == "bf16" && (value & 0x7fff) > 0x7f80))
    return 0x7fff;
  return value;
}

void check(const std::string &instruction, const std::string &types, const std::vector<Row> &rows) {
  // "b32:f32" is a register of 32 bits whose results are compared as floats.
  std::vector<std::string> registers = words(types);
  std::string kind;
  if (const size_t colon = registers[0].find(':'); colon != std::string::npos) {
    kind = registers[0].substr(colon + 1);
    registers[0].resize(colon);
  }
  std::vector<uint64_t> in(4 * rows.size(), 0);
  for (size_t r = 0; r < rows.size(); ++r)
    std::copy(rows[r].sources.begin(), rows[r].sources.end(), in.begin() + long(4 * r));
  for (const char *tier : {"generic", "avx2", "avx512"})
    for (bool branch : {false, true}) {
      EmulatorOptions options;
      options.tier = tier;
      options.threads = 1;
      Machine machine(kernelAround(instruction, registers, branch), options);
      INFO(instruction << " on " << tier << (branch ? " behind a branch" : ""));
      REQUIRE(machine.error() == "");
      void *const from = machine.put(in), *const to =
                                              machine.put(std::vector<uint64_t>(rows.size(), 0xdeadbeefdeadbeef));
      // Whole warps, and the rest in a block of its own.
      const uint32_t whole = uint32_t(rows.size()) / 32 * 32, rest = uint32_t(rows.size()) - whole;
      if (whole)
        machine.run({address(from), address(to), whole}, 32, whole / 32);
      if (rest)
        machine.run({address(from) + whole * 32, address(to) + whole * 8, rest}, rest);
      REQUIRE(machine.error() == "");
      const std::vector<uint64_t> out = machine.get<uint64_t>(to, rows.size());
      for (size_t r = 0; r < rows.size(); ++r) {
        if (branch && r % 32 % 4 == 3)
          continue;
        if (sameNan(out[r], kind) != sameNan(rows[r].expected, kind)) {
          std::ostringstream text;
          text << std::hex << "found 0x" << out[r] << ", expected 0x" << rows[r].expected << " for";
          for (uint64_t source : rows[r].sources)
            text << " 0x" << source;
          FAIL(text.str());
        }
      }
    }
}

std::vector<Row> pairs(const std::vector<uint64_t> &first, const std::vector<uint64_t> &second,
                       const std::function<uint64_t(uint64_t, uint64_t)> &expected) {
  std::vector<Row> rows;
  for (uint64_t a : first)
    for (uint64_t b : second)
      rows.push_back({{a, b}, expected(a, b)});
  return rows;
}
std::vector<Row> pairs(const std::vector<uint64_t> &values,
                       const std::function<uint64_t(uint64_t, uint64_t)> &expected) {
  return pairs(values, values, expected);
}

std::vector<Row> singles(const std::vector<uint64_t> &values, const std::function<uint64_t(uint64_t)> &expected) {
  std::vector<Row> rows;
  for (uint64_t a : values)
    rows.push_back({{a}, expected(a)});
  return rows;
}

std::vector<Row> triples(const std::vector<uint64_t> &values,
                         const std::function<uint64_t(uint64_t, uint64_t, uint64_t)> &expected) {
  std::vector<Row> rows;
  for (uint64_t a : values)
    for (uint64_t b : values)
      for (uint64_t c : values)
        rows.push_back({{a, b, c}, expected(a, b, c)});
  return rows;
}

const std::vector<uint64_t> integers = {0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        10,
                                        31,
                                        32,
                                        33,
                                        63,
                                        64,
                                        100,
                                        127,
                                        128,
                                        255,
                                        256,
                                        0x7fff,
                                        0x8000,
                                        0xffff,
                                        0x10000,
                                        0x7fffffff,
                                        0x80000000,
                                        0x80000001,
                                        0xfffffffe,
                                        0xffffffff,
                                        0x100000000,
                                        0x123456789abcdef0,
                                        0x7fffffffffffffff,
                                        0x8000000000000000,
                                        0x8000000000000001,
                                        0xdeadbeefcafebabe,
                                        0xfffffffffffffffe,
                                        0xffffffffffffffff};
const std::vector<uint64_t> floats = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40490fdb, 0x3eaaaaab, 0xc2280000, 0x4b000001,
    0x4effffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x00000001, 0x807fffff,
    0x00400000, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f7fffff, 0x3f800001, 0x47800000, 0x477fe000, 0x477ff000,
    0x387fc000, 0x33000000, 0x33000001, 0x3fc00000, 0x40200000, 0xbf000000};
const std::vector<uint64_t> doubles = {0,
                                       0x8000000000000000,
                                       0x3ff0000000000000,
                                       0xbff0000000000000,
                                       0x3fe0000000000000,
                                       0x400921fb54442d18,
                                       0x3fd5555555555555,
                                       0xc045000000000000,
                                       0x43e0000000000000,
                                       0x43f0000000000000,
                                       0xc3e0000000000000,
                                       0x41dfffffffc00000,
                                       0x41e0000000000000,
                                       0x7fefffffffffffff,
                                       0x0010000000000000,
                                       0x0000000000000001,
                                       0x800fffffffffffff,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff8000000000000,
                                       0x3ff0000010000000,
                                       0x3ff0000030000000,
                                       0x47efffffe0000000,
                                       0x47effffff0000000,
                                       0x36a0000000000000,
                                       0x3ff8000000000000,
                                       0x4004000000000000,
                                       0xc004000000000000};
const std::vector<uint64_t> halves = {0,      0x8000, 0x3c00, 0xbc00, 0x3800, 0x4248, 0x3555, 0x7bff,
                                      0xfbff, 0x0400, 0x0001, 0x83ff, 0x0200, 0x7c00, 0xfc00, 0x7e00,
                                      0x3bff, 0x3c01, 0x5640, 0xc500, 0x3e00, 0x4100};
const std::vector<uint64_t> brains = {0,      0x8000, 0x3f80, 0xbf80, 0x3f00, 0x4049, 0x3eab, 0x7f7f,
                                      0xff7f, 0x0080, 0x0001, 0x807f, 0x0040, 0x7f80, 0xff80, 0x7fc0,
                                      0x3f7f, 0x3f81, 0x4b00, 0xc228, 0x3fc0, 0x4020};

} // namespace nnterp::gpu::test
