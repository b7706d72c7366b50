//===- GradientSums.h - Sums that are reduced in a wider type ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_GRADIENTSUMS_H
#define AUTOPAR_LIB_PLANNING_GRADIENTSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace autopar {

/// The values of 16 bits that a gradient of a wider type is made of, by ops
/// that let partial sums through:
///   %g = einsum ... : bf16;  %h = transpose %g;  %f = convert %h : f32
/// gives %g and %h of the gradient %f. Devices add up %f, not them: a partial
/// sum of few bits is rounded once, where it is made. Empty for a module whose
/// recipe allows narrow sums (kNarrowGradientSums).
mlir::DenseSet<mlir::Value> gradientSums(mlir::func::FuncOp step);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_GRADIENTSUMS_H
