//===- NcclTest.cpp - Faults in the use of NCCL, found by the emulation ---===//

#include "Forked.h"
#include "core/Futex.h"
#include "emulated/EmulatedDevice.h"
#include "emulated/EmulatedNccl.h"
#include "emulated/NcclFaults.h"

#include <gtest/gtest.h>

#include <csignal>
#include <ctime>
#include <filesystem>

using namespace autopar::runtime;

namespace {

/// One process with a device, a stream and a communicator of all processes.
class Member {
public:
  Member(int ranks, int rank, const ncclUniqueId &id) : rank(rank) {
    emulated::bindEmulated(driver);
    emulated::bindEmulated(nccl);
    CUcontext context = nullptr;
    driver.cuInit(0);
    driver.cuDevicePrimaryCtxRetain(&context, 0);
    driver.cuCtxSetCurrent(context);
    driver.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0);
    ncclConfig_t config;
    config.blocking = 0;
    keep(nccl.ncclCommInitRankConfig(&world, ranks, id, rank, &config), world);
    settle(world);
  }

  /// Splits the world, as NCCL wants it: the call returns before, the parent
  /// tells when the child is there, the child when it can be used.
  ncclComm_t split(int color, int key) {
    children.push_back(std::make_unique<ncclComm_t>(nullptr));
    ncclComm_t *child = children.back().get();
    ncclConfig_t config;
    config.blocking = 0;
    keep(nccl.ncclCommSplit(world, color, key, child, &config), world);
    settle(world);
    if (*child)
      settle(*child);
    return *child;
  }

  /// `count` floats on the device, all `value`.
  float *floats(int64_t count, float value) {
    CUdeviceptr address = 0;
    std::vector<float> host(static_cast<size_t>(count), value);
    driver.cuMemAlloc_v2(&address, size_t(count) * sizeof(float));
    driver.cuMemcpyHtoDAsync_v2(address, host.data(),
                                size_t(count) * sizeof(float), stream);
    driver.cuStreamSynchronize(stream);
    return reinterpret_cast<float *>(address);
  }
  float read(const float *from) {
    float value = 0;
    driver.cuMemcpyDtoHAsync_v2(&value, reinterpret_cast<CUdeviceptr>(from),
                                sizeof(value), stream);
    wait();
    return value;
  }

  void label(const char *op) { driver.setLabel(op); }
  /// Keeps the first failure. What NCCL's thread does is waited for.
  void keep(ncclResult_t result, ncclComm_t comm = nullptr) {
    if (problem.empty())
      problem = nccl.check(result, "call", comm).message();
    if (result == ncclInProgress)
      settle(comm ? comm : world);
  }
  void allReduce(const float *in, int64_t count, ncclComm_t comm,
                 ncclRedOp_t kind = ncclSum,
                 ncclDataType_t type = ncclFloat32) {
    keep(nccl.ncclAllReduce(in, const_cast<float *>(in), size_t(count), type,
                            kind, comm, stream),
         comm);
  }

  /// Waits for the stream as a runtime does: until it is done, the device or
  /// NCCL reports a failure, or time is over. What was found.
  std::string wait(double seconds = 20) {
    double start = monotonicSeconds();
    while (problem.empty() && monotonicSeconds() - start < seconds) {
      CUresult state = driver.cuStreamQuery(stream);
      if (state == CUDA_SUCCESS)
        return "";
      if (state != CUDA_ERROR_NOT_READY)
        problem = driver.check(state, "cuStreamQuery").message();
      ncclResult_t async = ncclSuccess;
      nccl.ncclCommGetAsyncError(world, &async);
      keep(async, world);
      timespec pause = {0, 100000};
      nanosleep(&pause, nullptr);
    }
    return problem.empty() ? "no end" : problem;
  }

  void settle(ncclComm_t comm) {
    double start = monotonicSeconds();
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress && monotonicSeconds() - start < 20)
      nccl.ncclCommGetAsyncError(comm, &state);
    keep(state == ncclInProgress ? ncclInternalError : state, comm);
  }

  int rank;
  DriverApi driver;
  NcclApi nccl;
  CUstream stream = nullptr;
  ncclComm_t world = nullptr;
  std::vector<std::unique_ptr<ncclComm_t>> children; // where splits write
  std::string problem;
};

