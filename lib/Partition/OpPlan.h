//===- OpPlan.h - Reads a plan's attributes of ops and values ---*- C++ -*-===//
//
// The passes of Partition read a module's plan through these functions. A plan
// may be written by hand, so a wrong plan is an error at the op.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PARTITION_OPPLAN_H
#define AUTOPAR_LIB_PARTITION_OPPLAN_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Planning/PlannedModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// The functions that Partition works on: all but the kept global copies.
llvm::SmallVector<mlir::func::FuncOp> activeFunctions(mlir::ModuleOp module);

/// Reads `attribute` as a sharding, which the dialect has verified. It is an
/// error if there is none; `what` names the value.
mlir::FailureOr<Sharding> readSharding(mlir::Operation *at,
                                       mlir::Attribute attribute,
                                       const PlannedModule &planned,
                                       const llvm::Twine &what);

/// The plan's decisions about a compute op.
struct OpPlan {
  ShardingRule rule;
  Assignment assignment;
  OpShardings shardings;
};
mlir::FailureOr<OpPlan> planOf(ShardingRuleOpInterface op,
                               const PlannedModule &planned);

} // namespace autopar

#endif // AUTOPAR_LIB_PARTITION_OPPLAN_H
