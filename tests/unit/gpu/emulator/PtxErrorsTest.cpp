// Device code that is refused when it is loaded: one test for each code, with its message.
#include "Harness.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::gpu;
using namespace nnterp::gpu::test;

static std::string errorOf(const std::string &text, const std::string &kernel = "k") {
  return Machine(text, {}, {{kernel, ""}}).error();
}

/// The body's lines begin at 5.
static std::string bodyError(const std::string &body) {
  return errorOf(module(".visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .b16 %h<4>; .reg "
                        ".pred %p<4>; .reg .f32 %f<4>;\n" +
                        body + "\nret; }\n"));
}
static std::string inBody(const std::string &code, const std::string &message, const std::string &line) {
  return "device code:5: error " + code + ": " + message + "\n  note: kernel k: " + line + "\n";
}

TEST_CASE("malformed device code", "[emulator]") {
  CHECK(errorOf("") == "device code:1: error NNT1700: expected \".version\", found the end of the text\n");
  CHECK(errorOf("int main() {}") == "device code:1: error NNT1700: expected \".version\", found \"int\"\n");
  CHECK(errorOf(module("nonsense")) == "device code:4: error NNT1700: expected a declaration, found \"nonsense\"\n");
  CHECK(errorOf(module(".visible .entry k() {\nadd.u32 %r1, %r2\n}")) ==
        "device code:6: error NNT1700: expected \",\" or \";\", found \"}\"\n");
  CHECK(errorOf(module(".visible .entry k() {\nret;\n")) ==
        "device code:6: error NNT1700: expected \"}\", found the end of the text\n");
  CHECK(bodyError("A: ret;\nA: ret;") == "device code:6: error NNT1700: the label A stands twice\n");
  CHECK(bodyError(".reg .b77 %x;") ==
        "device code:5: error NNT1700: expected the type of a register, found \".b77\"\n");
  CHECK(bodyError("mov.b32 %r1, 0x;") == "device code:5: error NNT1700: expected an operand, found \"0x\"\n");
  CHECK(bodyError("mov.b64 %d1, {%r1, {%r2}};") == "device code:5: error NNT1700: expected an operand, found \"{\"\n");
  CHECK(bodyError("/* never closed") == "device code:7: error NNT1700: expected \"}\", found the end of the text\n");
  CHECK(errorOf(module(".global .b8 x[2] = {1, 2, 3};")) ==
        "device code:4: error NNT1700: more initial values than the variable has entries\n");
  CHECK(errorOf(module(".global .b64 x[1024][1024][1024];")) ==
        "device code:4: error NNT1700: a variable has at most 2^30 bytes\n");
  CHECK(errorOf(module(".global .align 3 .b8 x;")) ==
        "device code:4: error NNT1700: an alignment is a power of two, found 3\n");
  CHECK(errorOf(module(".shared .b32 x = 1;")) ==
        "device code:4: error NNT1700: only .global and .const variables have initial values\n");
  CHECK(errorOf(module(".global .b32 x = y;")) ==
        "device code:4: error NNT1700: an address takes 8 bytes, the entry of the variable has 4\n");
}

TEST_CASE("device code for another device", "[emulator]") {
  CHECK(errorOf(".version 5.0\n") ==
        "device code:1: error NNT1701: the emulator reads PTX of version 6.0 to 9.x, found 5.0\n");
  CHECK(errorOf(".version 8.0\n.target sm_90a\n") ==
        "device code:2: error NNT1701: the emulator executes code for sm_70 to sm_80, found \"sm_90a\"\n");
  CHECK(errorOf(".version 8.0\n.target sm_80, debug\n.address_size 32\n") ==
        "device code:3: error NNT1701: addresses have 64 bits, found 32\n");
}