/// What `body` finds in each of `ranks` processes.
std::string runMembers(int ranks,
                       const std::function<std::string(Member &)> &body,
                       uint64_t seed = 0) {
  emulated::Options options;
  options.seed = seed;
  emulated::restart(options);
  NcclApi nccl;
  emulated::bindEmulated(nccl);
  ncclUniqueId id;
  if (nccl.ncclGetUniqueId(&id) != ncclSuccess)
    return "no id";
  return runProcesses(ranks, [&](int rank) {
    Member member(ranks, rank, id);
    return member.problem.empty() ? body(member) : member.problem;
  });
}

void expectText(const std::string &all, const std::string &part) {
  EXPECT_NE(all.find(part), std::string::npos) << part << "\nis not in\n"
                                               << all;
}

TEST(EmulatedNccl, ReducesGathersAndSendsInAGroup) {
  std::string all = runMembers(3, [](Member &m) -> std::string {
    float *x = m.floats(4, float(m.rank + 1)), *y = m.floats(12, 0);
    m.allReduce(x, 4, m.world);
    m.keep(m.nccl.ncclAllGather(x, y, 4, ncclFloat32, m.world, m.stream));
    m.nccl.ncclGroupStart();
    int next = (m.rank + 1) % 3, before = (m.rank + 2) % 3;
    float *token = m.floats(2, float(m.rank)), *got = m.floats(2, -1);
    m.keep(m.nccl.ncclSend(token, 2, ncclFloat32, next, m.world, m.stream));
    m.keep(m.nccl.ncclRecv(got, 2, ncclFloat32, before, m.world, m.stream));
    m.keep(m.nccl.ncclGroupEnd());
    if (std::string text = m.wait(); !text.empty())
      return text;
    if (m.read(y + 11) != 6 || m.read(got) != float(before))
      return "wrong result";
    m.keep(m.nccl.ncclCommFinalize(m.world));
    m.settle(m.world);
    m.keep(m.nccl.ncclCommDestroy(m.world));
    return m.problem;
  });
  EXPECT_EQ(all, "");
}

TEST(EmulatedNccl, SplitsByColorAndKey) {
  std::string all = runMembers(4, [](Member &m) -> std::string {
    // Even ranks in reverse order; rank 3 in no group.
    ncclComm_t child =
        m.split(m.rank == 3 ? NCCL_SPLIT_NOCOLOR : m.rank % 2, -m.rank);
    if ((m.rank == 3) != (child == nullptr))
      return "wrong group";
    ncclComm_t pair = m.split(m.rank / 2, m.rank);
    float *x = m.floats(1, float(m.rank)), *y = m.floats(2, -1);
    if (child)
      m.keep(m.nccl.ncclBroadcast(x, x, 1, ncclFloat32, 0, child, m.stream),
             child);
    m.keep(m.nccl.ncclAllGather(x, y, 1, ncclFloat32, pair, m.stream), pair);
    if (std::string text = m.wait(); !text.empty())
      return text;
    float wanted[4][2] = {{2, 1}, {2, 1}, {2, 3}, {2, 3}};
    return m.read(y) == wanted[m.rank][0] && m.read(y + 1) == wanted[m.rank][1]
               ? ""
               : "wrong result";
  });
  EXPECT_EQ(all, "");
}

//===----------------------------------------------------------------------===//
// What goes on in the background
//===----------------------------------------------------------------------===//

