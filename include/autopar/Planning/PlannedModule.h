//===- PlannedModule.h - What a module says of its plan ---------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLANNEDMODULE_H
#define AUTOPAR_PLANNING_PLANNEDMODULE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Planning/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// The mesh, the stages, the cluster and the predictions of a planned module. A
/// pass of a later phase reads them once, when it begins; no other code looks
/// into `autopar.plan`.
struct PlannedModule {
  /// Reads `autopar.mesh`, `autopar.stages` and `autopar.plan`. It is an error
  /// at the op if there is not one mesh, a field that is read here has another
  /// type, the cluster cannot be parsed, or they do not agree in the number of
  /// stages and devices. A module without `autopar.plan`, whose shardings were
  /// written by hand, is for a cluster of CPU ranks.
  static mlir::FailureOr<PlannedModule> read(mlir::ModuleOp module);

  Mesh mesh; // of each stage
  mlir::FlatSymbolRefAttr symbol;
  Pipeline pipeline;
  Cluster cluster; // of all stages
  /// The fields of the plan file but `tensors` and `ops`; null without
  /// `autopar.plan`.
  mlir::DictionaryAttr fields;
  double stepSeconds = 0;                // predicted; 0 if nothing is
  llvm::SmallVector<int64_t> stageBytes; // predicted for each stage, or empty

  ShardingAttr attr(const Sharding &sharding) const {
    return ShardingAttr::get(symbol, sharding, mesh);
  }
  mlir::ArrayAttr axes(mlir::Builder &builder,
                       llvm::ArrayRef<unsigned> subAxes) const;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLANNEDMODULE_H
