//===- TensorBuilder.h - A vocabulary to build ops with ---------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_TENSORBUILDER_H
#define AUTOPAR_DIALECT_TENSORBUILDER_H

#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// Builds ops at one place in IR, with one location. The types of results
/// follow from the operands; two operands must have one type.
class TensorBuilder {
public:
  using Value = mlir::Value;
  using Sizes = llvm::ArrayRef<int64_t>;

  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  //===--- Constants ---===//

  Value splat(mlir::RankedTensorType type, double value);
  Value splatLike(Value like, double value);
  /// A constant of rank 0.
  Value scalar(mlir::Type element, double value);

  //===--- Elementwise ---===//

  Value convert(Value value, mlir::Type element);
  Value unary(UnaryKind kind, Value value);
  Value binary(BinaryKind kind, Value lhs, Value rhs);
  Value binary(BinaryKind kind, Value lhs, double rhs);
  Value add(Value lhs, Value rhs) { return binary(BinaryKind::Add, lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return binary(BinaryKind::Sub, lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return binary(BinaryKind::Mul, lhs, rhs); }
  Value mul(Value lhs, double rhs) { return binary(BinaryKind::Mul, lhs, rhs); }
  Value div(Value lhs, Value rhs) { return binary(BinaryKind::Div, lhs, rhs); }
  Value compare(ComparePredicate predicate, Value lhs, Value rhs);
  Value compare(ComparePredicate predicate, Value lhs, double rhs);
  Value select(Value condition, Value onTrue, Value onFalse);
  /// Selects `value` where the condition holds, and zero elsewhere.
  Value selectOrZero(Value condition, Value value);

  //===--- Shape ---===//

  /// A tensor of this shape whose elements are their positions along `dim`.
  Value iota(Sizes shape, mlir::Type element, int64_t dim);
  Value reshape(Value value, Sizes shape);
  Value transpose(Value value, Sizes perm);
  /// Dimension i of the operand becomes dimension dims[i] of `shape`.
  Value broadcast(Value value, Sizes shape, Sizes dims);
  /// A tensor of this shape whose elements all are the scalar.
  Value broadcast(Value scalar, Sizes shape) {
    return broadcast(scalar, shape, {});
  }
  /// The elements [start, start + size) of each dimension, by steps.
  Value slice(Value value, Sizes starts, Sizes sizes, Sizes steps);
  /// The elements [start, start + size) of one dimension.
  Value slice(Value value, int64_t dim, int64_t start, int64_t size);
  Value concat(mlir::ValueRange values, int64_t dim);
  /// Pads the operand with zeros, or with another number.
  Value pad(Value value, Sizes low, Sizes high, double filled = 0);
  /// The inverse of a slice of a tensor of `shape`: each element is at its
  /// place, and zeros are elsewhere.
  Value place(Value value, Sizes starts, Sizes steps, Sizes shape);

  //===--- Reductions and contractions ---===//

  Value reduce(ReduceKind kind, Value value, Sizes dims);
  /// Reduces over all dimensions.
  Value sum(Value value);
  /// Broadcasts a value that was reduced over `dims` to the shape of `like`.
  Value spread(Value reduced, Value like, Sizes dims);
  /// An einsum such as "ab,bc->ac"; the sizes of the result follow from the
  /// letters.
  Value einsum(llvm::StringRef equation, Value lhs, Value rhs);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  Value reverse(Value value, int64_t dim);
  Value spreadApart(Value value, int64_t dim, int64_t step);
};

} // namespace autopar

#endif // AUTOPAR_DIALECT_TENSORBUILDER_H
