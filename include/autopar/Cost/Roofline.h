//===- Roofline.h - Seconds of a kernel on a device -----------------------===//

#ifndef AUTOPAR_COST_ROOFLINE_H
#define AUTOPAR_COST_ROOFLINE_H

#include "autopar/Cluster/Cluster.h"

namespace autopar {

/// Which of a device's peaks counts.
enum class FlopsKind { Fp32, Tf32, Fp16, Bf16 };

/// What one kernel group does: counts, never seconds.
struct KernelWork {
  double flops = 0;
  double bytes = 0; // read and written
  double launches = 0;
  FlopsKind kind = FlopsKind::Fp32;
};

/// launches * launch time + max(flops / peak, bytes / bandwidth), at the shares
/// of the peaks that large kernels reach, and of the shorter of the two what
/// does not overlap with the longer.
double kernelSeconds(const DeviceType &device, const KernelWork &work);

} // namespace autopar

#endif // AUTOPAR_COST_ROOFLINE_H
