//===- PlannedModule.h - Reads a plan's attributes --------------*- C++ -*-===//
//
// What the passes of Partition ask of a module that carries a plan. Everything
// here was maybe written by hand: a wrong plan is an error at the op.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PARTITION_PLANNEDMODULE_H
#define AUTOPAR_LIB_PARTITION_PLANNEDMODULE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// The one mesh of a planned module.
struct ModuleMesh {
  Mesh mesh;
  mlir::FlatSymbolRefAttr symbol;

  ShardingAttr attr(const Sharding &sharding) const {
    return ShardingAttr::get(symbol, sharding, mesh);
  }
  mlir::ArrayAttr axes(mlir::Builder &builder,
                       llvm::ArrayRef<unsigned> subAxes) const;
};

mlir::FailureOr<ModuleMesh> getModuleMesh(mlir::ModuleOp module);

/// The functions that Partition works on: all but the kept global copies.
llvm::SmallVector<mlir::func::FuncOp> activeFunctions(mlir::ModuleOp module);

/// `attribute` as a sharding (the dialect has verified it); an error where
/// there is none. `what` names the value.
mlir::FailureOr<Sharding> readSharding(mlir::Operation *at,
                                       mlir::Attribute attribute,
                                       const ModuleMesh &moduleMesh,
                                       const llvm::Twine &what);

/// What the plan says about one compute op.
struct OpPlan {
  ShardingRule rule;
  Assignment assignment;
  OpShardings shardings;
};
mlir::FailureOr<OpPlan> planOf(ShardingRuleOpInterface op,
                               const ModuleMesh &moduleMesh);

/// Whether an argument may differ between steps: it is neither a parameter nor
/// a setup result.
bool differsBetweenSteps(mlir::func::FuncOp step, mlir::BlockArgument argument);

} // namespace autopar

#endif // AUTOPAR_LIB_PARTITION_PLANNEDMODULE_H
