//===- CommunicationModel.h - Seconds of collectives on a cluster ---------===//

#ifndef AUTOPAR_COST_COMMUNICATIONMODEL_H
#define AUTOPAR_COST_COMMUNICATIONMODEL_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Cost/Reshard.h"
#include <map>

namespace autopar {

/// How the members of a communicator are placed on nodes: the worst over the
/// mesh's communicators of the same sub-axes.
struct CommunicatorShape {
  int64_t ranks = 1;
  int64_t nodes = 1;
  int64_t ranksPerNode = 1; // the most on one node
};

/// alpha-beta costs of each step of a reshard, by the cheapest algorithm, for a
/// mesh laid row-major over the cluster's devices.
class CommunicationModel {
public:
  CommunicationModel(const Cluster &cluster, const Mesh &mesh);

  double seconds(const ReshardStep &step);
  /// One message from a device of one stage to its counterpart in the next;
  /// stage s has the devices after those of stages 0 to s-1.
  double sendSeconds(int64_t bytes, int64_t fromStage, int64_t toStage) const;
  CommunicatorShape shapeOf(llvm::ArrayRef<unsigned> subAxes);

  /// For reshardPath; holds a copy of the model.
  static ReshardCost reshardCost(const Cluster &cluster, const Mesh &mesh);

private:
  Cluster cluster;
  Mesh mesh;
  std::map<std::vector<unsigned>, CommunicatorShape> shapes;
};

} // namespace autopar

#endif // AUTOPAR_COST_COMMUNICATIONMODEL_H
