//===- JoinTest.cpp - Executables that a launcher starts ------------------===//

#include "BuiltGpuExecutable.h"
#include "session/HeldPorts.h"
#include "session/LaunchPlace.h"
#include "stub/RankResult.h"

#include <csignal>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace autopar::runtime;
using nlohmann::json;

namespace {

TEST(FirstHost, ReadsSlurmsLists) {
  EXPECT_EQ(firstHost("a"), "a");
  EXPECT_EQ(firstHost("a,b"), "a");
  EXPECT_EQ(firstHost("gpu[003-006,9],x"), "gpu003");
  EXPECT_EQ(firstHost("r[1-2]n[07,09].site"), "r1n07.site");
  EXPECT_EQ(firstHost("broken[12"), "broken12");
  EXPECT_EQ(firstHost(""), "");
}

/// What listenAddress says of a host, where so many of four ranks are local.
std::string addressFor(const char *host, int localSize, std::string &warning) {
  LaunchPlace place;
  place.world = 4;
  place.localSize = localSize;
  place.host = host;
  warning.clear();
  return listenAddress(place, warning);
}

TEST(ListenAddress, IsOneThatRanksReachAndNoOther) {
  std::string warning;
  EXPECT_EQ(addressFor("127.0.0.1", 4, warning), "127.0.0.1");
  EXPECT_EQ(warning, "");
  // Other hosts cannot reach it there.
  EXPECT_EQ(addressFor("127.0.0.1", 2, warning), "");
  EXPECT_NE(warning.find("127.0.0.1 on this host, where other hosts cannot"),
            std::string::npos);
  EXPECT_NE(warning.find("Set MASTER_ADDR"), std::string::npos);
  // An address that documents use, and no host has.
  EXPECT_EQ(addressFor("192.0.2.1", 4, warning), "");
  EXPECT_NE(warning.find("'192.0.2.1', where ranks look for rank 0, is no "
                         "address of this host"),
            std::string::npos);
}

/// A port that nobody uses now.
int freePort() {
  int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  socklen_t length = sizeof(address);
  bind(probe, reinterpret_cast<sockaddr *>(&address), length);
  getsockname(probe, reinterpret_cast<sockaddr *>(&address), &length);
  close(probe);
  return ntohs(address.sin_port) % 40000 + 20000;
}

/// The variables of each launcher, for rank R of N.
struct LauncherCase {
  const char *name;
  const char *variables;
};

const LauncherCase launcherCases[] = {
    {"torchrun", "RANK=R WORLD_SIZE=N LOCAL_RANK=R LOCAL_WORLD_SIZE=N "
                 "MASTER_ADDR=127.0.0.1 MASTER_PORT=P"},
    {"agent", "RANK=R WORLD_SIZE=N LOCAL_RANK=R MASTER_ADDR=localhost "
              "MASTER_PORT=P TORCHELASTIC_USE_AGENT_STORE=True "
              "TORCHELASTIC_RUN_ID=P"},
    {"openmpi", "OMPI_COMM_WORLD_RANK=R OMPI_COMM_WORLD_SIZE=N "
                "OMPI_COMM_WORLD_LOCAL_RANK=R OMPI_COMM_WORLD_LOCAL_SIZE=N "
                "PMIX_NAMESPACE=prterun-P"},
    {"hydra", "PMI_RANK=R PMI_SIZE=N MPI_LOCALRANKID=R MPI_LOCALNRANKS=N "
              "MASTER_PORT=P"},
    {"srun", "SLURM_PROCID=R SLURM_STEP_NUM_TASKS=N SLURM_LOCALID=R "
             "SLURM_STEP_NODELIST=localhost SLURM_JOB_ID=P SLURM_STEP_ID=0"},
    {"pmi2", "PMI_RANK=R PMI_SIZE=N PMI_JOBID=P SLURM_PROCID=R "
             "SLURM_STEP_NUM_TASKS=N SLURM_LOCALID=R SLURM_JOB_ID=P "
             "SLURM_STEP_NODELIST=localhost SLURM_STEP_ID=0"},
    {"slurm", "SLURM_PROCID=R SLURM_NTASKS=N SLURM_LOCALID=R "
              "MASTER_ADDR=127.0.0.1 MASTER_PORT=P"}};

class JoinedExecutable : public GpuExecutable {
protected:
  std::string filled(const std::string &text, int rank, int ranks) const {
    std::map<char, int> values = {{'R', rank}, {'N', ranks}, {'P', port}};
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
      bool alone = i > 0 && (text[i - 1] == '=' || text[i - 1] == '-') &&
                   (i + 1 == text.size() || text[i + 1] == ' ');
      auto value = values.find(text[i]);
      result += alone && value != values.end() ? std::to_string(value->second)
                                               : std::string(1, text[i]);
    }
    return result;
  }

