//===- EmulatedGpu.h - A context on the emulated GPU ------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_EMULATEDGPU_H
#define AUTOPAR_TEST_RUNTIME_EMULATEDGPU_H

#include "core/DataType.h"
#include "cuda/CudaContext.h"
#include "emulated/EmulatedDevice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace autopar::runtime {

/// A fresh GPU with one context of two streams.
struct EmulatedGpu {
  explicit EmulatedGpu(uint64_t seed = 0, bool tf32 = false,
                       const std::string &planCache = "") {
    emulated::Options options;
    options.seed = seed;
    emulated::restart(options);
    emulated::bindEmulated(driver);
    manifest.streams = 2;
    CudaOptions chosen;
    chosen.tf32 = tf32;
    chosen.planCache = planCache;
    Status status =
        CudaContext::create(driver, manifest, chosen, memory, context);
    EXPECT_EQ(status.message(), "");
  }

  /// Device memory with the host's values, `offset` bytes after where an
  /// allocation begins.
  template <typename T>
  T *upload(const std::vector<T> &values, int64_t offset = 0) {
    void *made = nullptr;
    int64_t bytes = int64_t(values.size() * sizeof(T));
    EXPECT_TRUE(
        context->allocate(bytes + offset, "a test", memory.arena, made).ok());
    char *at = static_cast<char *>(made) + offset;
    if (bytes) {
      EXPECT_EQ(driver.cuMemcpyHtoDAsync_v2(deviceAddress(at), values.data(),
                                            size_t(bytes), nullptr),
                CUDA_SUCCESS);
    }
    EXPECT_EQ(driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    return reinterpret_cast<T *>(at);
  }
  template <typename T> void download(const T *from, std::vector<T> &values) {
    Status status = context->waitForAll();
    ASSERT_TRUE(status.ok()) << status.message();
    if (values.empty())
      return;
    ASSERT_EQ(driver.cuMemcpyDtoHAsync_v2(values.data(), deviceAddress(from),
                                          values.size() * sizeof(T), nullptr),
              CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  }

  DriverApi driver;
  Manifest manifest;
  RankMemory memory;
  std::unique_ptr<CudaContext> context;
};

/// The aprt_dtype whose elements are T.
template <typename T> int64_t dtypeOf() {
  int64_t result = -1;
  for (int64_t dtype = APRT_I8; dtype <= APRT_F64; ++dtype)
    visitDtype(dtype, [&](auto example) {
      if (std::is_same_v<decltype(example), T>)
        result = dtype;
    });
  return result;
}

/// Values rounded to elements of T; to whole numbers first, so that all sums
/// are exact, if `whole`.
template <typename T>
std::vector<T> inType(const std::vector<float> &values, bool whole) {
  using E = Element<T>;
  std::vector<T> result;
  for (float value : values)
    result.push_back(
        E::store(typename E::Compute(whole ? std::floor(value * 3) : value)));
  return result;
}

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_EMULATEDGPU_H
