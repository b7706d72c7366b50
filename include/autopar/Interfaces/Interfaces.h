//===- Interfaces.h - All that a pass may ask of an op ----------*- C++ -*-===//

#ifndef AUTOPAR_INTERFACES_INTERFACES_H
#define AUTOPAR_INTERFACES_INTERFACES_H

#include "autopar/Interfaces/Sharding.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"

namespace autopar {

/// What localize needs to know beyond its operands and types.
struct Localization {
  const ShardingRule &rule;
  const Assignment &assignment;
  const Mesh &mesh;
  mlir::FlatSymbolRefAttr meshSymbol;

  /// Sub-axes that split `factor`; empty: it is whole here.
  llvm::SmallVector<unsigned, 2> subAxes(unsigned factor) const {
    return subAxesOf(assignment, factor);
  }
  /// Size of the local block of `factor`.
  int64_t block(unsigned factor) const {
    return ceilDiv(rule.factors[factor].size, mesh.product(subAxes(factor)));
  }
};

/// A copy of `op` with other operands and result types, the same attributes
/// and location.
mlir::Operation *cloneLocal(mlir::Operation *op, mlir::OpBuilder &builder,
                            mlir::ValueRange operands,
                            mlir::TypeRange resultTypes);

/// How a loop nest computes an op.
enum class LoopRole {
  Source,       // no tensor is read: constant, iota, block_offset
  Pointwise,    // result index i reads each operand at i
  Spread,       // result index i reads the operand at a projection: broadcast
  Remap,        // each result element is one operand element at another index
  Scatter,      // like Remap, but contiguous reads become strided: transposes
                // that move the innermost dimension
  RowReduction, // reads whole rows of its operand: see getRowRank
  Whole,        // needs a loop nest of its own: pool, scan, gather_nd, ...
  View,         // same elements in the same order: no work
  Opaque,       // not a compute op: communication, return
};

/// What mixed precision does with an op, as PyTorch's autocast classes them.
enum class PrecisionClass {
  Low,      // einsum, convolution: in the low type, with sums in fp32
  Full,     // exp, log, powers, sums, softmax, norms: in fp32
  Operands, // in the widest type of the operands
  Fixed,    // the op itself says its types: convert
};

/// By kernel class: Elementwise is Pointwise, Movement is Remap, a Reduction
/// with rows is RowReduction; a View is a View, the rest is Whole or Opaque.
LoopRole defaultLoopRole(mlir::Operation *op);

/// False for KernelClass View and Movement.
bool defaultRoundsResult(mlir::Operation *op);

/// One per result element for KernelClass Elementwise, Reduction (per operand
/// element) and Window; zero for the others.
int64_t defaultFlops(mlir::Operation *op);

/// What leaves a reduction as it is: 0, 1, or the element type's lowest or
/// highest value (infinite for floats). A 64-bit integer's highest value is not
/// a double: convert with saturation.
double neutralElement(ReduceKind kind, mlir::Type elementType);

} // namespace autopar

#include "autopar/Interfaces/Interfaces.h.inc"

#endif // AUTOPAR_INTERFACES_INTERFACES_H
