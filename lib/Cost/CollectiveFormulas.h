//===- CollectiveFormulas.h - The two families of collectives -------------===//

#ifndef AUTOPAR_LIB_COST_COLLECTIVEFORMULAS_H
#define AUTOPAR_LIB_COST_COLLECTIVEFORMULAS_H

#include "autopar/Cost/Collectives.h"

namespace autopar {

/// The algorithms of NCCL, between GPUs.
CollectiveAlgorithms ncclAlgorithms(const Cluster &cluster, ReshardKind kind,
                                    const CommunicatorShape &shape);
CollectiveAlgorithms ncclMessages(const DeviceType &device, const Link &link);

/// The algorithms of the runtime, between processors.
CollectiveAlgorithms runtimeAlgorithms(const Cluster &cluster, ReshardKind kind,
                                       const CommunicatorShape &shape);

/// The link's latency and seconds per byte; 0 for a free link.
double latency(const Link &link);
double secondsPerByte(const Link &link);

} // namespace autopar

#endif // AUTOPAR_LIB_COST_COLLECTIVEFORMULAS_H
