//===- Roofline.cpp - Seconds of a kernel on a device ---------------------===//

#include "autopar/Cost/PeakFlops.h"
#include <algorithm>

namespace autopar {

double peakFlops(const DeviceType &device, FlopsKind kind) {
  switch (kind) {
  case FlopsKind::Fp32:
    return device.fp32Flops;
  case FlopsKind::Tf32:
    return device.tf32Flops;
  case FlopsKind::Fp16:
    return device.fp16Flops;
  case FlopsKind::Bf16:
    return device.bf16Flops;
  }
  return device.fp32Flops;
}

double kernelSeconds(const DeviceType &device, const KernelWork &work) {
  double compute =
      work.flops / (peakFlops(device, work.kind) * device.gemmEfficiency);
  double memory =
      work.bytes / (device.memoryBytesPerSecond * device.memoryEfficiency);
  return work.launches * device.launchSeconds + std::max(compute, memory) +
         (1 - device.overlap) * std::min(compute, memory);
}

} // namespace autopar
