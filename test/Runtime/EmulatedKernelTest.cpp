//===- EmulatedKernelTest.cpp - Faults of kernels on the emulated GPU -----===//

#include "EmulatedDriver.h"

#include <sys/mman.h>

namespace autopar::runtime::emulated {
namespace {

using EmulatedKernels = EmulatedDriver;

constexpr apemu_parameter reads(int64_t bytes) { return {bytes, APEMU_READ}; }
constexpr apemu_parameter writes(int64_t bytes) { return {bytes, APEMU_WRITE}; }
constexpr apemu_parameter both(int64_t bytes) {
  return {bytes, APEMU_READ | APEMU_WRITE};
}

//===----------------------------------------------------------------------===//
// Right kernels
//===----------------------------------------------------------------------===//

/// y[i] = x[i] + s
void addScalar(void *const *arguments, apemu_thread *thread) {
  auto *x = argumentOf<const int *>(arguments, 0);
  auto *y = argumentOf<int *>(arguments, 1);
  auto s = argumentOf<int64_t>(arguments, 2);
  uint32_t i = globalIndex(thread);
  storeGlobal(thread, y + i, int(loadGlobal(thread, x + i, 0) + s), 1);
}

TEST_F(EmulatedKernels, RunsALoopOfThreads) {
  CUdeviceptr x = allocateFilled(256, 1), y = allocate(256);
  Kernel kernel{addScalar, {reads(256), writes(256)}, false, 0, 1};
  ASSERT_EQ(launch(kernel, 2, 32, {x, y, 4}), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(y, 64), std::vector<int>(64, 0x01010105));
  expectNoFault();
}

/// y[block] = sum of x of the block, by a tree in shared memory.
template <bool withBarrier>
void reduceBlock(void *const *arguments, apemu_thread *thread) {
  auto *x = argumentOf<const int *>(arguments, 0);
  auto *y = argumentOf<int *>(arguments, 1);
  uint32_t t = thread->thread_index[0];
  storeShared(thread, t, loadGlobal(thread, x + globalIndex(thread), 0));
  for (uint32_t half = thread->block_size[0] / 2; half > 0; half /= 2) {
    if (withBarrier)
      apemu_barrier(thread);
    if (t < half)
      storeShared(thread, t,
                  loadShared<int>(thread, t) +
                      loadShared<int>(thread, t + half));
  }
  if (t == 0)
    storeGlobal(thread, y + thread->block_index[0], loadShared<int>(thread, 0),
                1);
}

TEST_F(EmulatedKernels, ARightReductionHasNoFaultUnderAnyOrder) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    begin(seed);
    CUdeviceptr x = allocateFilled(4 * 128, 1), y = allocate(8);
    Kernel kernel{reduceBlock<true>, {reads(512), writes(8)}, true, 256};
    ASSERT_EQ(launch(kernel, 2, 64, {x, y}), CUDA_SUCCESS);
    EXPECT_EQ(download<int>(y, 2), std::vector<int>(2, 64 * 0x01010101));
    expectNoFault();
  }
}

/// y[i] = sum of the warp's x, by shuffles.
void reduceWarp(void *const *arguments, apemu_thread *thread) {
  auto *x = argumentOf<const int *>(arguments, 0);
  auto *y = argumentOf<int *>(arguments, 1);
  uint32_t i = globalIndex(thread);
  auto sum = uint32_t(loadGlobal(thread, x + i, 0));
  for (uint32_t lane = 16; lane > 0; lane /= 2)
    sum +=
        apemu_shuffle(thread, ~0u, sum, lane, 31, APEMU_SHUFFLE_XOR, nullptr);
  storeGlobal(thread, y + i, int(sum), 1);
}

TEST_F(EmulatedKernels, ShufflesWithinWarps) {
  std::vector<int> values(128);
  for (int i = 0; i < 128; ++i)
    values[i] = i / 32;
  CUdeviceptr x = allocate(512), y = allocate(512);
  api.cuMemcpyHtoDAsync_v2(x, values.data(), 512, first);
  Kernel kernel{reduceWarp, {reads(512), writes(512)}};
  ASSERT_EQ(launch(kernel, 2, 64, {x, y}), CUDA_SUCCESS);
  std::vector<int> result = download<int>(y, 128);
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(result[i], 32 * (i / 32));
}

