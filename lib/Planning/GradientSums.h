//===- GradientSums.h - Sums that are reduced in a wider type ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_GRADIENTSUMS_H
#define AUTOPAR_LIB_PLANNING_GRADIENTSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace autopar {

/// Returns the 16-bit values from which ops that let partial sums through make
/// a gradient of a wider type. For the gradient %f of
///   %g = einsum ... : bf16;  %h = transpose %g;  %f = convert %h : f32
/// these are %g and %h. Devices add up %f instead of them, so that a partial
/// sum of few bits is rounded only once, where it is made. The set is empty if
/// the recipe of the module allows narrow sums
/// (AutoparDialect::kNarrowGradientSums).
mlir::DenseSet<mlir::Value> gradientSums(mlir::func::FuncOp step);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_GRADIENTSUMS_H
