// Tests of looking at programs for a GPU without one: what their text says, what they start, and what that must take.
#include "tools/nnterp/explain/Launches.h"
#include "SequenceHelp.h"

#include <filesystem>

using namespace nnterp;
using namespace nnterp::test;

TEST_CASE("targets have names, programs and devices", "[launches]") {
  for (Target target : {Target::cpu, Target::cuda, Target::emulator})
    CHECK(targetByName(name(target)) == target);
  CHECK_FALSE(targetByName("gpu"));
  CHECK(programTarget(Target::cpu) == "cpu");
  CHECK(programTarget(Target::cuda) == "gpu");
  CHECK(programTarget(Target::emulator) == "gpu");
  Diagnostics diags;
  CHECK(openDevice(Target::cpu, {}, diags) == nullptr);
  std::shared_ptr<gpu::Device> emulator = openDevice(Target::emulator, {}, diags);
  REQUIRE(emulator);
  CHECK(emulator->description().find("emulator, ") == 0);
  CHECK(emulator->checksAccesses());
  CHECK(diags.all().empty());
}

TEST_CASE("parameters of kernels are read from their text", "[launches]") {
  const auto kernels = gpu::kernelTexts(R"(//
.version 7.8
.target sm_80
.visible .entry linear_1(
	.param .u64 .ptr .global .align 16 linear_1_param_0,
	.param .u32 linear_1_param_1,
	.param .f32 linear_1_param_2
)
.reqntid 128
{
	mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};
}
.visible .entry bare_2()
{
	ret;
}
.entry none_3 { ret; }
)");
  REQUIRE(kernels.size() == 3);
  CHECK(kernels.at("linear_1").parameterBytes == std::vector<int>{8, 4, 4});
  CHECK(kernels.at("linear_1").matrixUnits);
  CHECK(kernels.at("bare_2").parameterBytes.empty());
  CHECK_FALSE(kernels.at("bare_2").matrixUnits);
  CHECK(kernels.count("none_3") == 1);
  CHECK(gpu::kernelTexts("").empty());
  CHECK(gpu::kernelTexts(".entry").empty());
  CHECK(gpu::kernelTexts(".entry x(.param").at("x").parameterBytes.empty());
}

TEST_CASE("launches are noted with their parameters", "[launches]") {
  gpu::RecordingDevice device;
  Diagnostics diags;
  REQUIRE(device.load(".entry k(.param .u64 a, .param .s32 b)\n{ }", {{"k", ""}}, diags));
  const void *address = device.allocate(10);
  CHECK(device.allocate(0) != address);
  const int32_t negative = -3;
  const void *parameters[] = {&address, &negative};
  gpu::Launch launch;
  launch.grid[1] = 5;
  launch.block[0] = 64;
  launch.dynamicShared = 7;
  launch.parameters = parameters;
  REQUIRE(device.launch(launch, diags));
  REQUIRE(device.launches().size() == 1);
  const gpu::NotedLaunch &noted = device.launches().front();
  CHECK(noted.parameters == std::vector<int64_t>{int64_t(reinterpret_cast<uintptr_t>(address)), -3});
  CHECK(noted.blocks() == 5);
  CHECK(noted.dynamicShared == 7);
  int64_t failures = 5;
  REQUIRE(device.download(&failures, address, sizeof failures, diags));
  CHECK(failures == 0);
  CHECK_FALSE(device.load("", {{"k", ""}}, diags));
  CHECK(text(diags) == "error NNT1746: the program's PTX has no kernel \"k\"\n");
}

TEST_CASE("GPUs are known by name", "[launches]") {
  REQUIRE(gpuByName("h200"));
  CHECK(gpuByName("H200")->bandwidth == 4.8e12);
  CHECK(gpuByName("rtx4090")->chip == "sm_89");
  CHECK_FALSE(gpuByName("H20"));
  CHECK_FALSE(gpuByName("H2000"));
  const Gpu &h100 = *gpuByName("H100");
  CHECK(roofline(h100, 989.5e9, 1, true).seconds == Approx(1e-3));
  CHECK_FALSE(roofline(h100, 989.5e9, 1, true).memory);
  CHECK(roofline(h100, 67e9, 1, false).seconds == Approx(1e-3));
  CHECK(roofline(h100, 1, 3.35e9, true).seconds == Approx(1e-3));
  CHECK(roofline(h100, 1, 3.35e9, true).memory);
}

