//===- CollectiveFormulas.h - The two families of collectives -------------===//

#ifndef AUTOPAR_LIB_COST_COLLECTIVEFORMULAS_H
#define AUTOPAR_LIB_COST_COLLECTIVEFORMULAS_H

#include "autopar/Cost/Collectives.h"

namespace autopar {

/// NCCL's, between GPUs.
CollectiveAlgorithms ncclAlgorithms(const Cluster &cluster, ReshardKind kind,
                                    const CommunicatorShape &shape);
CollectiveAlgorithms ncclMessages(const DeviceType &device, const Link &link);

/// The runtime's own, between processors.
CollectiveAlgorithms runtimeAlgorithms(const Cluster &cluster, ReshardKind kind,
                                       const CommunicatorShape &shape);

/// 0 for a free link.
double latency(const Link &link);
double secondsPerByte(const Link &link);

} // namespace autopar

#endif // AUTOPAR_LIB_COST_COLLECTIVEFORMULAS_H
