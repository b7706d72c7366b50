//===- ExecutableTest.cpp - Whole executables, from C programs ------------===//

#include "PipelineProgram.h"
#include "SumProgram.h"

#include <csignal>

using namespace autopar::runtime;
using nlohmann::json;

namespace {

using Executable = SumProgram;

class ExecutableOnRanks : public Executable,
                          public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ExecutableOnRanks,
                         ::testing::Values(1, 2, 3, 4));

TEST_P(ExecutableOnRanks, ComputesTheSum) {
  int ranks = GetParam();
  buildProgram(ranks);
  Outcome outcome = run("--inputs in.npz --outputs out.npz --repeat 5 "
                        "--warm-up 2 --json report.json --trace trace.json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  NamedArrays arrays;
  ASSERT_EQ(readNpz(folder.path("out.npz"), arrays).message(), "");
  const auto *y = reinterpret_cast<const float *>(arrays.at("y").data.data());
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 7; ++column) {
      float wanted = 1;
      for (int k = 0; k < 5; ++k)
        wanted += x[row * 5 + k] * float((k * 7 + column) % 9 - 4);
      EXPECT_EQ(y[row * 7 + column], wanted * float(ranks));
    }
  json report = json::parse(folder.read("report.json"));
  EXPECT_EQ(report["ranks"], ranks);
  EXPECT_GT(report["seconds_per_step"]["median"].get<double>(), 0);
  EXPECT_LE(report["seconds_per_step"]["min"],
            report["seconds_per_step"]["max"]);
  for (const char *key :
       {"compute_seconds", "communication_seconds",
        "exposed_communication_seconds", "idle_seconds", "bytes_sent",
        "peak_memory_bytes", "predicted_peak_memory_bytes"})
    EXPECT_EQ(report[key].size(), size_t(ranks)) << key;
  // Ranks on a CPU hide nothing.
  EXPECT_EQ(report["exposed_communication_seconds"],
            report["communication_seconds"]);
  EXPECT_EQ(report["predicted_step_seconds"], 0.25);
  // The weight is released once it is packed; the arena is as the manifest
  // says.
  for (const json &memory : report["memory_bytes"]) {
    EXPECT_EQ(memory["weights"], 0);
    EXPECT_GE(memory["packed_weights"], 5 * 7 * 4);
    EXPECT_EQ(memory["arena"], 512);
    EXPECT_EQ(memory["communication"].get<int64_t>() > 0, ranks > 1);
  }
  json trace = json::parse(folder.read("trace.json"));
  // Each rank has its name and three ops in each of five steps.
  EXPECT_EQ(trace["traceEvents"].size(), size_t(ranks * (1 + 3 * 5)));
}

/// The manifest of pipelineProgramText, whose x steps read where the host holds
/// it.
json heldPipeline() {
  json manifest = json::parse(pipelineProgramText);
  manifest["inputs"][0]["stages"] = {{{"stage", 0}, {"persistent", 0}}};
  manifest["persistent"][0] = {
      {{"name", "x"}, {"dtype", "f32"}, {"shape", {4}}, {"kind", "input"}}};
  return manifest;
}

TEST_F(Executable, RunsMicroBatchesThroughStages) {
  std::array<float, 12> values;
  for (int i = 0; i < 12; ++i)
    values[i] = float(i);
  ASSERT_TRUE(
      writeNpy(folder.path("x.npy"), {"x", APRT_F32, {12}, values.data()})
          .ok());
  for (const json &manifest :
       {json::parse(pipelineProgramText), heldPipeline()}) {
    build("pipeline.c", manifest, 2);
    Outcome outcome = run("--inputs x=x.npy --outputs y=y.npy --repeat 3");
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    Array array;
    ASSERT_TRUE(readNpy(folder.path("y.npy"), array).ok());
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(reinterpret_cast<const float *>(array.data.data())[i],
                float(2 * i + 1));
  }
}

TEST_F(Executable, InputsInPiecesCannotBeReadInPlace) {
  json manifest = heldPipeline();
  manifest["inputs"][0]["shape"] = {11};
  manifest["inputs"][0]["dims"][0]["size"] = 11; // the last block has 3
  build("pipeline.c", manifest, 2);
  expectFailure(run(""), {"input 'x' is not one piece"});
}

TEST_F(Executable, DeadRanksEndTheProgram) {
  buildProgram(3);
  writeInputs(1);
  Outcome killed = run("--inputs in.npz");
  expectFailure(killed, {"rank 2 was killed by signal 9", "/scale"});
  EXPECT_LT(killed.seconds, 10);
  writeInputs(2);
  expectFailure(run("--inputs in.npz"), {"rank 2 ended with exit code 7"});
  writeInputs(5);
  expectFailure(run("--inputs in.npz"), {"op '/sum'", "channel 3"});
}