  /// Starts ranks [0, started) of `ranks` at once, each with its log, and waits
  /// for all. The outcome of each.
  std::vector<Outcome> start(const char *variables, int ranks, int started,
                             const std::string &arguments,
                             const std::string &environment = "") {
    std::string command = "cd " + folder.path("") + "; ";
    for (int rank = 0; rank < started; ++rank) {
      std::string log = "log" + std::to_string(rank);
      command += "(" + filled(environment, rank, ranks) + " " +
                 filled(variables, rank, ranks) + " ./exe " + arguments +
                 " > " + log + " 2>&1; echo $? > " + log + ".code) & ";
    }
    double begun = monotonicSeconds();
    EXPECT_EQ(std::system((command + "wait").c_str()), 0);
    std::vector<Outcome> outcomes;
    for (int rank = 0; rank < started; ++rank) {
      std::string log = "log" + std::to_string(rank);
      outcomes.push_back({std::stoi(folder.read(log + ".code")),
                          folder.read(log), monotonicSeconds() - begun});
    }
    return outcomes;
  }
  const char *torchrun = launcherCases[0].variables;
  const int port = freePort();
};

class OfLauncher : public JoinedExecutable,
                   public ::testing::WithParamInterface<LauncherCase> {};
INSTANTIATE_TEST_SUITE_P(Launchers, OfLauncher,
                         ::testing::ValuesIn(launcherCases),
                         [](const auto &test) { return test.param.name; });

TEST_P(OfLauncher, RanksMeetAndRankZeroWrites) {
  constexpr int ranks = 3;
  buildGpu(gpuManifest(ranks), ranks);
  std::vector<Outcome> outcomes =
      start(GetParam().variables, ranks, ranks,
            "--inputs in.npz --outputs out.npz --repeat 3 --warm-up 2 "
            "--json report.json --trace trace.json");
  for (const Outcome &outcome : outcomes)
    ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcomes[0].text.find("gpu.onnx: 3 ranks"), std::string::npos);
  EXPECT_EQ(outcomes[1].text, "");
  expectSum(ranks);
  json report = json::parse(folder.read("report.json"));
  EXPECT_EQ(report["devices"].size(), size_t(ranks));
  for (const json &bytes : report["bytes_sent"])
    EXPECT_GT(bytes.get<int64_t>(), 0);
  for (const json &bytes : report["peak_memory_bytes"])
    EXPECT_GT(bytes.get<int64_t>(), 0);
  json trace = json::parse(folder.read("trace.json"));
  EXPECT_EQ(trace["traceEvents"].size(), size_t(ranks * (1 + 7 * 3)));
}

/// An output of which each of two ranks delivers the first half of what it has
/// in its arena.
json halvesOf(const char *name, int64_t arenaOffset) {
  json output = gpuManifest(2)["outputs"][0];
  output["name"] = name;
  output["dims"][0]["step"] = output["dims"][0]["length"] = 3;
  output["dims"][0]["split"] = json::array({json::array({0, 1, 2})});
  output["stages"][0]["offset"] = arenaOffset;
  return output;
}

class JoinedOutputs : public JoinedExecutable {
protected:
  void SetUp() override {
    json manifest = gpuManifest(2);
    manifest["outputs"] = {halvesOf("sum", 256), halvesOf("x", 0)};
    buildGpu(manifest, 2);
  }
  /// Both ranks run with their own arguments; rank 0 writes sum.npy.
  void expectSumFrom(const std::string &first, const std::string &second) {
    for (const Outcome &outcome :
         start(torchrun, 2, 2,
               "--inputs in.npz $([ $ME = 0 ] && echo " + first + " || echo " +
                   second + ")",
               "export ME=R ;"))
      ASSERT_EQ(outcome.code, 0) << outcome.text;
    Array sum;
    ASSERT_EQ(readNpy(folder.path("sum.npy"), sum).message(), "");
    const auto *value = reinterpret_cast<const float *>(sum.data.data());
    for (size_t i = 0; i < 3 * 7; ++i) {
      float wanted = 1;
      for (size_t k = 0; k < 5; ++k)
        wanted += x[i / 7 * 5 + k] * (float((k * 7 + i % 7) % 9) - 4);
      EXPECT_EQ(value[i], 2 * wanted);
      EXPECT_EQ(value[i + 3 * 7], 2 * wanted); // of rank 1
    }
  }
};

