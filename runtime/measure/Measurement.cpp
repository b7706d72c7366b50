//===- Measurement.cpp - What a device can do -----------------------------===//

#include "Measurement.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace autopar::runtime {

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

aprt_gemm_desc squareGemm(aprt_dtype dtype, int64_t side) {
  aprt_gemm_desc desc{};
  desc.dtype = dtype;
  desc.m = desc.n = desc.k = side;
  for (int64_t *strides : {desc.a_strides, desc.b_strides, desc.c_strides}) {
    strides[0] = side;
    strides[1] = 1;
  }
  desc.slot = -1;
  return desc;
}

Status secondsOfCall(double seconds, const std::function<Status()> &call,
                     double &result) {
  constexpr int kRuns = 3;
  APRT_TRY(call()); // warms up
  result = 1e300;
  for (int run = 0; run < kRuns; ++run) {
    double begin = now(), end = begin;
    int64_t calls = 0;
    for (; end - begin < seconds; end = now(), ++calls)
      APRT_TRY(call());
    result = std::min(result, (end - begin) / double(calls));
  }
  return Status::success();
}

double median(std::vector<double> values) {
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

static nlohmann::ordered_json toJson(const Measurement &measurement) {
  nlohmann::ordered_json json = {
      {"kind", measurement.kind},
      {"device", measurement.device},
      {"count", measurement.count},
      {"fp32_TF", measurement.fp32Flops / 1e12},
      {"tf32_TF", measurement.tf32Flops / 1e12},
      {"fp16_TF", measurement.fp16Flops / 1e12},
      {"bf16_TF", measurement.bf16Flops / 1e12},
      {"mem_GB", double(measurement.memoryBytes) / 1e9},
      {"mem_TBps", measurement.bytesPerSecond / 1e12},
      {"launch_us", measurement.launchSeconds * 1e6},
      {"overlap", measurement.overlap},
      {"within_GBps", measurement.sentPerSecond / 1e9},
      {"emulated", measurement.emulated}};
  for (const auto &[name, version] : measurement.versions)
    json["versions"][name] = version;
  return json;
}

std::string toJson(const std::vector<Measurement> &measurements) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Measurement &measurement : measurements)
    list.push_back(toJson(measurement));
  return list.dump(2) + "\n";
}

} // namespace autopar::runtime