TEST_F(Executable, DeadlineNamesOpAndRank) {
  buildProgram(2);
  writeInputs(3);
  Outcome outcome = run("--inputs in.npz --timeout 0.5");
  expectFailure(outcome, {"rank 0: op '/sum'", "rank 1 did not arrive"});
  EXPECT_LT(outcome.seconds, 15);
}

TEST_F(Executable, SignalsEndEverything) {
  buildProgram(2);
  writeInputs(3);
  Outcome outcome =
      run("--inputs in.npz", "timeout -k 60 -s INT --preserve-status 1");
  EXPECT_EQ(outcome.code, 130) << outcome.text;
  outcome = run("--inputs in.npz", "timeout -k 60 -s TERM --preserve-status 1");
  EXPECT_EQ(outcome.code, 143) << outcome.text;
}

TEST_F(Executable, BadInputsAreNamed) {
  buildProgram(2);
  int32_t mode = 0;
  std::array<double, 30> doubles{};
  auto write = [&](const std::vector<ArrayView> &arrays) {
    ASSERT_TRUE(writeNpz(folder.path("in.npz"), arrays).ok());
  };
  ArrayView goodX{"x", APRT_F32, {6, 5}, x.data()},
      goodMode{"mode", APRT_I32, {1}, &mode};
  write({goodX});
  expectFailure(run("--inputs in.npz"), {"'mode' is missing", "x f32[6,5]"});
  write({goodMode, {"x", APRT_F64, {6, 5}, doubles.data()}});
  expectFailure(run("--inputs in.npz"), {"'x' is f64[6,5]", "f32[6,5]"});
  write({goodMode, {"x", APRT_F32, {5, 6}, x.data()}});
  expectFailure(run("--inputs in.npz"), {"'x' is f32[5,6]", "f32[6,5]"});
  write({goodX, goodMode, {"z", APRT_F32, {1}, x.data()}});
  expectFailure(run("--inputs in.npz"), {"no input 'z'"});
  expectFailure(run("--inputs nothing.npz"), {"nothing.npz"});
  expectFailure(run("--inputs nothing"), {"NAME=FILE.npy"});
  expectFailure(run("--outputs z=z.npy"), {"no output 'z'"});
  expectFailure(run("--weights nothing.bin"), {"nothing.bin"});
}

TEST_F(Executable, BadCommandLinesAreNamed) {
  buildProgram(1);
  expectFailure(run("--frobnicate"), {"--frobnicate", "--help"});
  expectFailure(run("--repeat"), {"--repeat needs a value"});
  expectFailure(run("--repeat 0"), {"'0'", "at least 1"});
  expectFailure(run("--threads x"), {"'x'"});
  expectFailure(run("--timeout -3"), {"'-3'"});
  Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.text.find("--warm-up"), std::string::npos);
  EXPECT_EQ(run("--repeat=2 --threads=2 --inputs=in.npz").code, 0);
}

TEST_F(Executable, AWrongPlaceInALauncherIsSaid) {
  buildProgram(1);
  expectFailure(run("--inputs in.npz", "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0"),
                {"torchrun started 2 processes (WORLD_SIZE), but the program "
                 "was compiled for 1 rank, not for 2: start as many"});
  expectFailure(run("--inputs in.npz", "RANK=7 WORLD_SIZE=2 LOCAL_RANK=0"),
                {"RANK and LOCAL_RANK do not say which one"});
  EXPECT_EQ(run("--inputs in.npz", "RANK=0 WORLD_SIZE=1").code, 0);
}

TEST_F(Executable, DamagedExecutablesAreRefused) {
  buildProgram(1);
  append(checksum(program) + 1);
  expectFailure(run(""), {"checksum"});
  std::string whole = folder.read("exe");
  uint64_t far = uint64_t(1) << 40;
  std::memcpy(&whole[whole.size() - 24], &far, sizeof(far));
  folder.write("exe", whole);
  expectFailure(run(""), {"damaged"});
  whole.resize(whole.size() - 5);
  folder.write("exe", whole);
  expectFailure(run(""), {"without a program"});
}

