//===- ReshardTable.h - Prices of reshards, remembered ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_RESHARDTABLE_H
#define AUTOPAR_LIB_PLANNING_RESHARDTABLE_H

#include "autopar/Cost/Reshard.h"
#include "autopar/Planning/ModelGraph.h"
#include "llvm/ADT/DenseMap.h"
#include <unordered_map>

namespace autopar {

/// Prices and paths of reshards of a graph's values on one mesh. Shardings and
/// types are numbered, so that a price asked for again is one look-up.
class ReshardTable {
public:
  ReshardTable(const Mesh &mesh, ReshardCost cost)
      : mesh(mesh), cost(cost), paths(mesh, std::move(cost)) {}

  unsigned numberOf(const Sharding &sharding);
  /// Of the value's shape and element size.
  unsigned typeOf(const GraphValue &value);
  /// From one numbered sharding to another; kIllegal where there is no path.
  double seconds(unsigned from, unsigned to, unsigned type);
  double seconds(const Sharding &from, const Sharding &to,
                 const GraphValue &value) {
    return seconds(numberOf(from), numberOf(to), typeOf(value));
  }
  std::optional<ReshardPath> path(const Sharding &from, const Sharding &to,
                                  const GraphValue &value) const {
    return reshardPath(from, to, value.shape, value.elementBytes, mesh, cost);
  }

private:
  struct Type {
    llvm::SmallVector<int64_t> shape;
    int64_t elementBytes;
  };

  Mesh mesh;
  ReshardCost cost;
  ReshardPrices paths;
  std::unordered_map<std::string, unsigned> shardingNumbers, typeNumbers;
  std::vector<Sharding> shardings;
  std::vector<Type> types;
  llvm::DenseMap<uint64_t, double> prices; // by numbers
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_RESHARDTABLE_H
