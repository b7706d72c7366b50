//===- MeasureGpu.cpp - What a GPU can do ---------------------------------===//

#include "../core/DataType.h"
#include "../cuda/CudaContext.h"
#include "../cuda/CudaGemm.h"
#include "../cuda/CudnnApi.h"
#include "../cuda/NcclApi.h"
#include "../emulated/EmulatedCublasLt.h"
#include "../emulated/EmulatedDevice.h"
#include "Measurement.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace autopar::runtime {

namespace {

/// What is measured, smaller where the host plays the GPU.
struct Sizes {
  int64_t side = 8192;
  int64_t bytes = int64_t(1) << 30;
  int launches = 10000;
  double seconds = 0.2;
};

class Gpu {
public:
  explicit Gpu(bool emulated) : emulated(emulated) {
    if (emulated)
      sizes = {64, 1 << 16, 10, 0.001};
  }

  Status open(bool &found);
  Status measure(Measurement &result);

private:
  Status openContext(bool tf32);
  Status countDevices(int &count);
  Status flopsOf(aprt_dtype dtype, bool tf32, double &result);
  Status copyRate(double &bytesPerSecond);
  Status launchCost(double &seconds);
  Status secondsOfLaunch(const std::function<Status()> &launch,
                         double &seconds);
  Status findVersions(Measurement &result);

  const bool emulated;
  Sizes sizes;
  DriverApi driver;
  CublasLtApi cublasLt;
  Manifest manifest;
  RankMemory memory;
  std::unique_ptr<CudaContext> context;
};

/// A million numbers of [-1, 1), the same in every run.
std::vector<char> randomNumbers(aprt_dtype dtype) {
  constexpr size_t count = 1000003; // no power of two: rows differ
  std::vector<char> bytes(count * size_t(elementBytes(dtype)));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1, 1);
  visitDtype(dtype, [&](auto example) {
    using T = decltype(example);
    for (size_t i = 0; i < count; ++i) {
      T value = Element<T>::store(typename Element<T>::Compute(values(random)));
      std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
    }
  });
  return bytes;
}

/// A device's memory that goes with the scope.
struct DeviceBlock {
  CudaContext &context;
  void *address = nullptr;
  explicit DeviceBlock(CudaContext &context) : context(context) {}
  ~DeviceBlock() { (void)context.release(address); }
  Status allocate(int64_t bytes) {
    APRT_TRY(context.allocate(bytes, "a measurement", context.memory.workspace,
                              address));
    return fill(APRT_F32, bytes);
  }
  Status clear(int64_t bytes) {
    const DriverApi &driver = context.driver;
    APRT_CUDA(driver, cuMemsetD8Async, deviceAddress(address), 0, size_t(bytes),
              context.stream(0));
    return Status::success();
  }
  /// Random numbers of a type: zeros take less power, and are faster by it.
  Status fill(aprt_dtype dtype, int64_t bytes) {
    const DriverApi &driver = context.driver;
    std::vector<char> values = randomNumbers(dtype);
    int64_t block = int64_t(values.size());
    for (int64_t at = 0; at < bytes; at += block)
      APRT_CUDA(driver, cuMemcpyHtoDAsync_v2,
                deviceAddress(address) + CUdeviceptr(at), values.data(),
                size_t(std::min(block, bytes - at)), context.stream(0));
    return context.waitForAll();
  }
};

Status Gpu::countDevices(int &count) {
  count = 0;
  if (driver.cuInit(0) != CUDA_SUCCESS)
    return Status::success();
  APRT_CUDA(driver, cuDeviceGetCount, &count);
  return Status::success();
}

Status Gpu::open(bool &found) {
  found = false;
  if (emulated) {
    emulated::bindEmulated(driver);
    emulated::bindEmulated(cublasLt);
  } else if (driver.load().failed()) {
    return Status::success();
  }
  int count = 0;
  APRT_TRY(countDevices(count));
  found = count > 0;
  if (!found || emulated)
    return Status::success();
  int version = 0;
  APRT_CUDA(driver, cuDriverGetVersion, &version);
  return cublasLt.load(version);
}

Status Gpu::openContext(bool tf32) {
  context.reset();
  manifest.target = emulated ? Target::Emulated : Target::Cuda;
  CudaOptions options;
  options.tf32 = tf32;
  return CudaContext::create(driver, manifest, options, memory, context);
}

Status Gpu::flopsOf(aprt_dtype dtype, bool tf32, double &result) {
  APRT_TRY(openContext(tf32));
  int64_t side = sizes.side, bytes = side * side * 4;
  DeviceBlock a(*context), b(*context), c(*context);
  for (DeviceBlock *block : {&a, &b, &c})
    APRT_TRY(block->allocate(bytes));
  for (DeviceBlock *block : {&a, &b})
    APRT_TRY(block->fill(dtype, bytes));
  CudaGemm gemms(cublasLt, *context, /*slots=*/0);
  aprt_gemm_desc desc = squareGemm(dtype, side);
  GemmOperands operands{a.address, b.address, nullptr, nullptr, c.address};
  constexpr int kTogether = 4; // so that the host keeps ahead
  double seconds = 0;
  APRT_TRY(secondsOfCall(
      sizes.seconds,
      [&]() -> Status {
        for (int i = 0; i < kTogether; ++i)
          APRT_TRY(gemms.run(desc, operands));
        return context->waitForAll();
      },
      seconds));
  result =
      kTogether * 2.0 * double(side) * double(side) * double(side) / seconds;
  return Status::success();
}

