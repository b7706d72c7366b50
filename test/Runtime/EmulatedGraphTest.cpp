//===- EmulatedGraphTest.cpp - Capture and graphs on the emulated GPU -----===//

#include "EmulatedDriver.h"

namespace autopar::runtime::emulated {
namespace {

class EmulatedGraphs : public EmulatedDriver {
protected:
  void beginCapture(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_EQ(api.cuStreamBeginCapture_v2(first, mode), CUDA_SUCCESS);
  }
  /// Ends the capture of `first`; an executable graph.
  CUgraphExec endCapture() {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    EXPECT_EQ(api.cuStreamEndCapture(first, &graph), CUDA_SUCCESS) << text();
    EXPECT_EQ(api.cuGraphInstantiateWithFlags(&executable, graph, 0),
              CUDA_SUCCESS);
    EXPECT_EQ(api.cuGraphDestroy(graph), CUDA_SUCCESS);
    return executable;
  }
  /// The text of a code that a call returned.
  std::string text(CUresult code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) {
    return api.check(code, "call").message();
  }
  void expectRefused(CUresult code, CUresult wanted, const std::string &word) {
    EXPECT_EQ(code, wanted);
    EXPECT_NE(text(code).find(word), std::string::npos) << text(code);
  }
};

/// b = a by the second stream, then a = 9 by the first.
TEST_F(EmulatedGraphs, ReplaysWorkOfSeveralStreams) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    begin(seed);
    CUdeviceptr a = allocateFilled(64, 1), b = allocateFilled(64, 2);
    beginCapture();
    order(first, second);
    ASSERT_EQ(api.cuMemcpyDtoDAsync_v2(b, a, 64, second), CUDA_SUCCESS);
    order(second, first);
    ASSERT_EQ(api.cuMemsetD8Async(a, 9, 64, first), CUDA_SUCCESS);
    CUgraphExec executable = endCapture();
    EXPECT_EQ(download<char>(b, 1)[0], 2); // nothing has run
    ASSERT_EQ(api.cuGraphLaunch(executable, first), CUDA_SUCCESS);
    ASSERT_EQ(api.cuStreamSynchronize(first), CUDA_SUCCESS) << faultText();
    EXPECT_EQ(*memory(b), 1);
    ASSERT_EQ(api.cuGraphLaunch(executable, first), CUDA_SUCCESS);
    ASSERT_EQ(api.cuGraphLaunch(executable, first), CUDA_SUCCESS);
    EXPECT_EQ(download<char>(b, 1)[0], 9);
    ASSERT_EQ(api.cuGraphExecDestroy(executable), CUDA_SUCCESS);
    expectNoFault();
  }
}

TEST_F(EmulatedGraphs, NamesARaceWithinAGraph) {
  CUdeviceptr a = allocateFilled(64);
  beginCapture();
  order(first, second);
  ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, second), CUDA_SUCCESS);
  ASSERT_EQ(api.cuMemsetD8Async(a, 2, 64, first), CUDA_SUCCESS);
  order(second, first);
  CUgraphExec executable = endCapture();
  EXPECT_NE(api.cuGraphLaunch(executable, first), CUDA_SUCCESS);
  expectFault(FaultKind::streamRace, {"stream 1", "stream 2"});
}

TEST_F(EmulatedGraphs, NamesARaceWithAGraph) {
  CUdeviceptr a = allocateFilled(64);
  beginCapture();
  ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, first), CUDA_SUCCESS);
  CUgraphExec executable = endCapture();
  ASSERT_EQ(api.cuGraphLaunch(executable, first), CUDA_SUCCESS);
  EXPECT_NE(api.cuMemsetD8Async(a, 2, 64, second), CUDA_SUCCESS);
  expectFault(FaultKind::streamRace, {"stream 1", "stream 2"});
}

TEST_F(EmulatedGraphs, NamesMemoryFreedBetweenCaptureAndLaunch) {
  CUdeviceptr a = allocateFilled(64);
  beginCapture();
  ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, first), CUDA_SUCCESS);
  CUgraphExec executable = endCapture();
  ASSERT_EQ(api.cuMemFree_v2(a), CUDA_SUCCESS);
  EXPECT_NE(api.cuGraphLaunch(executable, first), CUDA_SUCCESS);
  expectFault(FaultKind::useAfterFree, {"cuMemsetD8Async"});
}

//===----------------------------------------------------------------------===//
// Misuse of captures
//===----------------------------------------------------------------------===//

TEST_F(EmulatedGraphs, RefusesToWaitDuringCapture) {
  beginCapture();
  expectRefused(api.cuStreamSynchronize(first),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamSynchronize");
  CUstreamCaptureStatus status;
  ASSERT_EQ(api.cuStreamIsCapturing(first, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  CUgraph graph;
  expectRefused(api.cuStreamEndCapture(first, &graph),
                CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "cuStreamSynchronize");
  expectNoFault();
}

TEST_F(EmulatedGraphs, RefusesToAllocateDuringCapture) {
  beginCapture();
  CUdeviceptr a;
  expectRefused(api.cuMemAlloc_v2(&a, 64),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuMemAlloc");
}

TEST_F(EmulatedGraphs, AllowsToAllocateDuringARelaxedCapture) {
  beginCapture(CU_STREAM_CAPTURE_MODE_RELAXED);
  allocate(64);
  endCapture();
  expectNoFault();
}

TEST_F(EmulatedGraphs, RefusesToCopyPageableMemoryDuringCapture) {
  CUdeviceptr a = allocate(64);
  std::vector<char> host(64);
  beginCapture();
  expectRefused(api.cuMemcpyHtoDAsync_v2(a, host.data(), 64, first),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not pinned");
}

TEST_F(EmulatedGraphs, RefusesTheDefaultStreamDuringCapture) {
  CUdeviceptr a = allocateFilled(64);
  CUstream blocking;
  ASSERT_EQ(api.cuStreamCreateWithPriority(&blocking, CU_STREAM_DEFAULT, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(
      api.cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  expectRefused(api.cuMemsetD8Async(a, 1, 64, nullptr),
                CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "default stream");
}

TEST_F(EmulatedGraphs, RefusesABranchThatIsNotJoined) {
  CUdeviceptr a = allocateFilled(64);
  beginCapture();
  order(first, second);
  ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, second), CUDA_SUCCESS);
  CUgraph graph;
  expectRefused(api.cuStreamEndCapture(first, &graph),
                CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "stream 2");
}

TEST_F(EmulatedGraphs, RefusesToEndACaptureOnAnotherStream) {
  beginCapture();
  order(first, second);
  CUgraph graph;
  expectRefused(api.cuStreamEndCapture(second, &graph),
                CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "stream 1");
}

TEST_F(EmulatedGraphs, RefusesEventsFromOutsideOfTheCapture) {
  CUevent event = makeEvent();
  ASSERT_EQ(api.cuEventRecord(event, second), CUDA_SUCCESS);
  beginCapture();
  expectRefused(api.cuStreamWaitEvent(first, event, 0),
                CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "event 0");
}

TEST_F(EmulatedGraphs, RefusesToAskForCapturedEvents) {
  beginCapture();
  CUevent event = makeEvent();
  ASSERT_EQ(api.cuEventRecord(event, first), CUDA_SUCCESS);
  expectRefused(api.cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT, "event 0");
}

} // namespace
} // namespace autopar::runtime::emulated