/// As every NCCL from 2.18 to 2.30 does on non-blocking communicators.
TEST(EmulatedNccl, ASplitReturnsBeforeItIsDone) {
  std::string all = runMembers(2, [](Member &m) -> std::string {
    ncclConfig_t config;
    config.blocking = 0;
    ncclComm_t first = nullptr, second = nullptr;
    if (m.nccl.ncclCommSplit(m.world, 0, m.rank, &first, &config) !=
            ncclSuccess ||
        first)
      return "the split is done, or failed";
    float *x = m.floats(4, 1);
    std::string texts;
    auto refused = [&](ncclResult_t result) {
      texts += result == ncclInvalidArgument
                   ? std::string(m.nccl.ncclGetLastError(nullptr)) + "; "
                   : "accepted; ";
    };
    refused(m.nccl.ncclCommSplit(m.world, 0, m.rank, &second, &config));
    refused(
        m.nccl.ncclAllReduce(x, x, 4, ncclFloat32, ncclSum, m.world, m.stream));
    m.settle(m.world);
    if (!first || second)
      return "the parent is ready and the child is not there";
    m.settle(first);
    m.allReduce(x, 4, first);
    m.wait();
    return m.problem.empty() ? texts : m.problem;
  });
  const char *busy = ": the communicator is used before its previous operation "
                     "has returned ncclSuccess; ";
  for (const char *rank : {"rank 0: ", "rank 1: "})
    expectText(all, std::string(rank) + "ncclCommSplit" + busy +
                        "ncclAllReduce" + busy);
}

/// Work that is put on a stream before NCCL's thread comes to it runs before
/// the collective, and is not ordered with it.
TEST(EmulatedNccl, FindsWorkThatOvertakesNcclsThread) {
  bool raced = false, overtook = false;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    std::string all = runMembers(
        1,
        [](Member &m) -> std::string {
          float *x = m.floats(4, 1);
          CUstream other = nullptr;
          CUevent event = nullptr;
          m.driver.cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING,
                                              0);
          m.driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
          (void)m.nccl.ncclAllReduce(x, x, 4, ncclFloat32, ncclSum, m.world,
                                     m.stream); // not waited for
          m.driver.cuEventRecord(event, m.stream);
          m.driver.cuStreamWaitEvent(other, event, 0);
          m.driver.cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(x), 0, 16,
                                   other);
          m.settle(m.world);
          m.wait();
          return emulated::faultText();
        },
        seed);
    raced |= all.find("race between streams") != std::string::npos;
    overtook |= all.empty();
  }
  EXPECT_TRUE(raced);
  EXPECT_TRUE(overtook); // with some seeds the thread is quick
}