Status Gpu::copyRate(double &bytesPerSecond) {
  APRT_TRY(openContext(false));
  DeviceBlock from(*context), to(*context);
  APRT_TRY(from.allocate(sizes.bytes));
  APRT_TRY(to.allocate(sizes.bytes));
  constexpr int kTogether = 4;
  double seconds = 0;
  APRT_TRY(secondsOfCall(
      sizes.seconds,
      [&]() -> Status {
        for (int i = 0; i < kTogether; ++i)
          APRT_CUDA(driver, cuMemcpyDtoDAsync_v2, deviceAddress(to.address),
                    deviceAddress(from.address), size_t(sizes.bytes),
                    context->stream(0));
        return context->waitForAll();
      },
      seconds));
  bytesPerSecond = kTogether * 2.0 * double(sizes.bytes) / seconds;
  return Status::success();
}

/// Of one more kernel on a stream that is busy.
Status Gpu::launchCost(double &seconds) {
  if (emulated) { // it runs no PTX, and its speed says nothing
    DeviceBlock block(*context);
    APRT_TRY(block.allocate(256));
    return secondsOfLaunch([&] { return block.clear(256); }, seconds);
  }
  static const char kernel[] = ".version 7.0\n.target sm_80\n"
                               ".address_size 64\n"
                               ".visible .entry nothing()\n{\n  ret;\n}\n";
  CUmodule module = nullptr;
  CUfunction nothing = nullptr;
  APRT_CUDA(driver, cuModuleLoadData, &module, kernel);
  APRT_CUDA(driver, cuModuleGetFunction, &nothing, module, "nothing");
  APRT_TRY(secondsOfLaunch(
      [&]() -> Status {
        APRT_CUDA(driver, cuLaunchKernel, nothing, 1, 1, 1, 32, 1, 1, 0,
                  context->stream(0), nullptr, nullptr);
        return Status::success();
      },
      seconds));
  APRT_CUDA(driver, cuModuleUnload, module);
  return Status::success();
}

Status Gpu::secondsOfLaunch(const std::function<Status()> &launch,
                            double &seconds) {
  APRT_TRY(secondsOfCall(
      sizes.seconds,
      [&]() -> Status {
        for (int i = 0; i < sizes.launches; ++i)
          APRT_TRY(launch());
        return context->waitForAll();
      },
      seconds));
  seconds /= sizes.launches;
  return Status::success();
}

/// Of the libraries that are there.
Status Gpu::findVersions(Measurement &result) {
  int version = 0;
  APRT_CUDA(driver, cuDriverGetVersion, &version);
  result.versions.push_back(
      {"driver, CUDA", std::to_string(version / 1000) + "." +
                           std::to_string(version % 1000 / 10)});
  result.versions.push_back(
      {"cuBLASLt", cublasLtVersionText(cublasLt.cublasLtGetVersion())});
  if (emulated)
    return Status::success();
  CudnnApi cudnn;
  if (!cudnn.load(version).failed())
    result.versions.push_back(
        {"cuDNN", cudnnVersionText(cudnn.cudnnGetVersion())});
  NcclApi nccl;
  if (!nccl.load().failed() && nccl.ncclGetVersion(&version) == ncclSuccess)
    result.versions.push_back({"NCCL", ncclVersionText(version)});
  return Status::success();
}

Status Gpu::measure(Measurement &result) {
  result.kind = "gpu";
  result.emulated = emulated;
  APRT_TRY(flopsOf(APRT_F32, false, result.fp32Flops));
  APRT_TRY(flopsOf(APRT_F32, true, result.tf32Flops));
  APRT_TRY(flopsOf(APRT_F16, false, result.fp16Flops));
  APRT_TRY(flopsOf(APRT_BF16, false, result.bf16Flops));
  APRT_TRY(copyRate(result.bytesPerSecond));
  APRT_TRY(launchCost(result.launchSeconds));
  result.device = context->description();
  int count = 0;
  APRT_TRY(countDevices(count));
  result.count = count;
  size_t free = 0, total = 0;
  APRT_CUDA(driver, cuMemGetInfo_v2, &free, &total);
  result.memoryBytes = int64_t(total);
  return findVersions(result);
}

} // namespace

Status measureGpu(bool emulated, bool &found, Measurement &result) {
  Gpu gpu(emulated);
  APRT_TRY(gpu.open(found));
  return found ? gpu.measure(result) : Status::success();
}

} // namespace autopar::runtime
