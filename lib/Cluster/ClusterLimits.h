//===- ClusterLimits.h - Clusters that make sense ---------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_CLUSTER_CLUSTERLIMITS_H
#define AUTOPAR_LIB_CLUSTER_CLUSTERLIMITS_H

#include "autopar/Cluster/Cluster.h"

namespace autopar {

/// A number beyond these limits is a typing error.
inline constexpr int64_t kMaxDevices = 1 << 20;
inline constexpr double kLeastGBps = 1e-9, kMostOfLink = 1e9;

/// `NODESxDEVICES:TYPE[@GBps]`
llvm::Expected<Cluster> parseShortForm(llvm::StringRef spec);

} // namespace autopar

#endif // AUTOPAR_LIB_CLUSTER_CLUSTERLIMITS_H
