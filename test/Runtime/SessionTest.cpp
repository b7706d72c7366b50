//===- SessionTest.cpp - Programs within this process ---------------------===//

#include "autopar/session.h"
#include "PipelineProgram.h"
#include "SumProgram.h"
#include "core/SharedMemory.h"
#include "session/Worker.h"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace autopar::runtime;

namespace {

using Sums = std::array<float, 42>;

/// An open session, which ends with the test.
class OpenSession {
public:
  explicit OpenSession(const std::string &path,
                       const autopar_session_options *options = nullptr) {
    if (autopar_session_open(path.c_str(), options, &session))
      failure = autopar_error();
  }
  ~OpenSession() { autopar_session_close(session); }
  OpenSession(const OpenSession &) = delete;
  OpenSession &operator=(const OpenSession &) = delete;

  /// "" or what it failed of.
  std::string run(const std::array<float, 30> &x, Sums &y, int32_t mode = 0) {
    const void *inputs[] = {x.data(), &mode};
    void *outputs[] = {y.data()};
    return autopar_session_run(session, inputs, outputs) ? autopar_error() : "";
  }

  autopar_session *session = nullptr;
  std::string failure;
};

class Sessions : public SumProgram {
protected:
  /// On so many ranks.
  Sums wanted(int ranks = 1) const {
    Sums sums;
    for (int row = 0; row < 6; ++row)
      for (int column = 0; column < 7; ++column) {
        float sum = 1;
        for (int k = 0; k < 5; ++k)
          sum += x[row * 5 + k] * float((k * 7 + column) % 9 - 4);
        sums[row * 7 + column] = sum * float(ranks);
      }
    return sums;
  }
  static size_t openFiles() {
    std::filesystem::directory_iterator files("/proc/self/fd");
    return size_t(std::distance(files, {}));
  }
  /// How many processes there are of the folder's executable.
  size_t workers() const {
    size_t count = 0;
    for (const auto &process : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(process.path() / "cmdline");
      std::string program;
      std::getline(file, program, '\0');
      count += program == folder.path("exe");
    }
    return count;
  }
  static void expectPart(const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos)
        << "no '" << part << "' in: " << text;
  }
};

class SessionsOnRanks : public Sessions,
                        public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SessionsOnRanks, ::testing::Values(1, 2, 3));

TEST_P(SessionsOnRanks, ComputeTheSumAgainAndAgain) {
  buildProgram(GetParam());
  {
    OpenSession session(folder.path("exe"));
    ASSERT_EQ(session.failure, "");
    for (int i = 0; i < 100; ++i) {
      Sums y{};
      ASSERT_EQ(session.run(x, y), "");
      ASSERT_EQ(y, wanted(GetParam()));
      x[size_t(i % 30)] += 1;
    }
  }
  EXPECT_EQ(workers(), 0u);
}

/// Both pack the same matrix; the failure of one is that of all.
TEST_P(SessionsOnRanks, ServeEntriesThatPackAlike) {
  buildProgram(GetParam());
  nlohmann::json manifest = programManifest(GetParam());
  manifest["entry"] = "second";
  manifest["ops"][3]["name"] = "/second/sum";
  compile("program.c", manifest, GetParam());
  appendEntry();
  OpenSession session(folder.path("exe"));
  ASSERT_EQ(session.failure, "");
  autopar_session *second = autopar_session_entry(session.session, 1);
  int32_t mode = 0;
  for (int i = 0; i < 10; ++i) {
    Sums first{}, other{};
    ASSERT_EQ(session.run(x, first), "");
    const void *inputs[] = {x.data(), &mode};
    void *outputs[] = {other.data()};
    ASSERT_EQ(autopar_session_run(second, inputs, outputs), 0);
    EXPECT_EQ(first, wanted(GetParam()));
    EXPECT_EQ(other, first);
  }
  Sums y{};
  mode = 5;
  const void *inputs[] = {x.data(), &mode};
  void *outputs[] = {y.data()};
  ASSERT_NE(autopar_session_run(second, inputs, outputs), 0);
  expectPart(autopar_error(), ": op '/second/sum' (all_reduce)");
  expectPart(session.run(x, y), "the session ended when a call failed: rank ");
}

