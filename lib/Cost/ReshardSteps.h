//===- ReshardSteps.h - The table of reshard steps --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_COST_RESHARDSTEPS_H
#define AUTOPAR_LIB_COST_RESHARDSTEPS_H

#include "autopar/Cost/Reshard.h"
#include "llvm/ADT/STLExtras.h"

namespace autopar {

/// Sub-axes that are side by side at the start and in the target move together:
/// a mesh of a thousand devices has no more steps than one with as many axes.
class SubAxisRuns {
public:
  SubAxisRuns(const Sharding &from, const Sharding &to, const Mesh &mesh);
  /// Whether steps may move `subAxes` before `index` without those after.
  bool cutsAt(llvm::ArrayRef<unsigned> subAxes, size_t index) const {
    return index == 0 || index >= subAxes.size() ||
           runOf[subAxes[index - 1]] != runOf[subAxes[index]];
  }
  /// `subAxes` run by run.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>>
  split(llvm::ArrayRef<unsigned> subAxes) const;

private:
  void join(unsigned a, unsigned b);

  llvm::SmallVector<unsigned> runOf; // per sub-axis: the first of its run
};

/// Lists the steps that lead from a sharding towards the target. A dimension
/// only ever holds a prefix of its sub-axes at the start or in the target: no
/// other place brings a value nearer.
class StepTable {
public:
  StepTable(const Sharding &from, const Sharding &to,
            llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
            const Mesh &mesh)
      : to(to), shape(shape), elementBytes(elementBytes), mesh(mesh),
        runs(from, to, mesh) {}

  /// They are there until the next call.
  llvm::MutableArrayRef<ReshardStep> steps(const Sharding &from);

private:
  bool isTime(unsigned subAxis) const { return mesh.subAxes()[subAxis].time; }
  bool anyTime(llvm::ArrayRef<unsigned> subAxes) const {
    return llvm::any_of(subAxes,
                        [&](unsigned subAxis) { return isTime(subAxis); });
  }
  llvm::ArrayRef<unsigned> subAxes(unsigned dim) const {
    return current->dims[dim].subAxes;
  }
  bool nests(unsigned dim, llvm::ArrayRef<unsigned> major,
             llvm::ArrayRef<unsigned> minor) const;
  llvm::ArrayRef<unsigned> wanted(unsigned dim) const;
  int64_t localBytes(const Sharding &sharding) const;
  ReshardStep start(ReshardKind kind, llvm::ArrayRef<unsigned> subAxes,
                    unsigned dim = 0) const;
  void finish(ReshardStep step, bool operandIsWider);

  void slice();
  void keepFirst();
  void gather();
  void reduceScatter();
  void allToAll();
  void allToAll(unsigned dim, unsigned concat);
  void allReduce();
  void allReduce(ReduceKind kind);
  void halo();
  int64_t haloBytes(unsigned dim) const;

  const Sharding &to;
  llvm::ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const Mesh &mesh;
  SubAxisRuns runs;
  const Sharding *current = nullptr;
  llvm::SmallVector<ReshardStep, 0> result;
};

} // namespace autopar

#endif // AUTOPAR_LIB_COST_RESHARDSTEPS_H
