//===- RequestAttribute.h - What is asked of a plan -------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_REQUESTATTRIBUTE_H
#define AUTOPAR_PLANNING_REQUESTATTRIBUTE_H

#include "autopar/Planning/Search/Search.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace autopar {

/// A module has the attribute `autopar.request` from import until it is
/// planned, a dictionary of `cluster`, `bindings`, `states` and the options of
/// kRequestOptions. Each field is as on the command line or in its file; fields
/// that were not asked for are absent.
mlir::DictionaryAttr toAttribute(const PlanRequest &request,
                                 mlir::MLIRContext *context);
/// Returns the fields of its request that a plan records: all that are not
/// fields of the plan itself, and of the constraints a hash.
llvm::json::Object requestOfPlan(const PlanRequest &request);
llvm::Expected<PlanRequest> requestFromAttribute(mlir::DictionaryAttr given);

} // namespace autopar

#endif // AUTOPAR_PLANNING_REQUESTATTRIBUTE_H