/// A rank that dies at work on the second entry.
TEST_F(Sessions, NameTheOpOfTheEntryAtWork) {
  buildProgram(2);
  nlohmann::json manifest = programManifest(2);
  manifest["entry"] = "second";
  manifest["ops"][1]["name"] = "/second/scale";
  compile("program.c", manifest, 2);
  appendEntry();
  OpenSession session(folder.path("exe"));
  ASSERT_EQ(session.failure, "");
  Sums y{};
  ASSERT_EQ(session.run(x, y), "");
  int32_t mode = 1;
  const void *inputs[] = {x.data(), &mode};
  void *outputs[] = {y.data()};
  ASSERT_NE(autopar_session_run(autopar_session_entry(session.session, 1),
                                inputs, outputs),
            0);
  expectPart(autopar_error(),
             "rank 1 was killed by signal 9 (Killed) in or after op "
             "'/second/scale' (kernel)");
}

TEST_P(SessionsOnRanks, EndWhenAStepFails) {
  buildProgram(GetParam());
  OpenSession session(folder.path("exe"));
  Sums y{};
  expectPart(session.run(x, y, /*mode=*/5), ": op '/sum' (all_reduce)");
  expectPart(session.run(x, y), "the session ended when a call failed: rank ");
}

/// One step at a time is under way, for this program's steps do not overlap.
TEST_P(SessionsOnRanks, GiveResultsOfStepsThatWereSubmitted) {
  buildProgram(GetParam());
  OpenSession session(folder.path("exe"));
  ASSERT_EQ(session.failure, "");
  EXPECT_EQ(autopar_session_slots(session.session), 1);
  int32_t mode = 0;
  Sums y{}, other{};
  const void *inputs[] = {x.data(), &mode};
  void *outputs[] = {y.data()};
  int64_t ticket = 0, none = 0;
  for (int i = 0; i < 10; ++i) {
    Sums sums = wanted(GetParam());
    ASSERT_EQ(autopar_session_submit(session.session, inputs, outputs, &ticket),
              0);
    if (GetParam() > 1)
      x[3] += 1; // the inputs were taken
    EXPECT_NE(autopar_session_submit(session.session, inputs, outputs, &none),
              0);
    expectPart(autopar_error(), "1 step is under way, and the program has room "
                                "for no more");
    expectPart(session.run(x, other), "1 step is under way");
    EXPECT_NE(autopar_session_wait(session.session, ticket + 1), 0);
    expectPart(autopar_error(), "no step with ticket ");
    ASSERT_EQ(autopar_session_wait(session.session, ticket), 0);
    EXPECT_NE(autopar_session_wait(session.session, ticket), 0);
    EXPECT_EQ(y, sums);
  }
  EXPECT_EQ(session.run(x, y), "");
  // What nobody waits for ends with the session.
  EXPECT_EQ(autopar_session_submit(session.session, inputs, outputs, &ticket),
            0);
}

/// One thread submits, another one waits, as fast as they can; a third one gets
/// its turn or is refused.
TEST_F(Sessions, OverlapTheStepsOfAPipeline) {
  nlohmann::json manifest = nlohmann::json::parse(pipelineProgramText);
  manifest["plan"] = {{"objective", "throughput"}};
  build("pipeline.c", manifest, 1);
  OpenSession session(folder.path("exe"));
  ASSERT_EQ(session.failure, "");
  constexpr int steps = 500;
  int64_t slots = autopar_session_slots(session.session);
  EXPECT_EQ(slots, 4);
  std::vector<std::array<float, 12>> y(steps);
  std::array<std::atomic<int64_t>, steps> tickets{};
  std::atomic<int64_t> waited{0};
  std::thread waiter([&] {
    for (int i = 0; i < steps; ++i, ++waited) {
      while (tickets[i] == 0)
        std::this_thread::yield();
      EXPECT_EQ(autopar_session_wait(session.session, tickets[i]), 0)
          << autopar_error();
    }
  });
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) {
      std::array<float, 12> x{3}, to{};
      const void *inputs[] = {x.data()};
      void *outputs[] = {to.data()};
      if (autopar_session_run(session.session, inputs, outputs) == 0)
        EXPECT_EQ(to[0], 7);
      else
        expectPart(autopar_error(), "4 steps are under way");
    }
  });
  for (int i = 0; i < steps;) {
    std::array<float, 12> x;
    x.fill(float(i));
    const void *inputs[] = {x.data()};
    void *outputs[] = {y[size_t(i)].data()};
    int64_t ticket = 0;
    if (autopar_session_submit(session.session, inputs, outputs, &ticket)) {
      expectPart(autopar_error(), "4 steps are under way");
      continue;
    }
    tickets[size_t(i++)] = ticket;
  }
  waiter.join();
  other.join();
  for (int i = 0; i < steps; ++i)
    for (float value : y[size_t(i)])
      ASSERT_EQ(value, 2 * float(i) + 1) << "of step " << i;
}

