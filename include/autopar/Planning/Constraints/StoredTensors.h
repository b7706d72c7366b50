//===- StoredTensors.h - What entries of a program store --------*- C++ -*-===//
//
// The entries of one program (`--entry`) hold one copy of each weight and state
// that they store alike. The first entry that has a tensor decides how it is
// stored; later entries are planned to store it in the same way.
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
  /// Per dimension of the tensor, the sub-axes of the mesh of devices that
  /// split it.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> split;
  /// The stages that hold the tensor, if the plan has several stages.
  llvm::SmallVector<int64_t> stages;
  bool operator==(const StoredTensor &o) const {
    return shape == o.shape && elementBytes == o.elementBytes &&
           split == o.split && stages == o.stages;
  }
};

/// The tensors that the entries planned so far store, and how they store them.
class StoredTensors {
public:
  bool empty() const { return entries.empty(); }
  /// Adds the tensors that this entry stores and no earlier entry does, if the
  /// entry's mesh is that of the first entry.
  void add(llvm::StringRef entry, const Plan &plan, const ModelGraph &graph);

  /// Asks for the devices and the mesh of the first entry where the request
  /// leaves them open. Adds one constraint, which stands for all stored
  /// tensors.
  llvm::Error askForMesh(PlanRequest &request) const;
  /// Narrows the limits of a request that askForMesh completed: tensors are
  /// stored as before, and ops stay in the stages in which they were.
  void limit(const Constraints &constraints, const ModelGraph &graph,
             const Mesh &mesh, int64_t stagesNow, Limits &limits) const;

  /// Returns an error that names the states that the plan stores in another way
  /// than entries before it.
  llvm::Error checkStates(const Plan &plan, const ModelGraph &graph) const;

  /// Returns lines for the plan's table: the tensors that it stores as entries
  /// before it do, and the names of those that it stores otherwise; "" for the
  /// first entry. `refusal` is the reason why no plan stores all of them alike;
  /// "" if this one does.
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
  /// The stage of each op by name, if there are several stages.
  std::map<std::string, int64_t> stageOfOp;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_STOREDTENSORS_H
