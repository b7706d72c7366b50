//===- Measurement.h - What a device can do ---------------------*- C++ -*-===//
//
// Numbers for `autopar calibrate`: rates that large kernels reach on this host,
// measured through the same calls that programs make.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_MEASURE_MEASUREMENT_H
#define AUTOPAR_RUNTIME_MEASURE_MEASUREMENT_H

#include "../core/Status.h"
#include "autopar/runtime.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace autopar::runtime {

struct Measurement {
  std::string kind;   // "cpu" or "gpu"
  std::string device; // as its maker calls it
  int64_t count = 1;  // devices of the host
  /// Of GEMMs, in flop/s; 0: not measured.
  double fp32Flops = 0, tf32Flops = 0, fp16Flops = 0, bf16Flops = 0;
  /// Of a copy, read and written bytes counted; of a device with all busy.
  double bytesPerSecond = 0;
  int64_t memoryBytes = 0; // of a device
  double launchSeconds = 0;
  /// Of a GEMM's computing and its memory traffic: the share of the shorter
  /// that goes on while the longer does; 1: not measured.
  double overlap = 1;
  double sentPerSecond = 0; // measureExchange; 0: not measured
  /// How much longer than the best round of GEMMs the worst one took, a share.
  double unsteadiness = 0;
  bool emulated = false;
  /// What was measured with: ("driver", "13.0").
  std::vector<std::pair<std::string, std::string>> versions;
};

/// One rank per core, all at once.
Status measureCpu(Measurement &result);
/// What each of two ranks with a core each sends a second while they gather
/// much.
Status measureExchange(double &sentPerSecond);
/// The first GPU. `emulated`: the one that the host plays, with tiny sizes;
/// its speed says nothing. `found` is false, and nothing else is said, where
/// there is no driver or no device.
Status measureGpu(bool emulated, bool &found, Measurement &result);

/// Of two row-major matrices of `side` rows and columns, which nothing packs.
aprt_gemm_desc squareGemm(aprt_dtype dtype, int64_t side);

/// Seconds of one call: the best of a few runs of about `seconds` each.
Status secondsOfCall(double seconds, const std::function<Status()> &call,
                     double &result);

/// Of at least one.
double median(std::vector<double> values);

std::string toJson(const std::vector<Measurement> &measurements);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_MEASURE_MEASUREMENT_H
