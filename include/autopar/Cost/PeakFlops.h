//===- PeakFlops.h - What a device computes at most -------------*- C++ -*-===//

#ifndef AUTOPAR_COST_PEAKFLOPS_H
#define AUTOPAR_COST_PEAKFLOPS_H

#include "autopar/Cost/Roofline.h"

namespace autopar {

/// Flops per second; 0: not known.
double peakFlops(const DeviceType &device, FlopsKind kind);

} // namespace autopar

#endif // AUTOPAR_COST_PEAKFLOPS_H
