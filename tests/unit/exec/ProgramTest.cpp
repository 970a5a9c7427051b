// Tests of opening and running programs, on one that the build makes in the shape of the compiler's.
#include "runtime/exec/Program.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static Manifest manifest() {
  Manifest m;
  m.abi = abi::version;
  return m;
}

struct Table {
  explicit Table(std::vector<int64_t> values) : ids(std::move(values)), out(ids.size(), -1) {
    const auto n = int64_t(ids.size());
    slots = {{ids.data(), {1, n}}, {out.data(), {1, n}}};
  }
  std::vector<int64_t> ids, out;
  std::vector<abi::Slot> slots;
};

TEST_CASE("a program runs with the services of the host", "[program]") {
  Diagnostics diags;
  std::unique_ptr<Program> program = Program::open(TEST_PROGRAM, manifest(), diags);
  INFO(text(diags));
  REQUIRE(program);
  Table table({1, 2, 3});
  std::vector<std::pair<int64_t, int64_t>> steps;
  std::optional<RunReport> report = program->run(
      table.slots, [&](int64_t done, int64_t total) { steps.emplace_back(done, total); }, diags);
  REQUIRE(report);
  CHECK(table.out == std::vector<int64_t>{2, 4, 6});
  CHECK(report->failures.empty());
  CHECK(report->arenaPeak == 64);
  CHECK(steps == std::vector<std::pair<int64_t, int64_t>>{{1, 2}, {2, 2}});

  Table again({40, 50});
  REQUIRE(program->run(again.slots, {}, diags));
  CHECK(again.out == std::vector<int64_t>{80, 100});
}

TEST_CASE("a program with steps has a second entry", "[program]") {
  Diagnostics diags;
  Manifest steps = manifest();
  steps.steps = true;
  std::unique_ptr<Program> program = Program::open(TEST_PROGRAM, steps, diags);
  REQUIRE(program);
  Table table({1, 2, 3});
  REQUIRE(program->run(table.slots, {}, diags));
  REQUIRE(program->run(table.slots, {}, diags, Program::Entry::step));
  CHECK(table.out == std::vector<int64_t>{3, 6, 9});
}

TEST_CASE("the arena lives with the program: a second call takes nothing from the system", "[program]") {
  Diagnostics diags;
  std::unique_ptr<Program> program = Program::open(TEST_PROGRAM, manifest(), diags);
  REQUIRE(program);
  Table table({1, 2, 3}), longer(std::vector<int64_t>(100000, 4));
  CHECK(program->run(table.slots, {}, diags)->allocations == 1);
  CHECK(program->run(table.slots, {}, diags)->allocations == 0);
  const std::optional<RunReport> large = program->run(longer.slots, {}, diags);
  CHECK(large->allocations == 1);
  CHECK(large->arenaPeak >= 800000);
  const std::optional<RunReport> small = program->run(table.slots, {}, diags);
  CHECK(small->allocations == 0);
  CHECK(small->arenaPeak == 64); // of this call, not of the longest so far
}

TEST_CASE("a program opens from bytes, several at once", "[program]") {
  Diagnostics diags;
  const std::string bytes = readBytes(TEST_PROGRAM);
  std::unique_ptr<Program> first = Program::fromBytes(bytes, manifest(), diags);
  std::unique_ptr<Program> second = Program::fromBytes(bytes, manifest(), diags);
  INFO(text(diags));
  REQUIRE(first);
  REQUIRE(second);
  first.reset();
  Table table({21});
  REQUIRE(second->run(table.slots, {}, diags));
  CHECK(table.out == std::vector<int64_t>{42});
}

TEST_CASE("failures of a run are collected, each once", "[program]") {
  Diagnostics diags;
  std::unique_ptr<Program> program = Program::open(TEST_PROGRAM, manifest(), diags);
  REQUIRE(program);
  Table table({7});
  std::optional<RunReport> report = program->run(table.slots, {}, diags);
  REQUIRE(report);
  REQUIRE(report->failures.size() == 2);
  CHECK(report->failures[0].entry == 3);
  CHECK(report->failures[1].entry == 1);
  CHECK(report->failures[1].reason == abi::zeroDirection);
}

TEST_CASE("NNT1017: out of memory ends the run, and another can follow", "[program]") {
  Diagnostics diags;
  std::unique_ptr<Program> program = Program::open(TEST_PROGRAM, manifest(), diags);
  REQUIRE(program);
  Table table({9});
  CHECK_FALSE(program->run(table.slots, {}, diags));
  CHECK(text(diags) ==
        "error NNT1017: memory ran out after 0 MiB of intermediate values; a shorter prompt or a smaller "
        "batch needs less\n");
  Table next({10});
  CHECK(program->run(next.slots, {}, diags));
}

TEST_CASE("NNT1014: program cannot be opened", "[program]") {
  Diagnostics diags;
  CHECK_FALSE(Program::open("/nowhere.so", manifest(), diags));
  CHECK(text(diags) == "error NNT1014: /nowhere.so cannot be opened: /nowhere.so: cannot open shared object file: No "
                       "such file or directory\n");
  Diagnostics symbols;
  CHECK_FALSE(Program::fromBytes(readBytes(TEST_NO_PROGRAM), manifest(), symbols));
  CHECK(text(symbols) == "error NNT1014: the compiled program is no program of ours: it has no symbol nnterp_host\n");
  Manifest steps = manifest();
  steps.steps = true;
  Diagnostics entry;
  CHECK_FALSE(Program::fromBytes(readBytes(TEST_NO_STEPS), steps, entry));
  CHECK(text(entry) == "error NNT1014: the compiled program is no program of ours: it has no symbol nnterp_step\n");
  Diagnostics bytes;
  CHECK_FALSE(Program::fromBytes("not ELF", manifest(), bytes));
  CHECK(bytes.all().at(0).code == "NNT1014");
  Diagnostics empty;
  CHECK_FALSE(Program::fromBytes("", manifest(), empty));
  CHECK(empty.all().at(0).code == "NNT1014");
}

TEST_CASE("NNT1015: program of another version", "[program]") {
  Manifest other = manifest();
  other.abi = 99;
  Diagnostics diags;
  CHECK_FALSE(Program::open(TEST_PROGRAM, other, diags));
  CHECK(text(diags) == "error NNT1015: " TEST_PROGRAM " was compiled for version 99 of the interface to programs; this "
                       "executor has version 3\n");
}