TEST(EmulatedNccl, FindsACaptureThatEndsBeforeNcclsThreadComes) {
  std::string all;
  for (uint64_t seed = 0; seed < 4; ++seed)
    all += runMembers(
        1,
        [](Member &m) {
          float *x = m.floats(4, 1);
          CUgraph graph = nullptr;
          m.driver.cuStreamBeginCapture_v2(m.stream,
                                           CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
          (void)m.nccl.ncclAllReduce(x, x, 4, ncclFloat32, ncclSum, m.world,
                                     m.stream);
          m.driver.cuStreamEndCapture(m.stream, &graph);
          m.settle(m.world);
          return emulated::faultText();
        },
        seed);
  expectText(all, "library misuse: ncclAllReduce of 4 f32, sum: the capture "
                  "ended before NCCL's thread came to its stream");
}

//===----------------------------------------------------------------------===//
// Calls that do not match
//===----------------------------------------------------------------------===//

TEST(EmulatedNccl, FindsAnotherOrderOfCollectives) {
  std::string all = runMembers(2, [](Member &m) {
    float *x = m.floats(4, 1), *y = m.floats(8, 0);
    for (int i = 0; i < 2; ++i) {
      bool gathers = (i == 0) == (m.rank == 0);
      m.label(gathers ? "/gather" : "/sum");
      if (gathers)
        m.keep(m.nccl.ncclAllGather(x, y, 4, ncclFloat32, m.world, m.stream));
      else
        m.allReduce(x, 4, m.world);
    }
    return m.wait();
  });
  expectText(all, "collective mismatch");
  expectText(all, "ncclAllGather of 4 f32 in op '/gather'");
  expectText(all, "ncclAllReduce of 4 f32, sum in op '/sum'");
}

TEST(EmulatedNccl, FindsAnotherCountTypeReductionOrRoot) {
  auto run = [](int64_t count, ncclDataType_t type, ncclRedOp_t kind) {
    return runMembers(2, [=](Member &m) {
      float *x = m.floats(8, 1);
      if (m.rank == 0)
        m.allReduce(x, 4, m.world);
      else
        m.allReduce(x, count, m.world, kind, type);
      return m.wait();
    });
  };
  EXPECT_EQ(run(4, ncclFloat32, ncclSum), "");
  expectText(run(3, ncclFloat32, ncclSum), "rank 1 calls ncclAllReduce of 3");
  expectText(run(4, ncclInt32, ncclSum), "rank 1 calls ncclAllReduce of 4 i32");
  expectText(run(4, ncclFloat32, ncclMax), "of 4 f32, max");
  std::string roots = runMembers(2, [](Member &m) {
    float *x = m.floats(4, 1);
    m.keep(
        m.nccl.ncclBroadcast(x, x, 4, ncclFloat32, m.rank, m.world, m.stream));
    return m.wait();
  });
  expectText(roots, "ncclBroadcast of 4 f32, root 1");
}

TEST(EmulatedNccl, FindsAMessageOfAnotherSize) {
  std::string all = runMembers(2, [](Member &m) {
    float *x = m.floats(4, 1);
    m.keep(m.rank == 0
               ? m.nccl.ncclSend(x, 4, ncclFloat32, 1, m.world, m.stream)
               : m.nccl.ncclRecv(x, 3, ncclFloat32, 0, m.world, m.stream));
    return m.wait();
  });
  expectText(all, "rank 0 sends what rank 1 does not expect: ncclSend of 4 f32 "
                  "to 1, but ncclRecv of 3 f32 from 0");
}

TEST(EmulatedNccl, FindsADeadlockAcrossCommunicators) {
  double start = monotonicSeconds();
  std::string all = runMembers(2, [](Member &m) {
    ncclComm_t a = m.split(0, m.rank), b = m.split(0, m.rank);
    float *x = m.floats(4, 1);
    m.label(m.rank == 0 ? "/a" : "/b");
    m.allReduce(x, 4, m.rank == 0 ? a : b);
    m.label(m.rank == 0 ? "/b" : "/a");
    m.allReduce(x, 4, m.rank == 0 ? b : a);
    return m.wait();
  });
  EXPECT_LT(monotonicSeconds() - start, 10);
  EXPECT_EQ(all.find("no end"), std::string::npos) << all;
  expectText(all, "deadlock: rank");
  expectText(all, "rank 0 waits in ncclAllReduce of 4 f32, sum in op '/a' for "
                  "rank 1");
  expectText(all, "rank 1 waits in ncclAllReduce of 4 f32, sum in op '/b' for "
                  "rank 0");
}

TEST(EmulatedNccl, FindsMessagesThatWaitForEachOther) {
  std::string all = runMembers(2, [](Member &m) {
    float *x = m.floats(4, 1), *y = m.floats(4, 1);
    int other = 1 - m.rank;
    m.keep(m.nccl.ncclSend(x, 4, ncclFloat32, other, m.world, m.stream));
    m.keep(m.nccl.ncclRecv(y, 4, ncclFloat32, other, m.world, m.stream));
    return m.wait();
  });
  expectText(all, "deadlock: rank");
}

//===----------------------------------------------------------------------===//
// Misuse of one rank
//===----------------------------------------------------------------------===//

TEST(EmulatedNccl, RefusesMisuseOfGroups) {
  std::string all = runMembers(1, [](Member &m) -> std::string {
    if (m.nccl.ncclGroupEnd() != ncclInvalidUsage)
      return "an end without a start";
    float *x = m.floats(4, 1);
    m.nccl.ncclGroupStart();
    m.allReduce(x, 4, m.world);
    ncclResult_t result = m.nccl.ncclCommFinalize(m.world);
    return result == ncclInvalidUsage ? m.nccl.ncclGetLastError(nullptr)
                                      : "finalized inside a group";
  });
  expectText(all, "a group with calls on the communicator was not ended");
}

TEST(EmulatedNccl, RefusesToEndWhileAGraphHoldsOperations) {
  std::string all = runMembers(1, [](Member &m) -> std::string {
    float *x = m.floats(4, 1);
    CUgraph graph = nullptr;
    m.driver.cuStreamBeginCapture_v2(m.stream,
                                     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    m.allReduce(x, 4, m.world);
    m.driver.cuStreamEndCapture(m.stream, &graph);
    if (m.nccl.ncclCommFinalize(m.world) == ncclSuccess)
      return "finalized";
    return m.nccl.ncclGetLastError(m.world);
  });
  expectText(all, "a graph still holds 1 operations of the communicator");
}

/// Real NCCL does not return; the graph may have work that runs.
TEST(EmulatedNccl, FindsAnAbortWhileAGraphHoldsOperations) {
  std::string all = runMembers(1, [](Member &m) -> std::string {
    float *x = m.floats(4, 1);
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    m.driver.cuStreamBeginCapture_v2(m.stream,
                                     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    m.allReduce(x, 4, m.world);
    m.driver.cuStreamEndCapture(m.stream, &graph);
    m.driver.cuGraphInstantiateWithFlags(&executable, graph, 0);
    m.driver.cuGraphDestroy(graph);
    m.driver.cuGraphLaunch(executable, m.stream);
    if (m.nccl.ncclCommAbort(m.world) == ncclSuccess)
      return "aborted";
    return emulated::faultText();
  });
  expectText(all, "library misuse: ncclCommAbort: a graph still holds 1 "
                  "operations of the communicator");
}

TEST(EmulatedNccl, AbortsWhatADestroyedGraphStillRuns) {
  std::string all = runMembers(2, [](Member &m) -> std::string {
    float *x = m.floats(4, 1);
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    m.driver.cuStreamBeginCapture_v2(m.stream,
                                     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    m.allReduce(x, 4, m.world);
    m.driver.cuStreamEndCapture(m.stream, &graph);
    m.driver.cuGraphInstantiateWithFlags(&executable, graph, 0);
    m.driver.cuGraphDestroy(graph);
    if (m.rank == 0) // the other one never comes
      m.driver.cuGraphLaunch(executable, m.stream);
    m.driver.cuStreamQuery(m.stream);
    m.driver.cuGraphExecDestroy(executable);
    m.keep(m.nccl.ncclCommAbort(m.world));
    return m.problem + emulated::faultText();
  });
  EXPECT_EQ(all, "");
}

TEST(EmulatedNccl, RefusesUseAfterAbortAndDestruction) {
  std::string all = runMembers(1, [](Member &m) -> std::string {
    ncclComm_t child = m.split(0, 0);
    float *x = m.floats(4, 1);
    m.keep(m.nccl.ncclCommDestroy(child));
    m.allReduce(x, 4, child);
    std::string first = m.problem;
    m.problem.clear();
    m.keep(m.nccl.ncclCommAbort(m.world));
    m.allReduce(x, 4, m.world);
    return first + " / " + m.problem;
  });
  expectText(all, "ncclAllReduce: the communicator was destroyed / ");
  expectText(all, "ncclAllReduce: the communicator was aborted");
}

TEST(EmulatedNccl, RefusesBadArguments) {
  std::string all = runMembers(1, [](Member &m) {
    float host = 0, *x = m.floats(4, 1);
    std::string texts;
    auto failing = [&](ncclResult_t result) {
      texts += std::string(result == ncclSuccess ? "accepted" : "") +
               m.nccl.ncclGetLastError(nullptr) + "; ";
    };
    failing(m.nccl.ncclSend(x, 1, ncclFloat32, 7, m.world, m.stream));
    failing(m.nccl.ncclSend(x, 1, ncclDataType_t(40), 0, m.world, m.stream));
    failing(m.nccl.ncclSend(x, 1, ncclFloat32, 0, m.world, CUstream(&host)));
    failing(m.nccl.ncclSend(x, 1, ncclFloat32, 0, ncclComm_t(&host), m.stream));
    m.allReduce(&host, 1, m.world); // found by NCCL's thread
    return texts + m.problem;
  });
  EXPECT_EQ(all.find("accepted"), std::string::npos) << all;
  for (const char *part : {"rank 7 of a communicator of 1", "data type 40",
                           "not a stream", "not a communicator", "host"})
    expectText(all, part);
}

TEST(EmulatedNccl, RefusesTheCommunicatorOfAnotherProcess) {
  std::string all = runMembers(1, [](Member &m) {
    float *x = m.floats(4, 1);
    return runProcesses(1, [&](int) {
      m.allReduce(x, 4, m.world);
      return m.problem;
    });
  });
  expectText(all, "the communicator belongs to process");
}

TEST(EmulatedNccl, RefusesRanksThatDoNotAgree) {
  NcclApi nccl;
  emulated::bindEmulated(nccl);
  ncclUniqueId id;
  ASSERT_EQ(nccl.ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  EXPECT_EQ(nccl.ncclCommInitRankConfig(&comm, 2, id, 0, &config),
            ncclInProgress);
  EXPECT_EQ(nccl.ncclCommInitRankConfig(&comm, 3, id, 1, &config),
            ncclInvalidUsage);
  expectText(nccl.ncclGetLastError(comm), "rank 1 says that 3 ranks");
  EXPECT_EQ(nccl.ncclCommInitRankConfig(&comm, 2, id, 0, &config),
            ncclInvalidUsage);
  expectText(nccl.ncclGetLastError(comm),
             "rank 0 of the communicator is taken");
  ncclUniqueId garbage = {};
  EXPECT_EQ(nccl.ncclCommInitRankConfig(&comm, 2, garbage, 0, &config),
            ncclInvalidArgument);
}

//===----------------------------------------------------------------------===//
// Failures in the middle of a run
//===----------------------------------------------------------------------===//

TEST(EmulatedNccl, ReportsTheDeathOfARankInsideACollective) {
  double start = monotonicSeconds();
  std::string all = runMembers(3, [](Member &m) {
    (void)emulated::setPlannedFault("1:2:death");
    float *x = m.floats(4, 1);
    for (int i = 0; i < 3; ++i)
      m.allReduce(x, 4, m.world);
    return m.wait();
  });
  EXPECT_LT(monotonicSeconds() - start, 5);
  expectText(all, "rank 0: call failed: remote process exited");
  expectText(all, "rank 1 died during ncclAllReduce of 4 f32, sum");
  expectText(all, "rank 1:  (ended with status 9)");
}

TEST(EmulatedNccl, ReportsAnErrorInTheBackground) {
  std::string all = runMembers(2, [](Member &m) {
    (void)emulated::setPlannedFault("0:1:error");
    float *x = m.floats(4, 1);
    m.allReduce(x, 4, m.world);
    std::string text = m.wait();
    m.nccl.ncclCommAbort(m.world);
    m.problem.clear();
    return text + " / " + m.wait(); // the stream goes on after the abort
  });
  expectText(all, "unhandled system error (2): an error that a test asked for "
                  "/ \n");
  expectText(all, "rank 0 aborted the communicator during ncclAllReduce");
  EXPECT_EQ(all.find("no end"), std::string::npos) << all;
}

TEST(EmulatedNccl, ReportsARankThatLeavesACollectiveOut) {
  std::string all = runMembers(2, [](Member &m) {
    (void)emulated::setPlannedFault("1:1:skip");
    float *x = m.floats(4, 1);
    m.label("/first");
    m.allReduce(x, 4, m.world);
    m.label("/second");
    m.allReduce(x, 3, m.world);
    return m.wait();
  });
  expectText(all, "collective number 1 of a communicator");
  expectText(all, "rank 1 calls ncclAllReduce of 3 f32, sum in op '/second'");
}

TEST(EmulatedNccl, LeavesNothingBehind) {
  auto files = [] {
    size_t count = 0;
    for (const char *folder : {"/dev/shm", "/tmp"})
      for (const auto &entry : std::filesystem::directory_iterator(folder))
        count += entry.path().filename().string().find("autopar-emulated") !=
                 std::string::npos;
    return count;
  };
  size_t before = files();
  (void)runMembers(2, [](Member &m) -> std::string {
    if (m.rank == 0)
      kill(getpid(), SIGKILL);
    return "";
  });
  EXPECT_EQ(files(), before);
}

} // namespace
