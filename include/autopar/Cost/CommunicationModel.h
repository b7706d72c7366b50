//===- CommunicationModel.h - Seconds of collectives on a cluster ---------===//

#ifndef AUTOPAR_COST_COMMUNICATIONMODEL_H
#define AUTOPAR_COST_COMMUNICATIONMODEL_H

#include "autopar/Cost/Collectives.h"
#include <array>
#include <map>

namespace autopar {

/// Seconds of each step of a reshard, by the fastest algorithm, for a mesh laid
/// row-major over the cluster's devices.
class CommunicationModel {
public:
  CommunicationModel(const Cluster &cluster, const Mesh &mesh);

  double seconds(const ReshardStep &step);
  /// One message from a device of one stage to its counterpart in the next;
  /// stage s has the devices after those of stages 0 to s-1.
  double sendSeconds(int64_t bytes, int64_t fromStage, int64_t toStage) const;
  CommunicatorShape shapeOf(llvm::ArrayRef<unsigned> subAxes) {
    return communicatorOf(subAxes).shape;
  }

  /// For reshardPath; holds a copy of the model.
  static ReshardCost reshardCost(const Cluster &cluster, const Mesh &mesh);

private:
  Cluster cluster;
  Mesh mesh;
  struct Communicator {
    CommunicatorShape shape;
    std::array<CollectiveAlgorithms, 7> algorithms; // per kind, if asked for
  };
  Communicator &communicatorOf(llvm::ArrayRef<unsigned> subAxes);

  std::map<uint64_t, Communicator> communicators; // a bit per sub-axis
  CollectiveAlgorithms nearMessages, farMessages;
};

} // namespace autopar

#endif // AUTOPAR_COST_COMMUNICATIONMODEL_H
