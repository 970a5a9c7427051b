// Tests of runs on a device: the same as here in every bit, with states that stay there, steps that are replayed, and
// memory that is given back.
#include "SequenceHelp.h"

using namespace nnterp;
using namespace nnterp::test;

namespace {

Sequence onTestDevice(int64_t generate) {
  Sequence run;
  run.generate = generate;
  run.device = std::make_shared<TestDevice>();
  return run;
}

} // namespace

TEST_CASE("a run on a device gives what a run here gives", "[device]") {
  const Rows rows = {{3, 1, 4, 1, 5, 9, 2}, {9, 2}, {7}};
  for (int64_t generate : {1, 2, 150})
    for (int64_t chunk : {0, 3})
      for (bool exact : {false, true}) {
        INFO(generate << " tokens, chunks of " << chunk);
        Sequence here, there = onTestDevice(generate);
        here.generate = generate;
        here.chunk = there.chunk = chunk;
        there.device->exact = exact;
        REQUIRE(here.run(rows));
        const bool good = there.run(rows);
        INFO(text(there.diags));
        REQUIRE(good);
        CHECK(there.outputs.size() == here.outputs.size());
        for (const auto &[key, tensor] : here.outputs)
          CHECK(same(tensor, there.outputs.at(key)));
        REQUIRE(there.states.size() == 1);
        CHECK(there.states.at("main").tokens == here.states.at("main").tokens);
        CHECK(same(there.states.at("main").parts.begin()->second, here.states.at("main").parts.begin()->second));
        CHECK(there.costs.growths == here.costs.growths);
        CHECK(there.costs.stateBytes == here.costs.stateBytes);
      }
}

TEST_CASE("steps are replayed while caches stay as they are", "[device]") {
  Sequence run = onTestDevice(60);
  REQUIRE(run.run({{3, 1, 4}}));
  CHECK(run.costs.steps == 59);
  CHECK(run.costs.stepsReplayed == 58); // all but the first, which finds out what memory a step takes
  CHECK(run.device->captures == 1);
  CHECK(run.device->launches == 3); // the prompt, the first step, the recording
  CHECK(run.device->executed == 60);
  CHECK(run.costs.stepAllocations == 0);
  CHECK(run.device->recordings() == 0); // forgotten with the program

  Sequence longer = onTestDevice(140);
  REQUIRE(longer.run({{3, 1, 4}}));
  CHECK(longer.costs.growths == 3);
  CHECK(longer.costs.stepsReplayed == 139 - 3); // each capacity needs a step that runs
  CHECK(longer.device->captures == 3);
}

TEST_CASE("what did not change is not sent again", "[device]") {
  Sequence run = onTestDevice(40);
  run.atToken = [&run, before = int64_t(0), count = 0]() mutable {
    const int64_t sent = run.device->uploads - before;
    before = run.device->uploads;
    if (++count > 3)
      CHECK(sent == 4); // ids, positions, past, total: each row's length stays 1
  };
  REQUIRE(run.run({{3, 1, 4}}));
}

TEST_CASE("a state saved on a device continues here, and the other way round", "[device]") {
  const Rows rows = {{3, 1, 4, 1, 5}, {9, 2}};
  Sequence whole;
  whole.generate = 100;
  REQUIRE(whole.run(rows));
  for (bool firstThere : {false, true}) {
    Sequence first, second;
    first.generate = 70;
    second.generate = 30;
    (firstThere ? first : second).device = std::make_shared<TestDevice>();
    REQUIRE(first.run(rows));
    second.loaded = first.states;
    REQUIRE(second.run({}));
    for (size_t b = 0; b < 2; ++b) {
      Ids joined = first.generated[b].tokens;
      joined.insert(joined.end(), second.generated[b].tokens.begin(), second.generated[b].tokens.end());
      CHECK(joined == whole.generated[b].tokens);
    }
    CHECK(same(second.states.at("main").parts.begin()->second, whole.states.at("main").parts.begin()->second));
  }
}