/// The last rank ends in the middle of a step.
TEST_F(Sessions, NameAWorkerThatEnds) {
  buildProgram(3);
  for (const auto &[mode, how] :
       {std::pair(1, "rank 2 was killed by signal 9 (Killed)"),
        {2, "rank 2 ended with exit code 7"},
        {4, "rank 2 "}}) {
    OpenSession session(folder.path("exe"));
    ASSERT_EQ(session.failure, "");
    Sums y{};
    ASSERT_EQ(session.run(x, y), "");
    double start = monotonicSeconds();
    std::string failure = session.run(x, y, mode);
    EXPECT_LT(monotonicSeconds() - start, 5);
    expectPart(failure, how);
    expectPart(session.run(x, y), how);
  }
}

TEST_F(Sessions, NameAWorkerThatDoesNotArrive) {
  buildProgram(2);
  autopar_session_options options{};
  options.size = sizeof(options);
  options.timeout_seconds = 0.5;
  OpenSession session(folder.path("exe"), &options);
  ASSERT_EQ(session.failure, "");
  Sums y{};
  expectPart(session.run(x, y, /*mode=*/3), "rank 1 did not arrive within 0.5");
}

/// Its handler is not called, and its wait finds no process.
TEST_F(Sessions, LeaveTheOwnersSignalsAlone) {
  static std::atomic<int> called{0};
  struct sigaction before, action{};
  action.sa_handler = [](int) { ++called; };
  sigaction(SIGCHLD, &action, &before);
  buildProgram(2);
  called = 0; // the compiler and the linker were children, too
  {
    OpenSession session(folder.path("exe"));
    ASSERT_EQ(session.failure, "");
    Sums y{};
    ASSERT_EQ(session.run(x, y), "");
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }
  EXPECT_EQ(called, 0);
  sigaction(SIGCHLD, &before, nullptr);
}