TEST_CASE("what ptxas prints is understood", "[launches]") {
  const auto kernels =
      parsePtxas("ptxas info    : 0 bytes gmem\n"
                 "ptxas info    : Compiling entry function 'a_1' for 'sm_90'\n"
                 "ptxas info    : Function properties for a_1\n"
                 "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
                 "ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 49152 "
                 "bytes smem, 400 bytes cmem[0]\n"
                 "ptxas info    : Compile time = 10.035 ms\n"
                 "ptxas info    : Compiling entry function 'b_2' for 'sm_90'\n"
                 "ptxas info    : Function properties for b_2\n"
                 "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                 "ptxas info    : Used 8 registers, used 0 barriers\n");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels.at("a_1").registers == 255);
  CHECK(kernels.at("a_1").stack == 16);
  CHECK(kernels.at("a_1").spillStores == 8);
  CHECK(kernels.at("a_1").spillLoads == 12);
  CHECK(kernels.at("a_1").shared == 49152);
  CHECK(kernels.at("b_2").registers == 8);
  CHECK(kernels.at("b_2").shared == 0);
}

TEST_CASE("ptxas is found in PATH, in CUDA's folder, or not at all", "[launches]") {
  TempDir dir;
  std::filesystem::create_directories(dir / "cuda/bin");
  writeBytes(dir / "cuda/bin/ptxas",
             "#!/bin/sh\ncat >/dev/null\necho \"ptxas info : Compiling entry function 'k' for 'sm_80'\" >&2\n"
             "echo 'ptxas info : Used 9 registers' >&2\n[ \"$2\" = -arch=sm_80 ]\n");
  std::filesystem::permissions(dir / "cuda/bin/ptxas", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  unsetenv("CUDA_HOME");
  unsetenv("CUDA_PATH");
  std::string why;
  CHECK_FALSE(assemble("", "sm_80", why));
  CHECK(why == "ptxas is not installed");
  setenv("CUDA_PATH", (dir / "cuda").c_str(), 1);
  CHECK(findPtxas() == dir / "cuda/bin/ptxas");
  setenv("PATH", path.c_str(), 1);
  setenv("PATH", ((dir / "cuda/bin:") + path).c_str(), 1);
  CHECK(findPtxas() == dir / "cuda/bin/ptxas");
  const auto kernels = assemble("text", "sm_80", why);
  REQUIRE(kernels);
  CHECK(kernels->at("k").registers == 9);
  CHECK_FALSE(assemble("text", "sm_90", why));
  CHECK(why.find("ptxas refuses the program: ") == 0);
  setenv("PATH", path.c_str(), 1);
  unsetenv("CUDA_PATH");
}

namespace {

/// The extents of a call on two rows of five tokens.
struct Extents {
  Extents() {
    PlanSource source;
    source.flags.taps = {"input_ids"};
    prepared = preparePlan(NNTERP_TEST_DATA "/checkpoints/toy", source, runShape(2), diags);
    REQUIRE(prepared);
    inputs["main"] = *batchFromIds({{1, 2, 3, 4, 5}, {6, 7}}, {vocabulary, {}}, {}, diags);
    info.inputs["main"] = {5, {5, 2}};
    info.generate = 2;
    buffers = RunBuffers::make(prepared->resolved, prepared->points, prepared->config, info, diags);
    REQUIRE(buffers);
  }
  CallExtents of(const Manifest &manifest, const Call &call) {
    return CallExtents({prepared->resolved, info, inputs}, manifest, *buffers, call);
  }
  Diagnostics diags;
  std::optional<PreparedPlan> prepared;
  Batches inputs;
  RunInfo info;
  std::optional<RunBuffers> buffers;
};

} // namespace

TEST_CASE("a program's launches are counted, measured and shown", "[launches]") {
  Manifest manifest = onDevice(sequenceManifest());
  manifest.kernels[0].name = "read";
  manifest.kernels[0].flops = Polynomial::extent("p9") * Polynomial::extent("p10") * 1000;
  manifest.kernels[0].memory = {{Polynomial::extent("p9") * 1000000, Polynomial::extent("blocks") * 32 * 8},
                                {48, Polynomial::extent("p12") * 4}};
  Diagnostics diags;
  std::unique_ptr<LaunchRecorder> recorder =
      LaunchRecorder::open(readBytes(TEST_DEVICE_SEQUENCE), manifest, *gpuByName("A100"), diags);
  INFO(text(diags));
  REQUIRE(recorder);
  Extents extents;
  REQUIRE(recorder->add("the prompt", Program::Entry::prompt,
                        extents.of(manifest, extents.buffers->promptCalls().front()), diags));
  Call step;
  step.phase = Phase::gen;
  REQUIRE(recorder->add("a step", Program::Entry::step, extents.of(manifest, step), diags));
  REQUIRE(
      recorder->add("a step", Program::Entry::step, extents.of(manifest, step), diags)); // recorded steps look the same
  const LaunchReport report = recorder->finish();
  REQUIRE(report.calls.size() == 3);
  const CallLaunches &prompt = report.calls[0];
  CHECK(prompt.launches == 1); // a grid without a block starts nothing
  REQUIRE(prompt.uses.size() == 1);
  CHECK(prompt.uses[0].grid[0] == 2);
  CHECK(prompt.uses[0].block[0] == 32);
  CHECK(prompt.flops == 2 * 5 * 1000);
  CHECK(prompt.bytes == 2 * 32 * 8 + 48); // the smaller of what there is and what is touched
  CHECK(prompt.seconds == Approx(1e4 / 19.5e12));
  CHECK(report.calls[1].flops == 2 * 1000);
  CHECK(report.calls[2].flops == 2 * 1000);

  const std::string shown = launchesText(report);
  CHECK(shown.find("device      1 kernel, ") == 0);
  CHECK(
      shown.find("A100 moves 1.9 TiB and computes 312 TFLOP (bfloat16 products) or 19.5 TFLOP (float32) per second") !=
      std::string::npos);
  CHECK(shown.find("\nthe prompt: 1 launch, 560 B, 10 kFLOP, at least 513 ps on A100\n") != std::string::npos);
  CHECK(shown.find("    1  read       2     32      ") != std::string::npos);
  const Json json = launchesJson(report);
  CHECK(json.find("gpu")->string == "A100");
  CHECK(json.find("calls")->array.at(0).find("kernels")->array.at(0).find("grid")->array.at(0).integer == 2);
  CHECK(json.find("calls")->array.at(0).find("kernels")->array.at(0).find("bound")->string == "arithmetic");
}