TEST_F(Executable, DescribeTellsTheWholeInterface) {
  json manifest = programManifest(1);
  manifest["tf32"] = true;
  json rate = {{"name", "rate"},
               {"dtype", "i32"},
               {"shape", json::array()},
               {"value", "16000"}};
  json fixed = rate;
  fixed["bytes"] = {128, 62, 0, 0};
  manifest["fixed_inputs"] = json::array({fixed});
  json check = {{"name", "check"},
                {"dtype", "bool"},
                {"shape", json::array()},
                {"dims", json::array()},
                {"message", "the other branch was taken"}};
  json place = {{"stage", 0}, {"offset", 448}};
  check["stages"] = json::array({place});
  manifest["checks"] = json::array({check});
  build("program.c", manifest, 1);
  Outcome outcome = run("--describe --json exe.json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  for (const char *line :
       {"\ntarget       cpu, matrix multiplications in tf32\n",
        "\nfixed        rate = 16000 of i32[]\n",
        "\nchecks       the other branch was taken\n"})
    EXPECT_NE(outcome.text.find(line), std::string::npos) << outcome.text;
  json whole = json::parse(folder.read("exe.json"));
  EXPECT_EQ(whole["tf32"], true);
  json entry = whole["entries"][0];
  EXPECT_EQ(entry["fixed_inputs"], json::array({rate}));
  EXPECT_EQ(entry["checks"][0]["message"], "the other branch was taken");
}

/// The second of two entries takes other shapes; it is the first's program.
TEST_F(Executable, EntriesArePickedByShapes) {
  json manifest = programManifest(1);
  manifest["entry"] = "n=6";
  build("program.c", manifest, 1);
  manifest["entry"] = "n=3";
  manifest["inputs"][0]["shape"][0] = 3;
  manifest["inputs"][0]["dims"][0]["size"] = 3;
  manifest["inputs"][0]["dims"][0]["length"] = 3;
  manifest["inputs"][0]["dims"][0]["step"] = 3;
  compile("program.c", manifest, 1);
  appendEntry();
  writeWeights();
  writeInputs(0);
  for (const char *arguments :
       {"--inputs in.npz --json report.json", "--json report.json",
        "--entry n=6 --json report.json"}) {
    Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_NE(outcome.text.find("(entry n=6)"), std::string::npos);
    EXPECT_EQ(json::parse(folder.read("report.json"))["entry"], "n=6");
  }
  expectFailure(run("--inputs in.npz --entry n=3"), {"f32[6,5]", "f32[3,5]"});
  expectFailure(run("--entry n=4"), {"no entry is called 'n=4'", "n=6: x"});
  int32_t mode = 0;
  ASSERT_TRUE(
      writeNpz(folder.path("in.npz"), {{"x", APRT_F32, {5, 5}, x.data()},
                                       {"mode", APRT_I32, {1}, &mode}})
          .ok());
  expectFailure(run("--inputs in.npz"),
                {"no entry takes the inputs", "x f32[5,5]", "n=6: x f32[6,5]",
                 "n=3: x f32[3,5]"});
}

/// Arrays that no entry has are refused by their names: the bytes of this one
/// are none.
TEST_F(Executable, InputsThatNoEntryHasAreNotRead) {
  buildProgram(1);
  int32_t mode = 0;
  ASSERT_TRUE(
      writeNpz(folder.path("in.npz"), {{"x", APRT_F32, {6, 5}, x.data()},
                                       {"moed", APRT_I32, {1}, &mode}})
          .ok());
  std::string bytes = folder.read("in.npz");
  size_t magic = bytes.rfind("\x93NUMPY");
  ASSERT_NE(magic, std::string::npos);
  bytes[magic] = 'X';
  folder.write("in.npz", bytes);
  expectFailure(run("--inputs in.npz"),
                {"the model has no input 'moed'", "did you mean 'mode'"});
}

/// Whether a limit of address space leaves room for the process itself.
constexpr bool hasMemoryLimit() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#elif defined(__has_feature)
  return !__has_feature(address_sanitizer);
#else
  return true;
#endif
}

TEST_F(Executable, MemoryThatRunsOutIsAnError) {
  if (!hasMemoryLimit())
    GTEST_SKIP() << "a sanitizer's own memory is beyond any limit";
  buildProgram(2);
  std::vector<float> large(size_t(16) << 20);
  ASSERT_TRUE(writeNpz(folder.path("large.npz"),
                       {{"x", APRT_F32, {int64_t(large.size())}, large.data()}})
                  .ok());
  expectFailure(run("--inputs large.npz", "ulimit -v 60000;"),
                {"error: memory ran out while reading the inputs; free some",
                 "ulimit -v"});
  expectFailure(run("--inputs large.npz"), {"input 'x' is f32[16777216]"});
}

TEST_F(Executable, MissingCpuFeaturesAreNamed) {
  json manifest = programManifest(1);
  manifest["cpu_features"] = {"sse2", "quantum"};
  build("program.c", manifest, 1);
  expectFailure(run(""), {"quantum"});
}

} // namespace
