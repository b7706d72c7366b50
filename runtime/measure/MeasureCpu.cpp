//===- MeasureCpu.cpp - What the cores of this host can do ----------------===//

#include "../cpu/CpuDevice.h"
#include "Measurement.h"

#include <fstream>
#include <functional>
#include <thread>
#include <unistd.h>

namespace autopar::runtime {

namespace {

constexpr int64_t kSide = 768;            // of the matrices
constexpr int64_t kElements = 16'000'000; // of each array, larger than caches
constexpr double kSeconds = 0.2;          // of each run

/// One rank with one core.
struct Core {
  RankMemory memory;
  std::unique_ptr<CpuDevice> device;
  double fp32 = 0, bf16 = 0, fp16 = 0, bytes = 0, launch = 0;

  Status measure();
  Status flopsOf(aprt_dtype dtype, double &result);
};

Status Core::flopsOf(aprt_dtype dtype, double &result) {
  std::vector<float> a(kSide * kSide), b(kSide * kSide), c(kSide * kSide);
  aprt_gemm_desc desc = squareGemm(dtype, kSide);
  GemmOperands operands{a.data(), b.data(), nullptr, nullptr, c.data()};
  double seconds = 0;
  APRT_TRY(secondsOfCall(
      kSeconds, [&] { return device->gemm(desc, operands); }, seconds));
  result = 2.0 * kSide * kSide * kSide / seconds;
  return Status::success();
}

/// c = a + b.
void add(void *const *buffers, const int64_t *, int64_t begin, int64_t end) {
  auto *a = static_cast<const float *>(buffers[0]);
  auto *b = static_cast<const float *>(buffers[1]);
  auto *c = static_cast<float *>(buffers[2]);
  for (int64_t i = begin; i < end; ++i)
    c[i] = a[i] + b[i];
}

void nothing(void *const *, const int64_t *, int64_t, int64_t) {}

Status Core::measure() {
  CpuOptions options;
  options.oneDnn = true;
  APRT_TRY(CpuDevice::create(options, memory, device));
  APRT_TRY(flopsOf(APRT_F32, fp32));
  APRT_TRY(flopsOf(APRT_BF16, bf16));
  APRT_TRY(flopsOf(APRT_F16, fp16));
  std::vector<float> a(kElements, 1), b(kElements, 2), c(kElements);
  void *buffers[] = {a.data(), b.data(), c.data()};
  double seconds = 0;
  APRT_TRY(secondsOfCall(
      kSeconds,
      [&] { return device->launch(add, buffers, nullptr, kElements, 1024); },
      seconds));
  bytes = 3.0 * sizeof(float) * kElements / seconds;
  return secondsOfCall(
      kSeconds / 10,
      [&] { return device->launch(nothing, buffers, nullptr, 1, 1); }, launch);
}

std::string modelName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.compare(0, 10, "model name") == 0)
      return line.substr(line.find(':') + 2);
  return "CPU";
}

} // namespace

Status measureCpu(Measurement &result) {
  auto count = size_t(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Core> cores(count);
  std::vector<Status> statuses(count, Status::success());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] { statuses[i] = cores[i].measure(); });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    APRT_TRY(status);
  result.kind = "cpu";
  result.device = modelName();
  result.count = int64_t(count);
  for (const Core &core : cores) {
    auto share = 1.0 / double(count);
    result.fp32Flops += core.fp32 * share;
    result.bf16Flops += core.bf16 * share;
    result.fp16Flops += core.fp16 * share;
    result.bytesPerSecond += core.bytes * share;
    result.launchSeconds += core.launch * share;
  }
  result.tf32Flops = result.fp32Flops;
  result.memoryBytes = int64_t(sysconf(_SC_PHYS_PAGES)) *
                       sysconf(_SC_PAGE_SIZE) / int64_t(count);
  return Status::success();
}

} // namespace autopar::runtime
