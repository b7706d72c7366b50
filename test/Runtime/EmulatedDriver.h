//===- EmulatedDriver.h - A fixture with the emulated driver ----*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_EMULATEDDRIVER_H
#define AUTOPAR_TEST_RUNTIME_EMULATEDDRIVER_H

#include "autopar/emulated.h"
#include "emulated/EmulatedDevice.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace autopar::runtime::emulated {

/// A fresh device for each test, its driver's table, and two streams.
class EmulatedDriver : public ::testing::Test {
protected:
  void SetUp() override { begin(1); }
  void TearDown() override { restart(Options()); }

  void begin(uint64_t seed) {
    Options options;
    options.seed = seed;
    begin(options);
  }
  void begin(const Options &options) {
    restart(options);
    bindEmulated(api);
    CUcontext context;
    ASSERT_EQ(api.cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(api.cuCtxSetCurrent(context), CUDA_SUCCESS);
    for (CUstream *stream : {&first, &second})
      ASSERT_EQ(
          api.cuStreamCreateWithPriority(stream, CU_STREAM_NON_BLOCKING, 0),
          CUDA_SUCCESS);
  }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(api.cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
    return address;
  }
  /// Allocated, filled with `byte`, and waited for.
  CUdeviceptr allocateFilled(size_t bytes, unsigned char byte = 0) {
    CUdeviceptr address = allocate(bytes);
    EXPECT_EQ(api.cuMemsetD8Async(address, byte, bytes, first), CUDA_SUCCESS);
    EXPECT_EQ(api.cuStreamSynchronize(first), CUDA_SUCCESS);
    return address;
  }
  template <typename T> T *allocatePinned(size_t count) {
    void *memory = nullptr;
    EXPECT_EQ(api.cuMemHostAlloc(&memory, count * sizeof(T), 0), CUDA_SUCCESS);
    return static_cast<T *>(memory);
  }
  CUevent makeEvent() {
    CUevent event = nullptr;
    EXPECT_EQ(api.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    return event;
  }
  /// `to` waits for all that `from` has now.
  void order(CUstream from, CUstream to) {
    CUevent event = makeEvent();
    EXPECT_EQ(api.cuEventRecord(event, from), CUDA_SUCCESS);
    EXPECT_EQ(api.cuStreamWaitEvent(to, event, 0), CUDA_SUCCESS);
  }
  /// The contents of device memory, after `first`.
  template <typename T>
  std::vector<T> download(CUdeviceptr from, size_t count) {
    std::vector<T> result(count);
    EXPECT_EQ(
        api.cuMemcpyDtoHAsync_v2(result.data(), from, count * sizeof(T), first),
        CUDA_SUCCESS)
        << faultText();
    return result;
  }

  /// Runs all that is enqueued; the fault must be of this kind, and its text,
  /// that of the failing call's Status, must name all of `words`.
  void expectFault(FaultKind kind, std::vector<std::string> words) {
    api.cuStreamSynchronize(first);
    CUresult code = api.cuStreamSynchronize(second);
    EXPECT_STREQ(faultWords(faultKind()), faultWords(kind)) << faultText();
    Status status = api.check(code, "cuStreamSynchronize");
    EXPECT_TRUE(status.failed());
    words.push_back(faultWords(kind));
    for (const std::string &word : words)
      EXPECT_NE(status.message().find(word), std::string::npos)
          << "no '" << word << "' in: " << status.message();
  }
  void expectNoFault() {
    EXPECT_EQ(api.cuStreamSynchronize(first), CUDA_SUCCESS) << faultText();
    EXPECT_EQ(api.cuStreamSynchronize(second), CUDA_SUCCESS) << faultText();
    EXPECT_EQ(faultKind(), FaultKind::none) << faultText();
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  struct Kernel {
    void (*entry)(void *const *, apemu_thread *) = nullptr;
    std::vector<apemu_parameter> parameters;
    bool synchronises = true;
    int64_t sharedBytes = 0;
    int64_t scalars = 0;
  };

  /// Loads a module with that kernel, named "kernel_0_test", and launches it.
  CUresult launch(const Kernel &kernel, unsigned blocks, unsigned threads,
                  std::vector<uint64_t> arguments, CUstream stream = nullptr,
                  unsigned dynamicShared = 0) {
    auto code = std::make_shared<Code>();
    code->parameters = kernel.parameters;
    code->row = {"kernel_0_test",
                 kernel.entry,
                 kernel.synchronises,
                 kernel.sharedBytes,
                 int64_t(kernel.parameters.size()),
                 kernel.scalars,
                 code->parameters.data()};
    code->module = {APEMU_MAGIC, 1, &code->row};
    loaded.push_back(code);
    CUmodule module;
    CUfunction function;
    EXPECT_EQ(api.cuModuleLoadData(&module, &code->module), CUDA_SUCCESS);
    EXPECT_EQ(api.cuModuleGetFunction(&function, module, "kernel_0_test"),
              CUDA_SUCCESS);
    std::vector<void *> pointers;
    for (uint64_t &argument : arguments)
      pointers.push_back(&argument);
    return api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1,
                              dynamicShared, stream ? stream : first,
                              pointers.data(), nullptr);
  }

  DriverApi api;
  CUstream first = nullptr, second = nullptr;

private:
  struct Code {
    std::vector<apemu_parameter> parameters;
    apemu_kernel row;
    apemu_module module;
  };
  std::vector<std::shared_ptr<Code>> loaded; // outlives the launches
};

//===----------------------------------------------------------------------===//
// For the kernels of tests, as generated code has them
//===----------------------------------------------------------------------===//

template <typename T> T argumentOf(void *const *arguments, int index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

inline uint32_t globalIndex(const apemu_thread *thread) {
  return thread->block_index[0] * thread->block_size[0] +
         thread->thread_index[0];
}

template <typename T>
T loadGlobal(apemu_thread *thread, const T *address, int parameter) {
  apemu_global(thread, address, sizeof(T), APEMU_READ, parameter);
  return *address;
}

template <typename T>
void storeGlobal(apemu_thread *thread, T *address, T value, int parameter) {
  apemu_global(thread, address, sizeof(T), APEMU_WRITE, parameter);
  *address = value;
}

template <typename T> T loadShared(apemu_thread *thread, int64_t index) {
  T *address = reinterpret_cast<T *>(thread->shared) + index;
  apemu_shared(thread, address, sizeof(T), APEMU_READ);
  return *address;
}

template <typename T>
void storeShared(apemu_thread *thread, int64_t index, T value) {
  T *address = reinterpret_cast<T *>(thread->shared) + index;
  apemu_shared(thread, address, sizeof(T), APEMU_WRITE);
  *address = value;
}

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_TEST_RUNTIME_EMULATEDDRIVER_H