/// y[i] = 100 * in range + what the lane reads, of lanes that give their index.
void shuffleAll(void *const *arguments, apemu_thread *thread) {
  auto *y = argumentOf<int *>(arguments, 0);
  auto mode = int32_t(argumentOf<int64_t>(arguments, 1));
  auto clamp = uint32_t(argumentOf<int64_t>(arguments, 2));
  uint32_t i = thread->thread_index[0];
  int32_t valid = 0;
  uint32_t got = apemu_shuffle(thread, ~0u, i, 3, clamp, mode, &valid);
  storeGlobal(thread, y + i, int(100 * valid + got), 0);
}

TEST_F(EmulatedKernels, ShufflesAsPtxDefinesThem) {
  CUdeviceptr y = allocate(128);
  Kernel kernel{shuffleAll, {writes(128)}, true, 0, 2};
  auto results = [&](uint64_t mode, uint64_t clamp) {
    EXPECT_EQ(launch(kernel, 1, 32, {y, mode, clamp}), CUDA_SUCCESS);
    return download<int>(y, 32);
  };
  // Clamps of __shfl_up_sync, ... with widths 32 and 8.
  std::vector<int> up = results(APEMU_SHUFFLE_UP, 0);
  EXPECT_EQ(up[2], 2);
  EXPECT_EQ(up[3], 100);
  std::vector<int> down = results(APEMU_SHUFFLE_DOWN, 0x1f);
  EXPECT_EQ(down[28], 131);
  EXPECT_EQ(down[29], 29);
  std::vector<int> across = results(APEMU_SHUFFLE_XOR, 0x1f);
  EXPECT_EQ(across[8], 111);
  std::vector<int> index = results(APEMU_SHUFFLE_IDX, 0x1f);
  EXPECT_EQ(index[30], 103);
  std::vector<int> down8 = results(APEMU_SHUFFLE_DOWN, 0x181f);
  EXPECT_EQ(down8[4], 107);
  EXPECT_EQ(down8[5], 5);
  std::vector<int> index8 = results(APEMU_SHUFFLE_IDX, 0x181f);
  EXPECT_EQ(index8[30], 127);
  expectNoFault();
}

/// Lane pairs exchange through shared memory, ordered by the warp's barrier.
template <bool withBarrier>
void exchange(void *const *arguments, apemu_thread *thread) {
  auto *y = argumentOf<int *>(arguments, 0);
  uint32_t i = thread->thread_index[0];
  storeShared(thread, i, int(i));
  if (withBarrier)
    apemu_warp_barrier(thread, ~0u);
  storeGlobal(thread, y + i, loadShared<int>(thread, i ^ 1), 0);
}

TEST_F(EmulatedKernels, AWarpBarrierOrdersItsWarp) {
  CUdeviceptr y = allocate(256);
  Kernel kernel{exchange<true>, {writes(256)}, true, 256};
  ASSERT_EQ(launch(kernel, 1, 64, {y}), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(y, 64)[6], 7);
  expectNoFault();
}

