//===- MeasuredCluster.h - Measurements of a host as a cluster file -------===//

#ifndef AUTOPAR_CLUSTER_MEASUREDCLUSTER_H
#define AUTOPAR_CLUSTER_MEASUREDCLUSTER_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace autopar {

/// Makes the cluster file of one node. `measurements` is the list that
/// autopar-measure prints; each of its objects becomes a type, and the node has
/// devices of the last one, which is the GPU if there is one. Keys of an
/// object: kind ("cpu", "gpu"), device (the driver's name), count (of devices),
/// fp32_TF, tf32_TF, fp16_TF, bf16_TF (10^12 flops per second), mem_GB (10^9
/// bytes), mem_TBps (10^12 bytes per second), launch_us, overlap (0 to 1),
/// within_GBps (10^9 bytes per second), versions. `notes` gets a line for each
/// number that had to be guessed. It is an error if nothing was measured.
llvm::Expected<llvm::json::Value>
measuredCluster(const llvm::json::Value &measurements,
                std::vector<std::string> &notes);

} // namespace autopar

#endif // AUTOPAR_CLUSTER_MEASUREDCLUSTER_H