TEST_CASE("unknown instructions and modifiers", "[emulator]") {
  for (const std::string line : {"frobnicate.b32 %r1, %r2;",
                                 "add.wide.f32 %f1, %f2, %f3;",
                                 "add.u8 %h1, %h2, %h3;",
                                 "add.rz.s32 %r1, %r2, %r3;",
                                 "add.sat.u32 %r1, %r2, %r3;",
                                 "mul.ftz.f64 %d1, %d2, %d3;",
                                 "fma.rz.f16 %h1, %h2, %h3, %h1;",
                                 "cvt.f32.s32 %f1, %r1;",
                                 "cvt.rn.u32.f32 %r1, %f1;",
                                 "cvt.rna.tf32.f32 %r1, %f1;",
                                 "ld.global.v8.b32 %r1, [%d1];",
                                 "ld.strange.b32 %r1, [%d1];",
                                 "st.const.b32 [%d1], %r1;",
                                 "setp.lo.s32 %p1, %r1, %r2;",
                                 "setp.lt.b32 %p1, %r1, %r2;",
                                 "shl.u32 %r1, %r2, %r3;",
                                 "shfl.bfly.b32 %r1, %r2, 1, 31;",
                                 "atom.global.add.f16 %h1, [%d1], %h2;",
                                 "atom.global.sub.u32 %r1, [%d1], %r2;",
                                 "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r0}, {%r1}, {%r2}, {%r3};",
                                 "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r0}, {%r1}, {%r2}, {%r3};",
                                 "bar.wait 0;",
                                 "red.global.exch.b32 [%d1], %r1;",
                                 "membar.strange;",
                                 "ret.strange;",
                                 "mov.strange.b32 %r1, %r2;",
                                 "selp.ftz.b32 %r1, %r2, %r3, %p1;",
                                 "max.approx.f32.strange %f1, %f2, %f3;",
                                 "wgmma.fence.sync.aligned;"}) {
    INFO(line);
    CHECK(bodyError(line) ==
          inBody("NNT1702",
                 "the emulator does not know the instruction " +
                     line.substr(0, line.find(' ') == std::string::npos ? line.size() - 1 : line.find(' ')),
                 line));
  }
}

TEST_CASE("wrong operands", "[emulator]") {
  CHECK(bodyError("add.u32 %r1, %r2;") == inBody("NNT1703", "add.u32 takes 3 operands, found 2", "add.u32 %r1, %r2;"));
  CHECK(bodyError("cp.async.ca.shared.global [%r1], [%d1];") ==
        inBody("NNT1703", "cp.async.ca.shared.global takes 3 to 4 operands, found 2",
               "cp.async.ca.shared.global [%r1], [%d1];"));
  CHECK(bodyError("add.u32 %r1, %r2, %d1;") ==
        inBody("NNT1703", ".u32 is read from %d1, which is declared .b64", "add.u32 %r1, %r2, %d1;"));
  CHECK(bodyError("add.u64 %r1, %d2, %d1;") ==
        inBody("NNT1703", ".u64 is written to %r1, which is declared .b32", "add.u64 %r1, %d2, %d1;"));
  CHECK(bodyError("add.u32 5, %r2, %r1;") ==
        inBody("NNT1703", "expected a register for the result of add.u32", "add.u32 5, %r2, %r1;"));
  CHECK(bodyError("add.u32 %r1, [%d2], %r1;") ==
        inBody("NNT1703", "expected a register or a number as operand of add.u32", "add.u32 %r1, [%d2], %r1;"));
  CHECK(bodyError("mov.b64 %d1, 0f3F800000;") ==
        inBody("NNT1703", "a float32 number stands for a .b64", "mov.b64 %d1, 0f3F800000;"));
  CHECK(bodyError("mov.b16 %h1, 0d3FF0000000000000;") ==
        inBody("NNT1703", "a float64 number stands for a .b16", "mov.b16 %h1, 0d3FF0000000000000;"));
  CHECK(bodyError("ld.global.b32 %h1, [%d1];") ==
        inBody("NNT1703", "%h1 is too narrow for a .b32", "ld.global.b32 %h1, [%d1];"));
  CHECK(bodyError("ld.global.b32 %r1, [%r2];") ==
        inBody("NNT1703", "%r2 is too narrow for an address", "ld.global.b32 %r1, [%r2];"));
  CHECK(bodyError("ld.global.b32 %r1, %d1;") ==
        inBody("NNT1703", "expected an address in brackets in ld.global.b32", "ld.global.b32 %r1, %d1;"));
  CHECK(bodyError("ld.global.v2.b32 {%r1}, [%d1];") ==
        inBody("NNT1703", "ld.global.v2.b32 takes 2 registers in braces", "ld.global.v2.b32 {%r1}, [%d1];"));
  CHECK(bodyError("ld.global.b32 %r1, [p];") ==
        inBody("NNT1703", "p does not lie in the memory that ld.global.b32 accesses", "ld.global.b32 %r1, [p];"));
  CHECK(bodyError("ld.param.b64 %d1, [p+8];") ==
        inBody("NNT1703", "the load lies outside the parameters or is misaligned", "ld.param.b64 %d1, [p+8];"));
  CHECK(bodyError("ld.param.b64 %d1, [%d2];") ==
        inBody("NNT1703", "a parameter is loaded by its name", "ld.param.b64 %d1, [%d2];"));
  CHECK(bodyError("@%r1 add.u32 %r1, %r2, 1;") ==
        inBody("NNT1703", "%r1 is no predicate", "@%r1 add.u32 %r1, %r2, 1;"));
  CHECK(bodyError("add.u32 %r1, !%r2, 1;") ==
        inBody("NNT1703", "only predicates are negated", "add.u32 %r1, !%r2, 1;"));
  CHECK(bodyError("mov.b64 {%r1, %r2, %r3}, %d1;") ==
        inBody("NNT1703", ".b64 cannot be moved in 3 parts", "mov.b64 {%r1, %r2, %r3}, %d1;"));
  CHECK(bodyError("lop3.b32 %r1, %r2, %r3, %r1, %r2;") ==
        inBody("NNT1703", "expected a number that is written out in lop3.b32", "lop3.b32 %r1, %r2, %r3, %r1, %r2;"));
  CHECK(bodyError("cp.async.cg.shared.global [%r1], [%d1], 8;") ==
        inBody("NNT1703", "cp.async.cg.shared.global copies 16 bytes, found 8",
               "cp.async.cg.shared.global [%r1], [%d1], 8;"));
  CHECK(bodyError("mov.f32 %f1, %tid.x;") == inBody("NNT1703", "%tid.x is read as a .f32", "mov.f32 %f1, %tid.x;"));
  CHECK(bodyError("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1}, "
                  "{%r0,%r1,%r2,%r3};") ==
        inBody("NNT1703", "operand 1 of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 has 4 registers, found 2",
               "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1}, "
               "{%r0,%r1,%r2,%r3};"));
}