TEST_F(EmulatedKernels, ReadsByAllThreadsAreNoRace) {
  CUdeviceptr y = allocateFilled(256, 1);
  auto entry = [](void *const *arguments, apemu_thread *thread) {
    auto *y = argumentOf<int *>(arguments, 0);
    int value = loadGlobal(thread, y, 0);
    uint32_t i = globalIndex(thread);
    if (i > 0)
      storeGlobal(thread, y + i, value, 0);
  };
  Kernel kernel{entry, {both(256)}, false};
  ASSERT_EQ(launch(kernel, 2, 32, {y}), CUDA_SUCCESS);
  expectNoFault();
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

TEST_F(EmulatedKernels, NamesAMissingBarrierInAReduction) {
  CUdeviceptr x = allocateFilled(4 * 64, 1), y = allocate(4);
  Kernel kernel{reduceBlock<false>, {reads(256), writes(4)}, true, 256};
  ASSERT_EQ(launch(kernel, 1, 64, {x, y}), CUDA_SUCCESS);
  // Either thread may come first: a race, or a read of what is not there yet.
  api.cuStreamSynchronize(first);
  EXPECT_TRUE(faultKind() == FaultKind::threadRace ||
              faultKind() == FaultKind::uninitialisedRead)
      << faultText();
  EXPECT_NE(faultText().find("kernel_0_test' thread "), std::string::npos);
  EXPECT_NE(faultText().find("of block 0"), std::string::npos);
}

TEST_F(EmulatedKernels, NamesAMissingBarrierOnGlobalMemory) {
  CUdeviceptr y = allocateFilled(256);
  auto entry = [](void *const *arguments, apemu_thread *thread) {
    auto *y = argumentOf<int *>(arguments, 0);
    uint32_t i = thread->thread_index[0];
    storeGlobal(thread, y + i, int(i), 0);
    loadGlobal(thread, y + (i ^ 32), 0);
  };
  Kernel kernel{entry, {both(256)}, false};
  setLabel("/norm");
  ASSERT_EQ(launch(kernel, 1, 64, {y}), CUDA_SUCCESS);
  expectFault(FaultKind::threadRace,
              {"kernel_0_test of /norm' thread ", "with no barrier between",
               "global memory", "parameter 0 + "});
}

TEST_F(EmulatedKernels, NamesAMissingWarpBarrier) {
  CUdeviceptr y = allocate(256);
  Kernel kernel{exchange<false>, {writes(256)}, true, 256};
  ASSERT_EQ(launch(kernel, 1, 64, {y}), CUDA_SUCCESS);
  api.cuStreamSynchronize(first);
  EXPECT_TRUE(faultKind() == FaultKind::threadRace ||
              faultKind() == FaultKind::uninitialisedRead)
      << faultText();
}

TEST_F(EmulatedKernels, NamesARaceBetweenBlocks) {
  CUdeviceptr y = allocateFilled(256);
  auto entry = [](void *const *arguments, apemu_thread *thread) {
    auto *y = argumentOf<int *>(arguments, 0);
    storeGlobal(thread, y + thread->thread_index[0], 1, 0);
  };
  Kernel kernel{entry, {writes(256)}, false};
  ASSERT_EQ(launch(kernel, 2, 32, {y}), CUDA_SUCCESS);
  expectFault(FaultKind::blockRace,
              {"of block 0", "of block 1", "writes 4 bytes of global memory"});
}

TEST_F(EmulatedKernels, NamesAWriteThatOthersOfTheWarpReadToo) {
  CUdeviceptr y = allocateFilled(256, 1);
  auto entry = [](void *const *arguments, apemu_thread *thread) {
    auto *y = argumentOf<int *>(arguments, 0);
    loadGlobal(thread, y, 0);
    apemu_shuffle(thread, ~0u, 0, 0, 31, APEMU_SHUFFLE_IDX, nullptr);
    loadGlobal(thread, y, 0);
    storeGlobal(thread, y, 2, 0);
  };
  ASSERT_EQ(launch({entry, {both(256)}}, 1, 32, {y}), CUDA_SUCCESS);
  expectFault(FaultKind::threadRace,
              {"that another thread of its warp reads", "parameter 0 + 0"});
}

TEST_F(EmulatedKernels, NamesARaceOfOneByteStores) {
  CUdeviceptr y = allocateFilled(256);
  auto entry = [](void *const *arguments, apemu_thread *thread) {
    auto *y = argumentOf<char *>(arguments, 0);
    uint32_t i = globalIndex(thread);
    storeGlobal(thread, y + i - (i == 17), char(1), 0);
  };
  Kernel kernel{entry, {writes(256)}, false};
  ASSERT_EQ(launch(kernel, 1, 32, {y}), CUDA_SUCCESS);
  expectFault(FaultKind::threadRace,
              {"thread 16", "thread 17", "parameter 0 + 16"});
}

TEST_F(EmulatedKernels, NamesARaceThroughTwoParameters) {
  CUdeviceptr a = allocateFilled(512);
  auto entry = [](void *const *arguments, apemu_thread *thread) {
    auto *x = argumentOf<const int *>(arguments, 0);
    auto *y = argumentOf<int *>(arguments, 1);
    uint32_t i = globalIndex(thread);
    storeGlobal(thread, y + i, loadGlobal(thread, x + i, 0), 1);
  };
  Kernel kernel{entry, {reads(256), writes(256)}, false};
  // y begins one element after x: element i + 1 is read and written.
  ASSERT_EQ(launch(kernel, 1, 64, {a, a + 4}), CUDA_SUCCESS);
  expectFault(FaultKind::threadRace, {"with no barrier between"});
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

TEST_F(EmulatedKernels, NamesAStoreOutOfBounds) {
  CUdeviceptr x = allocateFilled(256, 1), y = allocate(1024);
  Kernel kernel{addScalar, {reads(256), writes(252)}, false, 0, 1};
  ASSERT_EQ(launch(kernel, 2, 32, {x, y, 0}), CUDA_SUCCESS);
  expectFault(FaultKind::outOfBounds,
              {"kernel_0_test", "thread 31 of block 1", "writes 4 bytes",
               "parameter 1 + 252, which has 252"});
}

TEST_F(EmulatedKernels, NamesALoadBeforeItsParameter) {
  CUdeviceptr x = allocateFilled(256, 1);
  auto entry = [](void *const *arguments, apemu_thread *thread) {
    loadGlobal(thread, argumentOf<const int *>(arguments, 0) - 1, 0);
  };
  Kernel kernel{entry, {reads(256)}, false};
  ASSERT_EQ(launch(kernel, 1, 1, {x}), CUDA_SUCCESS);
  expectFault(FaultKind::outOfBounds, {"parameter 0 + -4"});
}

TEST_F(EmulatedKernels, NamesAnAccessThatWasNotAnnounced) {
  CUdeviceptr x = allocateFilled(256, 1);
  auto entry = [](void *const *arguments, apemu_thread *) {
    argumentOf<volatile int *>(arguments, 0)[1 << 20] = 1;
  };
  Kernel kernel{entry, {both(256)}};
  ASSERT_EQ(launch(kernel, 1, 4, {x}), CUDA_SUCCESS);
  expectFault(FaultKind::outOfBounds, {"kernel_0_test", "did not announce"});
}

TEST_F(EmulatedKernels, NamesAParameterThatIsTooLarge) {
  CUdeviceptr x = allocateFilled(256, 1), y = allocate(256);
  Kernel kernel{addScalar, {reads(512), writes(256)}, false, 0, 1};
  EXPECT_NE(launch(kernel, 2, 32, {x, y, 0}), CUDA_SUCCESS);
  expectFault(FaultKind::outOfBounds,
              {"kernel_0_test", "reads parameter 0", "512 bytes"});
}

TEST_F(EmulatedKernels, NamesAHostPointerArgument) {
  std::vector<int> host(64);
  CUdeviceptr y = allocate(256);
  Kernel kernel{addScalar, {reads(256), writes(256)}, false, 0, 1};
  EXPECT_NE(launch(kernel, 2, 32, {CUdeviceptr(host.data()), y, 0}),
            CUDA_SUCCESS);
  expectFault(FaultKind::hostPointer, {"kernel_0_test", "parameter 0"});
}

TEST_F(EmulatedKernels, NamesAWriteThroughAReadOnlyParameter) {
  CUdeviceptr x = allocateFilled(256, 1), y = allocateFilled(256);
  Kernel kernel{addScalar, {reads(256), reads(256)}, false, 0, 1};
  ASSERT_EQ(launch(kernel, 2, 32, {x, y, 0}), CUDA_SUCCESS);
  expectFault(FaultKind::writeOfReadOnly,
              {"kernel_0_test", "at parameter 1 + ", "read only"});
}

TEST_F(EmulatedKernels, NamesAnUninitialisedRead) {
  CUdeviceptr x = allocate(256), y = allocate(256);
  ASSERT_EQ(api.cuMemsetD8Async(x, 0, 128, first), CUDA_SUCCESS);
  Kernel kernel{addScalar, {reads(256), writes(256)}, false, 0, 1};
  ASSERT_EQ(launch(kernel, 1, 32, {x, y, 0}), CUDA_SUCCESS);
  ASSERT_EQ(launch(kernel, 1, 64, {x, y, 0}), CUDA_SUCCESS);
  expectFault(FaultKind::uninitialisedRead,
              {"kernel_0_test", "of block 0", "reads parameter 0 + "});
}

TEST_F(EmulatedKernels, WhatAKernelLeavesOutStaysUninitialised) {
  CUdeviceptr x = allocateFilled(256, 1), y = allocate(256);
  Kernel kernel{addScalar, {reads(256), writes(256)}, false, 0, 1};
  ASSERT_EQ(launch(kernel, 1, 32, {x, y, 0}), CUDA_SUCCESS);
  ASSERT_EQ(api.cuStreamSynchronize(first), CUDA_SUCCESS);
  EXPECT_TRUE(isInitialised(y, 128));
  EXPECT_FALSE(isInitialised(y + 128, 1));
}

TEST_F(EmulatedKernels, NamesUninitialisedSharedMemory) {
  auto entry = [](void *const *, apemu_thread *thread) {
    if (thread->block_index[0] == 0)
      storeShared(thread, thread->thread_index[0], 1);
    apemu_barrier(thread);
    loadShared<int>(thread, thread->thread_index[0]);
  };
  // The other block's shared memory is not this one's.
  ASSERT_EQ(launch({entry, {}, true, 128}, 2, 32, {}), CUDA_SUCCESS);
  expectFault(FaultKind::uninitialisedRead, {"of block 1", "of shared memory"});
}

TEST_F(EmulatedKernels, NamesSharedMemoryOutOfBounds) {
  auto entry = [](void *const *, apemu_thread *thread) {
    storeShared(thread, thread->thread_index[0], 1);
  };
  ASSERT_EQ(launch({entry, {}, true, 124}, 1, 32, {}), CUDA_SUCCESS);
  expectFault(FaultKind::outOfBounds,
              {"thread 31 of block 0", "byte 124", "shared memory"});
}

TEST_F(EmulatedKernels, NamesAMisalignedAccess) {
  CUdeviceptr x = allocateFilled(256, 1);
  auto entry = [](void *const *arguments, apemu_thread *thread) {
    apemu_global(thread, argumentOf<const int *>(arguments, 0) + 1, 16,
                 APEMU_READ, 0);
  };
  Kernel kernel{entry, {reads(256)}, false};
  ASSERT_EQ(launch(kernel, 1, 1, {x}), CUDA_SUCCESS);
  expectFault(FaultKind::misaligned, {"reads 16 bytes", "parameter 0 + 4"});
}

//===----------------------------------------------------------------------===//
// Barriers and warps
//===----------------------------------------------------------------------===//

TEST_F(EmulatedKernels, NamesABarrierThatSomeThreadsSkip) {
  auto entry = [](void *const *, apemu_thread *thread) {
    if (thread->thread_index[0] < 16)
      apemu_barrier(thread);
  };
  ASSERT_EQ(launch({entry, {}}, 1, 32, {}), CUDA_SUCCESS);
  expectFault(FaultKind::divergentBarrier,
              {"thread 0 of block 0", "15 more wait", "thread 16",
               "15 more have returned"});
}

TEST_F(EmulatedKernels, NamesThreadsAtDifferentBarriers) {
  auto entry = [](void *const *, apemu_thread *thread) {
    // The comments keep the calls apart: compilers join what branches share.
    if (thread->thread_index[0] == 3) {
      asm volatile("# one");
      apemu_barrier(thread);
      asm volatile("# one");
    } else {
      asm volatile("# another");
      apemu_barrier(thread);
      asm volatile("# another");
    }
  };
  ASSERT_EQ(launch({entry, {}}, 1, 32, {}), CUDA_SUCCESS);
  expectFault(FaultKind::divergentBarrier,
              {"thread 3 of block 0", "another barrier"});
}

TEST_F(EmulatedKernels, NamesALaneThatIsNotInItsMask) {
  auto entry = [](void *const *, apemu_thread *thread) {
    apemu_warp_barrier(thread, 0xff);
  };
  ASSERT_EQ(launch({entry, {}}, 1, 32, {}), CUDA_SUCCESS);
  expectFault(FaultKind::warpMask, {"not in the mask 0x000000ff"});
}

TEST_F(EmulatedKernels, NamesALaneThatDoesNotCome) {
  auto entry = [](void *const *, apemu_thread *thread) {
    if (thread->thread_index[0] != 7)
      apemu_shuffle(thread, ~0u, 1, 0, 31, APEMU_SHUFFLE_IDX, nullptr);
  };
  ASSERT_EQ(launch({entry, {}}, 1, 32, {}), CUDA_SUCCESS);
  expectFault(FaultKind::warpMask, {"thread 7 has returned", "0xffffffff"});
}

TEST_F(EmulatedKernels, NamesALaneThatDoesNotExist) {
  auto entry = [](void *const *, apemu_thread *thread) {
    apemu_shuffle(thread, ~0u, 1, 0, 31, APEMU_SHUFFLE_IDX, nullptr);
  };
  ASSERT_EQ(launch({entry, {}}, 1, 16, {}), CUDA_SUCCESS);
  expectFault(FaultKind::warpMask, {"thread 16 does not exist"});
}

TEST_F(EmulatedKernels, NamesMasksThatDiffer) {
  auto entry = [](void *const *, apemu_thread *thread) {
    uint32_t mask = thread->thread_index[0] == 0 ? 0x3 : ~0u;
    apemu_warp_barrier(thread, mask);
  };
  ASSERT_EQ(launch({entry, {}}, 1, 32, {}), CUDA_SUCCESS);
  expectFault(FaultKind::warpMask, {"mask 0x"});
}

TEST_F(EmulatedKernels, NamesAShuffleFromAnInactiveLane) {
  auto entry = [](void *const *, apemu_thread *thread) {
    if (thread->thread_index[0] < 16)
      apemu_shuffle(thread, 0xffff, 1, 16, 31, APEMU_SHUFFLE_XOR, nullptr);
  };
  ASSERT_EQ(launch({entry, {}}, 1, 32, {}), CUDA_SUCCESS);
  expectFault(FaultKind::inactiveLane, {"lane 16", "0x0000ffff"});
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_F(EmulatedKernels, RefusesLaunchesOutOfLimits) {
  Kernel kernel{[](void *const *, apemu_thread *) {}, {}, false, 1024};
  auto refused = [&](CUresult code, const char *word) {
    EXPECT_EQ(code, CUDA_ERROR_INVALID_VALUE);
    std::string text = api.check(code, "cuLaunchKernel").message();
    EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_NE(text.find("kernel_0_test"), std::string::npos) << text;
  };
  refused(launch(kernel, 1, 1025, {}), "1025 threads");
  refused(launch(kernel, 0, 32, {}), "empty grid");
  refused(launch(kernel, 1, 32, {}, nullptr, 48 * 1024), "shared memory");
  EXPECT_EQ(launch(kernel, 1, 32, {}, nullptr, 47 * 1024), CUDA_SUCCESS);
  kernel.scalars = 513;
  refused(launch(kernel, 1, 32, std::vector<uint64_t>(513)), "arguments");
  expectNoFault();
}

TEST_F(EmulatedKernels, RefusesWhatIsNoModule) {
  uint64_t fatbin[4] = {0xba55ed50};
  CUmodule module;
  EXPECT_EQ(api.cuModuleLoadData(&module, fatbin), CUDA_ERROR_INVALID_IMAGE);
  expectNoFault();
}

__attribute__((noinline)) int deepen(volatile int *depth) {
  volatile int frame[64] = {*depth};
  *depth = *depth + 1;
  return *depth < (1 << 20) ? deepen(depth) + frame[0] : frame[0];
}

TEST_F(EmulatedKernels, NamesAStackThatIsTooSmall) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer stops at the guard page itself";
#endif
  auto entry = [](void *const *, apemu_thread *) {
    volatile int depth = 0;
    deepen(&depth);
  };
  ASSERT_EQ(launch({entry, {}}, 1, 4, {}), CUDA_SUCCESS);
  expectFault(FaultKind::stackOverflow, {"kernel_0_test", "local memory"});
}

/// A sanitizer marks what is around a frame's arrays until the frame ends; that
/// of a thread that waits when its kernel fails never does. (The array itself
/// may lie apart from the stack, where a sanitizer watches frames that ended.)
TEST_F(EmulatedKernels, LeavesNoMarksOfFramesBehind) {
  constexpr size_t page = 4096;
  static volatile char *local;
  auto entry = [](void *const *, apemu_thread *thread) {
    volatile char frame[512] = {};
    if (thread->thread_index[0] == 0) {
      frame[0] = 1;
      local = static_cast<char *>(__builtin_frame_address(0));
      apemu_barrier(thread);
    }
  };
  ASSERT_EQ(launch({entry, {}}, 1, 2, {}), CUDA_SUCCESS);
  expectFault(FaultKind::divergentBarrier, {"thread 0 of block 0"});
  restart(Options()); // gives the stacks back
  void *place = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(local) /
                                         page * page);
  void *next = mmap(place, page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(next, place);
  std::memset(next, 1, page);
  munmap(next, page);
}

TEST_F(EmulatedKernels, NamesADivisionByZero) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer stops at the division itself";
#endif
  auto entry = [](void *const *, apemu_thread *thread) {
    volatile uint32_t zero = 0;
    zero = thread->block_size[0] / zero;
  };
  ASSERT_EQ(launch({entry, {}, false}, 1, 4, {}), CUDA_SUCCESS);
  expectFault(FaultKind::division, {"kernel_0_test", "divides"});
}

} // namespace
} // namespace autopar::runtime::emulated
