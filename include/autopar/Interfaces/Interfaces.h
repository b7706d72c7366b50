//===- Interfaces.h - All that a pass may ask of an op ----------*- C++ -*-===//

#ifndef AUTOPAR_INTERFACES_INTERFACES_H
#define AUTOPAR_INTERFACES_INTERFACES_H

#include "autopar/Interfaces/LibraryKinds.h"
#include "autopar/Interfaces/Sharding.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"

namespace autopar {

/// The facts that localize needs beside operands and types.
struct Localization {
  const ShardingRule &rule;
  const Assignment &assignment;
  const Mesh &mesh;
  mlir::FlatSymbolRefAttr meshSymbol;

  /// The sub-axes that split `factor`; empty if each device has all of it.
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

/// The order of a tensor's dimensions in memory (Dialect/Layout.h).
using Layout = llvm::SmallVector<int64_t, 4>;
/// The layout in which a value is stored.
using LayoutOf = llvm::function_ref<Layout(mlir::Value)>;

/// The way in which a loop nest computes an op.
enum class LoopRole {
  Source,    // no tensor is read: constant, iota, block_offset
  Pointwise, // the result element at index i reads each operand at i
  Spread,    // the result element at index i reads the operand at some of the
             // indices in i: broadcast
  Remap,     // each result element is one operand element, at another index
  Scatter,   // like Remap, but contiguous reads become strided: transposes
             // that move the innermost dimension
  RowReduction, // reads whole rows of its operand (getRowRank)
  Whole,        // needs its own loop nest: pool, scan, gather_nd, ...
  View,         // same elements in the same order: no work
  Opaque,       // not a compute op: communication, return
};

/// The types in which mixed precision computes an op, in the classes of
/// PyTorch's autocast.
enum class PrecisionClass {
  Low,      // einsum, convolution: in the low type, with sums in fp32
  Full,     // exp, log, powers, sums, softmax, norms: in fp32
  Operands, // in the widest type of the operands
  Fixed,    // the op states its types itself: convert
};

/// The default of getLoopRole, by kernel class: Elementwise is Pointwise,
/// Movement is Remap, a Reduction that has rows is RowReduction, and a View is
/// View. All others are Whole, or Opaque if they compute nothing.
LoopRole defaultLoopRole(mlir::Operation *op);

/// The default of roundsResult: false for the kernel classes View and Movement,
/// which move elements as they are.
bool defaultRoundsResult(mlir::Operation *op);

/// The default of getFlops: one operation per result element for the kernel
/// classes Elementwise and Window, one per operand element for Reduction, and
/// none for the others.
int64_t defaultFlops(mlir::Operation *op);

/// The neutral element of a reduction: 0, 1, or the lowest or highest value of
/// the element type (infinite for floats). The highest value of a 64-bit
/// integer is not a double, so convert with saturation.
double neutralElement(ReduceKind kind, mlir::Type elementType);

} // namespace autopar

#include "autopar/Interfaces/Interfaces.h.inc"

#endif // AUTOPAR_INTERFACES_INTERFACES_H
