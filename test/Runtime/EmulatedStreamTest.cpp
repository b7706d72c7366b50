//===- EmulatedStreamTest.cpp - Faults of order on the emulated GPU -------===//

#include "EmulatedDriver.h"

namespace autopar::runtime::emulated {
namespace {

using EmulatedStreams = EmulatedDriver;

TEST_F(EmulatedStreams, NamesAMissingEvent) {
  CUdeviceptr a = allocateFilled(64);
  setLabel("/layer0/Relu");
  ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, first), CUDA_SUCCESS);
  setLabel("/layer0/AllReduce");
  int *host = allocatePinned<int>(16);
  EXPECT_NE(api.cuMemcpyDtoHAsync_v2(host, a, 64, second), CUDA_SUCCESS);
  expectFault(FaultKind::streamRace,
              {"'cuMemcpyDtoHAsync of /layer0/AllReduce' on stream 2 reads",
               "'cuMemsetD8Async of /layer0/Relu' on stream 1 writes",
               "record an event on stream 1"});
}

TEST_F(EmulatedStreams, NamesAWriteOverWhatAnotherStreamReads) {
  CUdeviceptr a = allocateFilled(64);
  int *host = allocatePinned<int>(16);
  ASSERT_EQ(api.cuMemcpyDtoHAsync_v2(host, a, 64, second), CUDA_SUCCESS);
  EXPECT_NE(api.cuMemsetD8Async(a + 60, 1, 4, first), CUDA_SUCCESS);
  expectFault(FaultKind::streamRace,
              {"on stream 1 writes", "on stream 2 reads", "byte 60"});
}

TEST_F(EmulatedStreams, AnEventOrders) {
  CUdeviceptr a = allocateFilled(64);
  ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, first), CUDA_SUCCESS);
  order(first, second);
  ASSERT_EQ(api.cuMemsetD8Async(a, 2, 64, second), CUDA_SUCCESS);
  order(second, first);
  EXPECT_EQ(download<char>(a, 1)[0], 2);
  expectNoFault();
}

TEST_F(EmulatedStreams, AnEventOrdersOnlyWhatIsBeforeIt) {
  CUdeviceptr a = allocateFilled(64);
  CUevent event = makeEvent();
  ASSERT_EQ(api.cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, first), CUDA_SUCCESS);
  ASSERT_EQ(api.cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  EXPECT_NE(api.cuMemsetD8Async(a, 2, 64, second), CUDA_SUCCESS);
  expectFault(FaultKind::streamRace, {"stream 1", "stream 2"});
}

TEST_F(EmulatedStreams, WaitingOnTheHostOrders) {
  CUdeviceptr a = allocateFilled(64);
  CUevent event = makeEvent();
  ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, first), CUDA_SUCCESS);
  ASSERT_EQ(api.cuEventRecord(event, first), CUDA_SUCCESS);
  while (api.cuEventQuery(event) == CUDA_ERROR_NOT_READY) {
  }
  ASSERT_EQ(api.cuMemsetD8Async(a, 2, 64, second), CUDA_SUCCESS);
  expectNoFault();
}

TEST_F(EmulatedStreams, PartsOfOneBufferAreIndependent) {
  CUdeviceptr a = allocateFilled(64);
  ASSERT_EQ(api.cuMemsetD2D8Async(a, 16, 1, 8, 4, first), CUDA_SUCCESS);
  ASSERT_EQ(api.cuMemsetD2D8Async(a + 8, 16, 2, 8, 4, second), CUDA_SUCCESS);
  expectNoFault();
}

TEST_F(EmulatedStreams, NamesAWaitForAnEventThatWasNeverRecorded) {
  setLabel("/layer0/Relu");
  EXPECT_NE(api.cuStreamWaitEvent(second, makeEvent(), 0), CUDA_SUCCESS);
  expectFault(FaultKind::unrecordedEvent,
              {"stream 2", "event 0", "/layer0/Relu"});
}

TEST_F(EmulatedStreams, TheDefaultStreamOrdersBlockingStreams) {
  CUstream blocking;
  ASSERT_EQ(api.cuStreamCreateWithPriority(&blocking, CU_STREAM_DEFAULT, 0),
            CUDA_SUCCESS);
  CUdeviceptr a = allocateFilled(64);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, blocking), CUDA_SUCCESS);
    ASSERT_EQ(api.cuMemsetD8Async(a, 2, 64, nullptr), CUDA_SUCCESS);
  }
  ASSERT_EQ(api.cuStreamSynchronize(nullptr), CUDA_SUCCESS) << faultText();
  EXPECT_EQ(*memory(a), 2);
  // A non-blocking stream takes no part in that.
  ASSERT_EQ(api.cuMemsetD8Async(a, 3, 64, nullptr), CUDA_SUCCESS);
  EXPECT_NE(api.cuMemsetD8Async(a, 4, 64, first), CUDA_SUCCESS);
  expectFault(FaultKind::streamRace, {"the default stream", "stream 1"});
}

//===----------------------------------------------------------------------===//
// Host memory
//===----------------------------------------------------------------------===//

