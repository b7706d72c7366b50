//===- CheckCompute.h - A local compute op against its origin ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_EQUALITY_CHECKCOMPUTE_H
#define AUTOPAR_LIB_EQUALITY_CHECKCOMPUTE_H

#include "GlobalProgram.h"
#include "HeldValue.h"

namespace autopar {

using HeldValues = llvm::DenseMap<mlir::Value, HeldValue>;

/// Proves that `local` computes its part of `global`'s results from what its
/// operands hold, by the op's sharding rule and the strategy that it claims,
/// and adds the claims about its results. If it cannot be proved, an error is
/// reported at `local`.
mlir::LogicalResult checkCompute(mlir::Operation *local,
                                 ShardingRuleOpInterface global,
                                 const GlobalProgram &program,
                                 HeldValues &held);

} // namespace autopar

#endif // AUTOPAR_LIB_EQUALITY_CHECKCOMPUTE_H
