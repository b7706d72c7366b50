//===- SharedWork.h - What problems of a graph have in common ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SHAREDWORK_H
#define AUTOPAR_LIB_PLANNING_SHAREDWORK_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Cost/ReshardTable.h"
#include "autopar/Planning/ModelGraph.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>
#include <mutex>

namespace autopar {

/// What does not depend on the mesh of a problem alone, computed for the first
/// that needs it; from any number of threads. Whoever comes first, the answers
/// are the same.
class SharedWork {
public:
  /// The classes under these marks.
  std::shared_ptr<const GraphClasses>
  classes(const std::vector<unsigned> &marks,
          llvm::function_ref<GraphClasses()> compute);

  /// Of all meshes with these sub-axes: of paths across `whole` on such places.
  std::shared_ptr<ReshardPrices> prices(const Cluster &whole,
                                        llvm::ArrayRef<Cluster> places,
                                        const Mesh &mesh);

private:
  struct Classes {
    std::once_flag once;
    std::shared_ptr<const GraphClasses> classes;
  };
  std::mutex mutex;
  std::map<std::vector<unsigned>, std::shared_ptr<Classes>> classesOfMarks;
  llvm::StringMap<std::shared_ptr<ReshardPrices>> pricesOfPlaces;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SHAREDWORK_H
