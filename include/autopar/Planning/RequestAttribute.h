//===- RequestAttribute.h - What is asked of a plan -------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_REQUESTATTRIBUTE_H
#define AUTOPAR_PLANNING_REQUESTATTRIBUTE_H

#include "autopar/Planning/Search/Search.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace autopar {

inline constexpr llvm::StringLiteral kRequest = "autopar.request";

/// `autopar.request`, which a module has from import until it is planned:
/// {cluster, strategy, mesh, micro_batches, memory_limit, objective,
/// fewest_devices, constraints, bindings}, each as the command line or its file
/// has it; what was not asked for is absent.
mlir::DictionaryAttr toAttribute(const PlanRequest &request,
                                 mlir::MLIRContext *context);
/// What a plan notes of its request: all but cluster and strategy, which it
/// has, and of constraints a hash.
llvm::json::Object requestOfPlan(const PlanRequest &request);
llvm::Expected<PlanRequest> requestFromAttribute(mlir::Attribute given);

} // namespace autopar

#endif // AUTOPAR_PLANNING_REQUESTATTRIBUTE_H