/// A forked process ends no worker, and workers end with their owner.
TEST_F(Sessions, EndWithTheirOwner) {
  buildProgram(2);
  OpenSession session(folder.path("exe"));
  ASSERT_EQ(session.failure, "");
  pid_t child = fork();
  if (child == 0) {
    autopar_session_close(session.session);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  Sums y{};
  EXPECT_EQ(session.run(x, y), "");
  EXPECT_EQ(y, wanted(2));
  // Another owner is killed.
  size_t own = workers();
  EXPECT_GT(own, 0u);
  child = fork();
  if (child == 0) {
    OpenSession other(folder.path("exe"));
    _exit(other.failure.empty() && workers() == 2 * own ? raise(SIGKILL) : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (int i = 0; i < 500 && workers() > own; ++i)
    usleep(10000);
  EXPECT_EQ(workers(), own);
}

TEST_F(Sessions, DescribeTheirTensors) {
  buildProgram(1);
  OpenSession session(folder.path("exe"));
  ASSERT_EQ(session.failure, "");
  EXPECT_EQ(autopar_session_count(session.session, AUTOPAR_INPUT), 2);
  EXPECT_EQ(autopar_session_count(session.session, AUTOPAR_OUTPUT), 1);
  EXPECT_EQ(autopar_session_count(session.session, AUTOPAR_STATE), 0);
  autopar_tensor tensor{};
  tensor.size = sizeof(tensor);
  ASSERT_EQ(autopar_session_tensor(session.session, AUTOPAR_INPUT, 0, &tensor),
            0);
  EXPECT_STREQ(tensor.name, "x");
  EXPECT_STREQ(tensor.dtype, "f32");
  ASSERT_EQ(tensor.rank, 2);
  EXPECT_EQ(tensor.shape[0], 6);
  EXPECT_EQ(tensor.shape[1], 5);
  EXPECT_EQ(tensor.bytes, 120);
  EXPECT_NE(autopar_session_tensor(session.session, AUTOPAR_OUTPUT, 1, &tensor),
            0);
  expectPart(autopar_error(), "there is no tensor number 1");
}

TEST_F(Sessions, AreIndependent) {
  buildProgram(1);
  OpenSession first(folder.path("exe"));
  TemporaryFolder other;
  std::filesystem::copy(folder.path("exe"), other.path("exe"));
  // Other weights beside the same program.
  other.write("weights.bin", std::string(140, 0));
  OpenSession second(other.path("exe"));
  ASSERT_EQ(first.failure, "");
  ASSERT_EQ(second.failure, "");
  Sums ones;
  ones.fill(1);
  auto work = [&](OpenSession &session, const Sums &expected) {
    for (int i = 0; i < 200; ++i) {
      Sums y{};
      EXPECT_EQ(session.run(x, y), "");
      EXPECT_EQ(y, expected);
    }
  };
  std::thread thread([&] { work(second, ones); });
  work(first, wanted());
  thread.join();
}

TEST_F(Sessions, OfOneProgramServeTheirCallersOneByOne) {
  buildProgram(1);
  OpenSession session(folder.path("exe"));
  ASSERT_EQ(session.failure, "");
  Sums expected = wanted();
  auto work = [&] {
    for (int i = 0; i < 200; ++i) {
      Sums y{};
      EXPECT_EQ(session.run(x, y), "");
      EXPECT_EQ(y, expected);
    }
  };
  std::thread thread(work);
  work();
  thread.join();
}

/// Programs are loaded from descriptors, of which the second may get the number
/// that the first one had.
TEST_F(Sessions, OfProgramsWhoseFilesHadOneDescriptor) {
  buildProgram(1);
  TemporaryFolder other;
  std::filesystem::copy(folder.path("exe"), other.path("exe"));
  std::filesystem::copy(folder.path("weights.bin"), other.path("weights.bin"));
  auto open = [&](const std::string &path) {
    auto session = std::make_unique<OpenSession>(path);
    EXPECT_EQ(session->failure, "");
    return session;
  };
  auto first = open(other.path("exe"));
  nlohmann::json manifest = programManifest(1);
  manifest["outputs"][0]["name"] = "z";
  build("program.c", manifest, 1);
  auto second = open(folder.path("exe"));
  autopar_tensor tensor{};
  tensor.size = sizeof(tensor);
  for (const auto &[session, name] :
       {std::pair(first.get(), "y"), {second.get(), "z"}}) {
    ASSERT_EQ(
        autopar_session_tensor(session->session, AUTOPAR_OUTPUT, 0, &tensor),
        0);
    EXPECT_STREQ(tensor.name, name);
  }
}

TEST_F(Sessions, LeaveNothingBehind) {
  buildProgram(1);
  {
    OpenSession warm(folder.path("exe"));
  }
  size_t before = openFiles();
  for (int i = 0; i < 50; ++i) {
    OpenSession session(folder.path("exe"));
    ASSERT_EQ(session.failure, "");
  }
  std::filesystem::remove(folder.path("weights.bin"));
  for (int i = 0; i < 50; ++i)
    expectPart(OpenSession(folder.path("exe")).failure, "weights.bin");
  EXPECT_EQ(openFiles(), before);
}

/// The memory of the session is as another version would have it.
TEST_F(Sessions, WorkersRefuseAnotherVersion) {
  WorkerSetup setup;
  setup.first = 1;
  setup.bytes = 4096;
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
  buildProgram(2);
  pid_t child = fork();
  if (child == 0) {
    dup2(sockets[1], workerSocket);
    execl(folder.path("exe").c_str(), "exe", workerArgument, nullptr);
    _exit(1);
  }
  SharedMemory memory;
  ASSERT_TRUE(memory.createFile().ok());
  setup.entries = {0};
  setup.checksums = {checksum(program)};
  // The pieces that a worker maps lie within the file.
  ASSERT_EQ(ftruncate(memory.descriptor(), 1 << 20), 0);
  ASSERT_TRUE(
      sendSetup(sockets[0], setup, memory.descriptor(), sockets[0]).ok());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  char text[512] = {};
  ASSERT_GT(recv(sockets[0], text, sizeof(text) - 1, MSG_DONTWAIT), 0);
  expectPart(text, "another version of autopar than the session's library");
  close(sockets[0]);
  close(sockets[1]);
}

TEST_F(Sessions, RefuseWhatTheyCannotRun) {
  buildProgram(1);
  expectPart(OpenSession(folder.path("nothing")).failure, "nothing");
  expectPart(OpenSession(folder.path("manifest.h")).failure,
             "has no program of autopar");
  std::string bytes = folder.read("exe");
  size_t magic = bytes.rfind("AUTOPAR2");
  ASSERT_NE(magic, std::string::npos);
  bytes[magic + 7] = '1';
  folder.write("old", bytes);
  expectPart(OpenSession(folder.path("old")).failure,
             "compiled for ABI 5 or less");
}

} // namespace
