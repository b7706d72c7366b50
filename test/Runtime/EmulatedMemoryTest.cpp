//===- EmulatedMemoryTest.cpp - Faults of memory on the emulated GPU ------===//

#include "EmulatedDriver.h"

#include <thread>

namespace autopar::runtime::emulated {
namespace {

using EmulatedMemory = EmulatedDriver;

TEST_F(EmulatedMemory, CopiesThereAndBack) {
  std::vector<int> values = {1, 2, 3, 4};
  CUdeviceptr a = allocate(16), b = allocate(16);
  ASSERT_EQ(api.cuMemcpyHtoDAsync_v2(a, values.data(), 16, first),
            CUDA_SUCCESS);
  ASSERT_EQ(api.cuMemcpyDtoDAsync_v2(b, a, 16, first), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(b, 4), values);
  expectNoFault();
}

TEST_F(EmulatedMemory, CopiesPitchedRows) {
  std::vector<char> values = {1, 2, 3, 4, 5, 6};
  CUdeviceptr a = allocateFilled(16);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values.data();
  copy.srcPitch = 3;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = a;
  copy.dstPitch = 8;
  copy.dstXInBytes = 1;
  copy.WidthInBytes = 3;
  copy.Height = 2;
  ASSERT_EQ(api.cuMemcpy2DAsync_v2(&copy, first), CUDA_SUCCESS);
  EXPECT_EQ(download<char>(a, 16), (std::vector<char>{0, 1, 2, 3, 0, 0, 0, 0, 0,
                                                      4, 5, 6, 0, 0, 0, 0}));
  copy.dstPitch = 3; // rows of 3 bytes from byte 1 do not fit
  EXPECT_EQ(api.cuMemcpy2DAsync_v2(&copy, first), CUDA_ERROR_INVALID_VALUE);
  expectNoFault();
}

TEST_F(EmulatedMemory, NamesACopyOutOfBounds) {
  CUdeviceptr a = allocateFilled(64);
  EXPECT_EQ(api.cuMemsetD8Async(a + 32, 0, 64, first),
            CUDA_ERROR_ILLEGAL_ADDRESS);
  expectFault(FaultKind::outOfBounds,
              {"cuMemsetD8Async", "stream 1", "byte 32 of the 64 bytes"});
}

TEST_F(EmulatedMemory, NamesAUseAfterFree) {
  setLabel("/layer0/MatMul");
  CUdeviceptr a = allocateFilled(64);
  setLabel("/layer1/Add");
  ASSERT_EQ(api.cuMemFree_v2(a), CUDA_SUCCESS);
  api.cuMemsetD8Async(a, 0, 64, first);
  expectFault(FaultKind::useAfterFree, {"cuMemsetD8Async of /layer1/Add",
                                        "allocated for /layer0/MatMul, freed"});
}

TEST_F(EmulatedMemory, NamesADoubleFree) {
  CUdeviceptr a = allocateFilled(64);
  ASSERT_EQ(api.cuMemFree_v2(a), CUDA_SUCCESS);
  EXPECT_NE(api.cuMemFree_v2(a), CUDA_SUCCESS);
  expectFault(FaultKind::doubleFree, {"cuMemFree", "a second time"});
}

TEST_F(EmulatedMemory, NamesAFreeOfAnInnerAddress) {
  CUdeviceptr a = allocateFilled(64);
  EXPECT_NE(api.cuMemFree_v2(a + 16), CUDA_SUCCESS);
  expectFault(FaultKind::doubleFree, {"no allocation begins", "byte 16"});
}

TEST_F(EmulatedMemory, NamesAFreeWhileInUse) {
  CUdeviceptr a = allocate(64);
  ASSERT_EQ(api.cuMemsetD8Async(a, 0, 64, second), CUDA_SUCCESS);
  EXPECT_NE(api.cuMemFree_v2(a), CUDA_SUCCESS);
  expectFault(FaultKind::freedInUse,
              {"cuMemFree", "cuMemsetD8Async", "stream 2"});
}

TEST_F(EmulatedMemory, NamesAHostPointerForDeviceMemory) {
  std::vector<int> host(4);
  EXPECT_NE(api.cuMemsetD8Async(CUdeviceptr(host.data()), 0, 16, first),
            CUDA_SUCCESS);
  expectFault(FaultKind::hostPointer, {"cuMemsetD8Async", "host memory"});
}

TEST_F(EmulatedMemory, NamesADevicePointerForHostMemory) {
  CUdeviceptr a = allocateFilled(64), b = allocateFilled(64);
  EXPECT_NE(api.cuMemcpyHtoDAsync_v2(a, reinterpret_cast<void *>(b), 64, first),
            CUDA_SUCCESS);
  expectFault(FaultKind::devicePointer, {"cuMemcpyHtoDAsync"});
}

TEST_F(EmulatedMemory, NamesAnUninitialisedRead) {
  CUdeviceptr a = allocate(64);
  ASSERT_EQ(api.cuMemsetD8Async(a, 0, 60, first), CUDA_SUCCESS);
  int *host = allocatePinned<int>(16);
  api.cuMemcpyDtoHAsync_v2(host, a, 64, first);
  expectFault(FaultKind::uninitialisedRead,
              {"cuMemcpyDtoHAsync", "at byte 60 of it"});
}

TEST_F(EmulatedMemory, CopiesCarryUninitialisedBytesOn) {
  CUdeviceptr a = allocate(64), b = allocateFilled(64);
  ASSERT_EQ(api.cuMemsetD8Async(a, 0, 32, first), CUDA_SUCCESS);
  ASSERT_EQ(api.cuMemcpyDtoDAsync_v2(b, a, 64, first), CUDA_SUCCESS);
  ASSERT_EQ(api.cuStreamSynchronize(first), CUDA_SUCCESS);
  EXPECT_TRUE(isInitialised(b, 32));
  EXPECT_FALSE(isInitialised(b, 33));
  expectNoFault();
}

TEST_F(EmulatedMemory, NamesAnOverlappingCopy) {
  CUdeviceptr a = allocateFilled(64);
  EXPECT_NE(api.cuMemcpyDtoDAsync_v2(a + 8, a, 16, first), CUDA_SUCCESS);
  expectFault(FaultKind::overlap, {"cuMemcpyDtoDAsync"});
}

TEST_F(EmulatedMemory, RefusesMoreThanTheDeviceHas) {
  Options options;
  options.memoryBytes = 1 << 20;
  begin(options);
  allocate(1 << 19);
  CUdeviceptr a;
  CUresult code = api.cuMemAlloc_v2(&a, 1 << 20);
  EXPECT_EQ(code, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_NE(api.check(code, "cuMemAlloc_v2").message().find("1048576 bytes"),
            std::string::npos);
  expectNoFault();
}

TEST_F(EmulatedMemory, NamesLeaksAtTheEnd) {
  Options options;
  options.reportLeaks = true;
  begin(options);
  setLabel("/embedding");
  allocate(64);
  EXPECT_NE(api.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(faultKind(), FaultKind::leak);
  for (const char *word : {"64 bytes allocated for /embedding", "stream 1"})
    EXPECT_NE(faultText().find(word), std::string::npos) << faultText();
}

TEST_F(EmulatedMemory, TellsOfNoLeakWhenAllIsGivenBack) {
  Options options;
  options.reportLeaks = true;
  begin(options);
  CUdeviceptr a = allocateFilled(64);
  api.cuMemFree_v2(a);
  api.cuStreamDestroy_v2(first);
  api.cuStreamDestroy_v2(second);
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS) << faultText();
}

TEST_F(EmulatedMemory, AContextIsCurrentInOneThread) {
  CUdeviceptr a = allocateFilled(64);
  CUresult code = CUDA_SUCCESS;
  std::thread([&] { code = api.cuMemsetD8Async(a, 0, 64, first); }).join();
  EXPECT_EQ(code, CUDA_ERROR_INVALID_CONTEXT);
  expectNoFault();
}

TEST_F(EmulatedMemory, ADeviceAddressIsNotTheHosts) {
  CUdeviceptr a = allocateFilled(64);
  // Handlers are there once a kernel has run.
  ASSERT_EQ(launch({[](void *const *, apemu_thread *) {}, {}}, 1, 1, {}),
            CUDA_SUCCESS);
  expectNoFault();
  EXPECT_DEATH(*reinterpret_cast<volatile int *>(a) = 1,
               "the host touched memory of the emulated GPU");
}

} // namespace
} // namespace autopar::runtime::emulated