TEST_CASE("failures that kernels store end the run", "[device]") {
  Sequence run = onTestDevice(3);
  run.device->reason = abi::zeroDirection;
  CHECK_FALSE(run.run({{3, 1, 4}}));
  CHECK(text(run.diags) == "error NNT1018: the direction to project out is zero at some token; expected a vector of "
                           "positive length\n");
  CHECK(run.device->executed == 1);
}

TEST_CASE("a device that fails ends the run with its error alone", "[device]") {
  for (int64_t at : {0, 1, 2}) { // the prompt, a step, a recording
    Sequence run = onTestDevice(6);
    run.device->failAt = at;
    CHECK_FALSE(run.run({{3, 1, 4}}));
    CHECK(text(run.diags) == "error NNT1745: the test's launch failed\n");
  }
}

TEST_CASE("NNT1742: out of device memory", "[device]") {
  Sequence table = onTestDevice(3);
  table.device->room = 100;
  CHECK_FALSE(table.run({{3, 1, 4}}));
  CHECK(
      text(table.diags) ==
      "error NNT1742: the device (test device) has no memory left for a tensor of 256 bytes, float32 [1, 1, 64, 1]; a "
      "smaller batch, fewer taps or a shorter prompt needs less\n");
  Sequence program = onTestDevice(3);
  program.device->room = 10;
  CHECK_FALSE(program.run({{3, 1, 4}}));
  CHECK(text(program.diags) == "error NNT1742: the device (test device) has no memory left for a program\n");
}

TEST_CASE("NNT1017: out of device memory for intermediate values", "[device]") {
  Sequence needs = onTestDevice(1);
  needs.takeStates = false;
  REQUIRE(needs.run({{3, 1, 4}}));
  Sequence run = onTestDevice(1);
  run.device->room = needs.device->mostUsed - 1; // the scratch memory comes last
  CHECK_FALSE(run.run({{3, 1, 4}}));
  CHECK(text(run.diags) == "error NNT1017: the device (test device) has no memory left after 0 MiB of intermediate "
                           "values; a shorter prompt or a smaller batch needs less\n");
}

TEST_CASE("caches grow into memory that calls no longer hold", "[device]") {
  Sequence needs = onTestDevice(90);
  needs.takeStates = false;
  REQUIRE(needs.run({{3, 1, 4}}));
  Sequence run = onTestDevice(90);
  run.takeStates = false;
  run.device->room = needs.device->mostUsed - 1;
  const bool good = run.run({{3, 1, 4}});
  INFO(text(run.diags));
  REQUIRE(good);
  CHECK(same(run.outputs.at("tokens"), needs.outputs.at("tokens")));
}

TEST_CASE("NNT1743: wrong launch", "[device]") {
  Sequence run = onTestDevice(1);
  CHECK_FALSE(run.run({Ids(13, 1)}));
  CHECK(text(run.diags) ==
        "error NNT1743: kernel 1 of 1 was to be started with grid, block and shared bytes 1, 1, 1, 32, "
        "1, 1, 0\n");
}

TEST_CASE("NNT1741: program for another target", "[device]") {
  Manifest gpu = onDevice(sequenceManifest());
  Diagnostics diags;
  CHECK_FALSE(Program::open(TEST_DEVICE_SEQUENCE, gpu, diags));
  CHECK(text(diags) == "error NNT1741: " TEST_DEVICE_SEQUENCE
                       " was compiled for a GPU; expected the target cuda or emulator\n");
  Diagnostics cpu;
  CHECK_FALSE(Program::open(TEST_SEQUENCE, sequenceManifest(), cpu, std::make_shared<TestDevice>()));
  CHECK(text(cpu) == "error NNT1741: " TEST_SEQUENCE " was compiled for the CPU; expected the target cpu\n");
}

TEST_CASE("NNT1014: a program for a GPU without kernels", "[device]") {
  Diagnostics diags;
  CHECK_FALSE(Program::open(TEST_SEQUENCE, onDevice(sequenceManifest()), diags, std::make_shared<TestDevice>()));
  CHECK(text(diags) == "error NNT1014: " TEST_SEQUENCE " is no program of ours: it has no symbol nnterp_device_code\n");
}
