//===- Collectives.h - Seconds of collectives on a cluster ------*- C++ -*-===//
//
// GPUs run NCCL's algorithms and protocols, processors the runtime's own. The
// formulas are in docs/Costs.md.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_COLLECTIVES_H
#define AUTOPAR_COST_COLLECTIVES_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Cost/Reshard.h"

namespace autopar {

/// How the members of a communicator are placed on nodes.
struct CommunicatorShape {
  int64_t ranks = 1;
  int64_t nodes = 1;
  int64_t ranksPerNode = 1;  // the most on one node
  int64_t fewestPerNode = 1; // the fewest: a node has an adapter for each
  /// Of Cluster::links those that reach all members on a node, and all nodes;
  /// nullopt: withinNode and betweenNodes.
  std::optional<unsigned> near = std::nullopt, far = std::nullopt;

  bool operator==(const CommunicatorShape &o) const {
    return ranks == o.ranks && nodes == o.nodes &&
           ranksPerNode == o.ranksPerNode && fewestPerNode == o.fewestPerNode &&
           near == o.near && far == o.far;
  }
};

/// One way to run a collective. Names and shares live as long as the program.
struct CollectiveAlgorithm {
  llvm::StringRef name, protocol; // "ring", "LL128"; "doubling", ""
  double latencySeconds = 0;
  double secondsPerByte = 0;
  /// What is reached of that rate, by log2(bytes / 64), the last for all that
  /// is larger; none: all of it.
  llvm::ArrayRef<double> shares = {};

  /// `bytes` as in ReshardStep.
  double seconds(double bytes) const;
};
using CollectiveAlgorithms = llvm::SmallVector<CollectiveAlgorithm, 8>;

/// Every way to run a communicating `kind` on communicators of that shape, in
/// a fixed order; at least one.
CollectiveAlgorithms collectiveAlgorithms(const Cluster &cluster,
                                          ReshardKind kind,
                                          const CommunicatorShape &shape);

/// The ways of one message of a device to another over the link.
CollectiveAlgorithms messageAlgorithms(const Cluster &cluster,
                                       const Link &link);

/// The fastest of at least one for that many bytes, the first of equals.
const CollectiveAlgorithm &
fastest(llvm::ArrayRef<CollectiveAlgorithm> algorithms, double bytes);

} // namespace autopar

#endif // AUTOPAR_COST_COLLECTIVES_H
