//===- RequestAttribute.h - What is asked of a plan -------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_REQUESTATTRIBUTE_H
#define AUTOPAR_PLANNING_REQUESTATTRIBUTE_H

#include "autopar/Planning/Search/Search.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace autopar {

inline constexpr llvm::StringLiteral kRequest = "autopar.request";

/// A module has the attribute `autopar.request` from import until it is
/// planned: {cluster, strategy, mesh, micro_batches, memory_limit, objective,
/// fewest_devices, constraints, bindings}. Each field is as on the command line
/// or in its file; fields that were not asked for are absent.
mlir::DictionaryAttr toAttribute(const PlanRequest &request,
                                 mlir::MLIRContext *context);
/// Returns the fields of its request that a plan records: all but cluster and
/// strategy, which are fields of the plan; constraints are recorded as a hash.
llvm::json::Object requestOfPlan(const PlanRequest &request);
llvm::Expected<PlanRequest> requestFromAttribute(mlir::Attribute given);

} // namespace autopar

#endif // AUTOPAR_PLANNING_REQUESTATTRIBUTE_H