TEST_F(JoinedOutputs, AreAskedOfRankZeroAlone) {
  expectSumFrom("--outputs sum=sum.npy", "");
}

TEST_F(JoinedOutputs, AreThoseThatRankZeroIsAskedFor) {
  expectSumFrom("--outputs sum=sum.npy", "--outputs x=x.npy");
  EXPECT_FALSE(std::filesystem::exists(folder.path("x.npy")));
}

class RankResult : public ::testing::Test {
protected:
  void SetUp() override {
    json manifest = gpuManifest(2);
    json check = halvesOf("check", 0);
    check["dtype"] = "bool";
    check["shape"] = check["dims"] = json::array();
    check["message"] = "";
    manifest["checks"] = json::array({check});
    manifest["outputs"] = json::array({halvesOf("sum", 256)});
    ASSERT_TRUE(parseManifest(manifest.dump().c_str(), program.manifest).ok());
    ASSERT_TRUE(run.prepare(memory).ok());
    for (int rank : {0, 1})
      run.record(rank).steps = 1;
  }
  Program program;
  Options options;
  SharedMemory memory;
  autopar::runtime::Run run{program, options}; // gtest has a Run too
};

TEST_F(RankResult, IsTakenWholeAndNothingElse) {
  ASSERT_TRUE(run.want({true}).ok());
  std::string bytes = packResult(run, 1);
  EXPECT_EQ(unpackResult(run, 1, bytes).message(), "");
  EXPECT_EQ(bytes.size(), mostResultBytes(run, 1));
  for (const std::string &bad :
       {bytes + "x", bytes.substr(0, bytes.size() - 1)})
    EXPECT_NE(unpackResult(run, 1, bad)
                  .message()
                  .find("is not what this program's ranks send"),
              std::string::npos);
  run.record(0).steps = 2; // the ranks end alike
  EXPECT_TRUE(unpackResult(run, 1, bytes).failed());
  run.record(0).steps = 1;
  ASSERT_TRUE(run.want({false}).ok());
  EXPECT_TRUE(unpackResult(run, 1, bytes).failed());
}

TEST_F(RankResult, AChecksFirstHolderReadsIt) {
  EXPECT_EQ(checksOfRank(program.manifest, 0).size(), 1u);
  EXPECT_EQ(checksOfRank(program.manifest, 1).size(), 0u);
}

TEST_F(JoinedExecutable, TheOnlyGpuOfAProcessIsItsOwn) {
  buildGpu(gpuManifest(2), 2);
  for (const Outcome &outcome :
       start(torchrun, 2, 2, "--inputs in.npz", "AUTOPAR_EMULATED_DEVICES=1"))
    EXPECT_EQ(outcome.code, 0) << outcome.text;
  expectFailure(run("--inputs in.npz", "AUTOPAR_EMULATED_DEVICES=1"),
                {"this rank needs GPU 1 of its host, which has 1"});
}

TEST_F(JoinedExecutable, AWrongNumberOfProcessesIsSaid) {
  buildGpu(gpuManifest(2), 2);
  for (const Outcome &outcome : start(torchrun, 3, 1, "--inputs in.npz"))
    expectFailure(outcome, {"torchrun started 3 processes (WORLD_SIZE)",
                            "compiled for 2 ranks"});
}

TEST_F(JoinedExecutable, AMissingRankIsNamed) {
  buildGpu(gpuManifest(3), 3);
  std::vector<Outcome> outcomes =
      start(torchrun, 3, 2, "--inputs in.npz --timeout 4");
  expectFailure(outcomes[0], {"rank 2 did not arrive within 4 s", "3 ranks"});
  EXPECT_EQ(outcomes[1].code, 1);
  EXPECT_LT(outcomes[0].seconds, 20);
}