TEST_CASE("undefined names", "[emulator]") {
  CHECK(bodyError("bra NOWHERE;") == inBody("NNT1704", "no such label: NOWHERE", "bra NOWHERE;"));
  CHECK(bodyError("add.u32 %r1, %r9, 1;") == inBody("NNT1704", "no such register: %r9", "add.u32 %r1, %r9, 1;"));
  CHECK(bodyError("ld.global.b32 %r1, [%x];") == "device code:5: error NNT1704: no such register: %x\n");
  CHECK(bodyError("@%q bra A;") == "device code:5: error NNT1704: no such register: %q\n");
  CHECK(bodyError("mov.u64 %d1, thing;") == inBody("NNT1704", "no such variable: thing", "mov.u64 %d1, thing;"));
  CHECK(bodyError("brx.idx %r1, T;") == inBody("NNT1704", "no such list of labels: T", "brx.idx %r1, T;"));
  CHECK(errorOf(module(".global .b64 x = generic(y);\n.visible .entry k() { ret; }")) ==
        "device code:4: error NNT1704: no such variable: y\n");
}

TEST_CASE("kernels that are not there", "[emulator]") {
  const std::string text = module(
      ".visible .entry linear_1() { ret; }\n.visible .entry linear_2() { ret; }\n.visible .entry softmax() { ret; }\n");
  CHECK(errorOf(text, "linear_3") == "error NNT1705: the device code has no kernel linear_3; the nearest are "
                                     "\"linear_1\", \"linear_2\" or \"softmax\"\n");
  CHECK(errorOf(module(""), "k") == "error NNT1705: the device code has no kernel k; it has none at all\n");
}

TEST_CASE("functions and variables outside the device code", "[emulator]") {
  CHECK(errorOf(module(".extern .func (.param .b32 r) __nv_expf (.param .b32 x);")) ==
        "device code:4: error NNT1706: the device code calls a function outside itself: .extern .func (.param .b32 r) "
        "__nv_expf (.param .b32 x);\n");
  CHECK(errorOf(module(".func f() { ret; }")) ==
        "device code:4: error NNT1706: functions besides kernels are not executed: .func f() { ret; }\n");
  CHECK(errorOf(module(".extern .global .b32 x;")) ==
        "device code:4: error NNT1706: the device code uses a variable outside itself: x\n");
  CHECK(bodyError("call.uni (%r1), f, (%r2);") ==
        "device code:5: error NNT1706: functions are not called: call.uni (%r1), f, (%r2);\n");
}
