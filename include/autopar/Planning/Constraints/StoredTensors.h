//===- StoredTensors.h - What entries of a program store --------*- C++ -*-===//
//
// The entries of one program (`--entry`) hold one copy of each weight and state
// that they store alike. The first entry that has a tensor decides how it is
// stored; those after it are planned to store it so.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_STOREDTENSORS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_STOREDTENSORS_H

#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Constraints/PlanRequest.h"
#include <map>

namespace autopar {

/// A tensor that is kept from load on, as a plan stores it.
struct StoredTensor {
  llvm::SmallVector<int64_t> shape;
  int64_t elementBytes = 0;
  /// Per dimension its sub-axes of the mesh of devices.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> split;
  llvm::SmallVector<int64_t> stages; // that hold it, where there are several
  bool operator==(const StoredTensor &o) const {
    return shape == o.shape && elementBytes == o.elementBytes &&
           split == o.split && stages == o.stages;
  }
};

/// The tensors that the entries planned so far store, and how.
class StoredTensors {
public:
  bool empty() const { return entries.empty(); }
  /// Adds what this entry stores and no earlier one does, if its mesh is that
  /// of the first.
  void add(llvm::StringRef entry, const Plan &plan, const ModelGraph &graph);

  /// Asks for the first entry's devices and mesh, where those are open. The
  /// constraint that it adds stands for what is stored.
  llvm::Error askForMesh(PlanRequest &request) const;
  /// Narrows the limits of a request of askForMesh: tensors are stored as
  /// before, and ops are in the stages in which they were.
  void limit(const Constraints &constraints, const ModelGraph &graph,
             const Mesh &mesh, int64_t stagesNow, Limits &limits) const;

  /// An error names the states that the plan does not store as entries before
  /// it.
  llvm::Error checkStates(const Plan &plan, const ModelGraph &graph) const;

  /// Lines for the plan's table: what it stores as entries before it, and by
  /// name what not; "" of the first entry. `refusal`: why no plan was found
  /// that stores all alike; "" if one was.
  std::string describe(const Plan &plan, const ModelGraph &graph,
                       llvm::StringRef refusal) const;

private:
  void limitStages(unsigned place, const ModelGraph &graph,
                   Limits &limits) const;

  std::vector<std::string> entries;
  llvm::SmallVector<MeshAxis> axes; // of devices
  int64_t stages = 1;
  Cluster cluster;
  std::map<std::string, StoredTensor> tensors; // by name
  std::map<std::string, int64_t> stageOfOp;    // by name, of several stages
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_STOREDTENSORS_H