TEST_F(JoinedExecutable, OtherOptionsAreRefused) {
  buildGpu(gpuManifest(2), 2);
  std::vector<Outcome> outcomes = start(
      torchrun, 2, 2, "--timeout 3 --inputs in.npz --repeat $((TIMES + 1))",
      "export TIMES=R ;");
  std::string all = outcomes[0].text + outcomes[1].text;
  EXPECT_NE(all.find("rank 1 runs another program, or with other options"),
            std::string::npos)
      << all;
  EXPECT_EQ(outcomes[0].code, 1);
  EXPECT_EQ(outcomes[1].code, 1);
}

/// Rank 0 listens and stands still for longer than rank 1 waits for an answer,
/// so that it finds a hello whose connection has ended.
TEST_F(JoinedExecutable, ARankThatStandsStillIsWaitedFor) {
  buildGpu(gpuManifest(2), 2);
  auto rank = [&](int number) {
    std::string log = "log" + std::to_string(number);
    return filled(torchrun, number, 2) +
           " ./exe --inputs in.npz --timeout 40 > " + log + " 2>&1";
  };
  std::string command =
      "cd " + folder.path("") + "; " + rank(0) +
      " & zero=$!; sleep 0.5; kill -STOP $zero; (" + rank(1) +
      "; echo $? > log1.code) & sleep 6; kill -CONT $zero; wait $zero; "
      "echo $? > log0.code; wait";
  EXPECT_EQ(std::system(command.c_str()), 0);
  for (const char *log : {"log0", "log1"})
    EXPECT_EQ(folder.read(log + std::string(".code")), "0\n")
        << folder.read(log);
}

TEST_F(JoinedExecutable, TheDeathOfARankIsNamed) {
  buildGpu(gpuManifest(3), 3);
  std::vector<Outcome> outcomes =
      start(torchrun, 3, 3, "--inputs in.npz --repeat 50",
            "AUTOPAR_EMULATED_NCCL_FAULT=1:7:death");
  // A GPU runs behind the host, which may be some ops further.
  expectFailure(outcomes[0], {"rank 1 died in or after op '/"});
  EXPECT_EQ(outcomes[2].code, 1);
  EXPECT_LT(outcomes[0].seconds, 20);
}

TEST_F(JoinedExecutable, TheDeathOfRankZeroEndsAll) {
  buildGpu(gpuManifest(2), 2);
  std::vector<Outcome> outcomes =
      start(torchrun, 2, 2, "--inputs in.npz --repeat 50",
            "AUTOPAR_EMULATED_NCCL_FAULT=0:7:death");
  expectFailure(outcomes[1], {"rank 0 died"});
  EXPECT_LT(outcomes[1].seconds, 20);
}

TEST_F(JoinedExecutable, AFailureOfARankIsToldByRankZero) {
  buildGpu(gpuManifest(2), 2);
  std::vector<Outcome> outcomes =
      start(torchrun, 2, 2, "--inputs in.npz --repeat 9",
            "AUTOPAR_EMULATED_NCCL_FAULT=1:4:error");
  expectFailure(outcomes[0], {"rank 1: op '/sum' (all_reduce)",
                              "an error that a test asked for"});
}

//===----------------------------------------------------------------------===//
// The same faults where the executable starts its own ranks
//===----------------------------------------------------------------------===//

TEST_F(JoinedExecutable, AloneTheFaultsAreNamedToo) {
  buildGpu(gpuManifest(3), 3);
  auto failing = [&](const char *fault) {
    return run("--inputs in.npz --repeat 20 --timeout 3",
               std::string("AUTOPAR_EMULATED_NCCL_FAULT=") + fault);
  };
  Outcome death = failing("1:7:death");
  expectFailure(death, {"rank 1 ", "op '/"});
  EXPECT_LT(death.seconds, 20);
  expectFailure(failing("2:5:error"),
                {"rank 2: op '/sum' (all_reduce): NCCL failed",
                 "an error that a test asked for"});
  Outcome hang = failing("0:6:hang");
  expectFailure(hang, {"op '/sum' (all_reduce): ", "--timeout sets"});
  EXPECT_LT(hang.seconds, 20);
}

} // namespace
