//===- Roofline.h - Seconds of a kernel on a device -----------------------===//

#ifndef AUTOPAR_COST_ROOFLINE_H
#define AUTOPAR_COST_ROOFLINE_H

#include "autopar/Cluster/Cluster.h"

namespace autopar {

/// The number format whose peak rate on a device applies.
enum class FlopsKind { Fp32, Tf32, Fp16, Bf16 };

/// The work of one kernel group as counts, never as seconds.
struct KernelWork {
  double flops = 0;
  double bytes = 0; // read and written
  double launches = 0;
  FlopsKind kind = FlopsKind::Fp32;
};

/// Returns launches * launch time + max(flops / peak, bytes / bandwidth). The
/// peaks are scaled by the shares that large kernels reach. The part of the
/// shorter of the two times that does not overlap with the longer is added.
double kernelSeconds(const DeviceType &device, const KernelWork &work);

} // namespace autopar

#endif // AUTOPAR_COST_ROOFLINE_H
