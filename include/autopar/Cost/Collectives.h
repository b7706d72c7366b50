//===- Collectives.h - Seconds of collectives on a cluster ------*- C++ -*-===//
//
// GPUs run NCCL's algorithms and protocols, processors run the runtime's own.
// docs/Costs.md has the formulas.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_COLLECTIVES_H
#define AUTOPAR_COST_COLLECTIVES_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Cost/Reshard.h"

namespace autopar {

/// The placement of a communicator's members on nodes.
struct CommunicatorShape {
  int64_t ranks = 1;
  int64_t nodes = 1;
  int64_t ranksPerNode = 1; // the most on one node
  int64_t fewestPerNode =
      1; // the fewest on one node, which has a network adapter for each
  /// Indices in Cluster::links: the link that reaches all members on a node,
  /// and the link that reaches all nodes. nullopt stands for withinNode and
  /// betweenNodes.
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
  /// The share of that rate that is reached, by log2(bytes / 64); the last
  /// entry is for all larger sizes. Without entries the whole rate is reached.
  llvm::ArrayRef<double> shares = {};

  /// The seconds for `bytes` as ReshardStep counts them.
  double seconds(double bytes) const;
};
using CollectiveAlgorithms = llvm::SmallVector<CollectiveAlgorithm, 8>;

/// All algorithms for a communicating `kind` on communicators of that shape, at
/// least one, in a fixed order.
CollectiveAlgorithms collectiveAlgorithms(const Cluster &cluster,
                                          ReshardKind kind,
                                          const CommunicatorShape &shape);

/// All algorithms for one message between two devices over the link.
CollectiveAlgorithms messageAlgorithms(const Cluster &cluster,
                                       const Link &link);

/// The fastest of the algorithms for so many bytes; of equally fast ones the
/// first. There must be at least one.
const CollectiveAlgorithm &
fastest(llvm::ArrayRef<CollectiveAlgorithm> algorithms, double bytes);

} // namespace autopar

#endif // AUTOPAR_COST_COLLECTIVES_H
