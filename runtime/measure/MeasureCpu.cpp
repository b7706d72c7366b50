//===- MeasureCpu.cpp - What the cores of this host can do ----------------===//

#include "../cpu/CpuDevice.h"
#include "Measurement.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <thread>
#include <unistd.h>

namespace autopar::runtime {

namespace {

constexpr int64_t kSide = 768;                      // of the matrices
constexpr int64_t kWeights = 4, kWeightSide = 2048; // more than caches hold
constexpr int64_t kFewRows[] = {16, 32};
constexpr int64_t kElements = 16'000'000; // of each array, larger than caches
constexpr double kSeconds = 0.07;         // of each run
/// All is measured again and again and the best counts, for hosts have bad
/// seconds: others that work, virtual cores that share a core. Of exchanges the
/// middle one does: how near virtual cores are changes, too.
constexpr int kRounds = 5;

/// The least of what was measured, and the most.
struct Seconds {
  double least = 1e300, most = 0;

  Status measure(const std::function<Status()> &call) {
    double seconds = 0;
    APRT_TRY(secondsOfCall(kSeconds, call, seconds));
    least = std::min(least, seconds);
    most = std::max(most, seconds);
    return Status::success();
  }
};

/// One rank with one core.
struct Core {
  RankMemory memory;
  std::unique_ptr<CpuDevice> device;
  Seconds fp32, bf16, fp16, add, launch, fewRows[std::size(kFewRows)];

  Status create();
  Status measureGemms();
  Status measureBytes();
  Status measureFewRows();
  Status measureLaunch();

  static double flopsPerSecond(const Seconds &gemm) {
    return 2.0 * kSide * kSide * kSide / gemm.least;
  }
  double bytesPerSecond() const {
    return 3.0 * sizeof(float) * kElements / add.least;
  }
  double overlap() const;

private:
  Status measureGemm(aprt_dtype dtype, int64_t rows, int64_t side,
                     int64_t weights, Seconds &result);
};

Status Core::create() {
  CpuOptions options;
  options.oneDnn = true;
  options.packedSlots = kWeights;
  return CpuDevice::create(options, memory, device);
}

/// Of activations with square weights, packed as programs have them; calls take
/// turns with the weights.
Status Core::measureGemm(aprt_dtype dtype, int64_t rows, int64_t side,
                         int64_t weights, Seconds &result) {
  std::vector<float> a(rows * side), b(side * side), c(rows * side);
  aprt_gemm_desc desc = squareGemm(dtype, side);
  desc.m = rows;
  for (desc.slot = 0; desc.slot < weights; ++desc.slot)
    APRT_TRY(device->packGemm(desc, b.data()));
  int64_t call = 0;
  GemmOperands operands{a.data(), nullptr, nullptr, nullptr, c.data()};
  return result.measure([&] {
    desc.slot = call++ % weights;
    return device->gemm(desc, operands);
  });
}

Status Core::measureGemms() {
  APRT_TRY(measureGemm(APRT_F32, kSide, kSide, 1, fp32));
  APRT_TRY(measureGemm(APRT_BF16, kSide, kSide, 1, bf16));
  return measureGemm(APRT_F16, kSide, kSide, 1, fp16);
}

/// c = a + b.
void addArrays(void *const *buffers, const int64_t *, int64_t begin,
               int64_t end) {
  auto *a = static_cast<const float *>(buffers[0]);
  auto *b = static_cast<const float *>(buffers[1]);
  auto *c = static_cast<float *>(buffers[2]);
  for (int64_t i = begin; i < end; ++i)
    c[i] = a[i] + b[i];
}

void nothing(void *const *, const int64_t *, int64_t, int64_t) {}

Status Core::measureBytes() {
  std::vector<float> a(kElements, 1), b(kElements, 2), c(kElements);
  void *buffers[] = {a.data(), b.data(), c.data()};
  return add.measure([&] {
    return device->launch(addArrays, buffers, nullptr, kElements, 1024);
  });
}

/// GEMMs that take about as long to compute as to read their weights.
Status Core::measureFewRows() {
  for (size_t i = 0; i < std::size(kFewRows); ++i)
    APRT_TRY(
        measureGemm(APRT_F32, kFewRows[i], kWeightSide, kWeights, fewRows[i]));
  return Status::success();
}

double Core::overlap() const {
  double shorter = 0, exposed = 0;
  for (size_t i = 0; i < std::size(kFewRows); ++i) {
    double rows = double(kFewRows[i]), side = double(kWeightSide);
    double compute = 2 * rows * side * side / flopsPerSecond(fp32);
    double moved = sizeof(float) * (side * side + 2 * rows * side);
    double memory = moved / bytesPerSecond();
    shorter += std::min(compute, memory);
    exposed += fewRows[i].least - std::max(compute, memory);
  }
  return 1 - std::clamp(exposed / shorter, 0.0, 1.0);
}

Status Core::measureLaunch() {
  return launch.measure(
      [&] { return device->launch(nothing, nullptr, nullptr, 1, 1); });
}

/// All at once, so that none has the memory for itself.
Status onAll(std::vector<Core> &cores, Status (Core::*measure)()) {
  std::vector<Status> statuses(cores.size(), Status::success());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cores.size(); ++i)
    threads.emplace_back([&, i] { statuses[i] = (cores[i].*measure)(); });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    APRT_TRY(status);
  return Status::success();
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
  for (Core &core : cores)
    APRT_TRY(core.create());
  std::vector<double> sent; // a second
  for (int round = 0; round < kRounds; ++round) {
    for (auto measure : {&Core::measureGemms, &Core::measureBytes,
                         &Core::measureFewRows, &Core::measureLaunch})
      APRT_TRY(onAll(cores, measure));
    if (count > 1)
      APRT_TRY(measureExchange(sent.emplace_back()));
  }
  result.kind = "cpu";
  result.device = modelName();
  result.count = int64_t(count);
  result.overlap = 0;
  for (const Core &core : cores) {
    result.unsteadiness =
        std::max(result.unsteadiness, core.fp32.most / core.fp32.least - 1);
    auto share = 1.0 / double(count);
    result.fp32Flops += Core::flopsPerSecond(core.fp32) * share;
    result.bf16Flops += Core::flopsPerSecond(core.bf16) * share;
    result.fp16Flops += Core::flopsPerSecond(core.fp16) * share;
    result.bytesPerSecond += core.bytesPerSecond() * share;
    result.overlap += core.overlap() * share;
    result.launchSeconds += core.launch.least * share;
  }
  if (!sent.empty())
    result.sentPerSecond = median(std::move(sent));
  result.tf32Flops = result.fp32Flops;
  result.memoryBytes = int64_t(sysconf(_SC_PHYS_PAGES)) *
                       sysconf(_SC_PAGE_SIZE) / int64_t(count);
  return Status::success();
}

} // namespace autopar::runtime