TEST_F(EmulatedStreams, NamesAHostBufferWrittenTooEarly) {
  Options options;
  for (options.seed = 0; options.seed < 8; ++options.seed) {
    begin(options);
    CUdeviceptr a = allocate(64);
    int *host = allocatePinned<int>(16);
    // What is enqueued before keeps the copy waiting.
    ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, second), CUDA_SUCCESS);
    order(second, first);
    ASSERT_EQ(api.cuMemcpyHtoDAsync_v2(a, host, 64, first), CUDA_SUCCESS);
    host[3] = 5;
    if (api.cuStreamSynchronize(first) != CUDA_SUCCESS)
      break;
  }
  expectFault(FaultKind::hostRace, {"cuMemcpyHtoDAsync", "stream 1"});
}

TEST_F(EmulatedStreams, AHostThatReadsTooEarlyReadsNothingUseful) {
  CUdeviceptr a = allocateFilled(64, 7);
  int *host = allocatePinned<int>(16);
  bool late = false;
  for (int i = 0; i < 16 && !late; ++i) {
    host[0] = 0;
    ASSERT_EQ(api.cuMemcpyDtoHAsync_v2(host, a, 64, first), CUDA_SUCCESS);
    late = host[0] == -1;
    ASSERT_EQ(api.cuStreamSynchronize(first), CUDA_SUCCESS);
    EXPECT_EQ(host[0], 0x07070707);
  }
  EXPECT_TRUE(late);
  expectNoFault();
}

TEST_F(EmulatedStreams, NamesPinnedMemoryFreedTooEarly) {
  CUdeviceptr a = allocate(64);
  int *host = allocatePinned<int>(16);
  ASSERT_EQ(api.cuMemcpyHtoDAsync_v2(a, host, 64, first), CUDA_SUCCESS);
  EXPECT_NE(api.cuMemFreeHost(host), CUDA_SUCCESS);
  expectFault(FaultKind::freedInUse, {"cuMemFreeHost", "cuMemcpyHtoDAsync"});
}

TEST_F(EmulatedStreams, PageableMemoryMayBeWrittenAtOnce) {
  CUdeviceptr a = allocate(64);
  std::vector<int> host(16, 3);
  ASSERT_EQ(api.cuMemcpyHtoDAsync_v2(a, host.data(), 64, first), CUDA_SUCCESS);
  std::fill(host.begin(), host.end(), 4);
  EXPECT_EQ(download<int>(a, 16), std::vector<int>(16, 3));
  expectNoFault();
}

//===----------------------------------------------------------------------===//
// Handles and queries
//===----------------------------------------------------------------------===//

TEST_F(EmulatedStreams, QueriesComeToAnEnd) {
  CUdeviceptr a = allocate(64);
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(api.cuMemsetD8Async(a, 1, 64, first), CUDA_SUCCESS);
  int asked = 0;
  while (api.cuStreamQuery(first) == CUDA_ERROR_NOT_READY)
    ASSERT_LT(++asked, 1000);
  expectNoFault();
}

TEST_F(EmulatedStreams, RefusesDestroyedHandles) {
  CUevent event = makeEvent();
  ASSERT_EQ(api.cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(api.cuEventRecord(event, first), CUDA_ERROR_INVALID_HANDLE);
  CUstream third;
  ASSERT_EQ(api.cuStreamCreateWithPriority(&third, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(api.cuStreamDestroy_v2(third), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamSynchronize(third), CUDA_ERROR_INVALID_HANDLE);
  expectNoFault();
}

TEST_F(EmulatedStreams, EveryCallFailsAfterAFault) {
  CUdeviceptr a = allocateFilled(64);
  api.cuMemsetD8Async(a + 64, 1, 4, first);
  std::string text = faultText();
  CUdeviceptr b;
  EXPECT_EQ(api.cuMemAlloc_v2(&b, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(api.cuMemFree_v2(a + 1), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(faultText(), text); // the first one is kept
}

/// A pipeline of two streams and the host, right under every order.
TEST_F(EmulatedStreams, ARightProgramHasNoFaultUnderAnyOrder) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    begin(seed);
    CUdeviceptr a = allocate(64), b = allocate(64);
    int *input = allocatePinned<int>(16), *output = allocatePinned<int>(16);
    for (int step = 1; step <= 3; ++step) {
      std::fill_n(input, 16, step);
      ASSERT_EQ(api.cuMemcpyHtoDAsync_v2(a, input, 64, first), CUDA_SUCCESS);
      order(first, second);
      ASSERT_EQ(api.cuMemcpyDtoDAsync_v2(b, a, 64, second), CUDA_SUCCESS);
      ASSERT_EQ(api.cuMemcpyDtoHAsync_v2(output, b, 64, second), CUDA_SUCCESS);
      order(second, first);
      ASSERT_EQ(api.cuMemsetD8Async(a, 0, 64, first), CUDA_SUCCESS);
      ASSERT_EQ(api.cuStreamSynchronize(first), CUDA_SUCCESS) << faultText();
      EXPECT_EQ(output[15], step);
    }
    expectNoFault();
  }
}

} // namespace
} // namespace autopar::runtime::emulated
