//===- QuantizedValues.h - Numbers as integers of few bits ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_QUANTIZEDVALUES_H
#define AUTOPAR_LIB_FRONTEND_QUANTIZEDVALUES_H

#include "OnnxNode.h"

namespace autopar {

/// The least and the largest integer of a type.
struct IntegerRange {
  int64_t low, high;
};
/// The range of an integer type of at most 32 bits.
IntegerRange rangeOf(mlir::Type element);

/// round(x) + zero, saturated to `element`: an integer type of 8 or 16 bits.
/// `x` is of floats, `zero` of any type and x's shape, or null. Halves round to
/// even.
Value saturate(OnnxNode &node, Value x, Value zero, mlir::Type element);

/// Returns whether the value has one element, whatever its rank.
bool isOneNumber(Value value);
/// Its one element in every place of `shape`.
Value spreadNumber(OnnxNode &node, Value number, llvm::ArrayRef<int64_t> shape);

/// An error if an input that is there is of another type than 8-bit integers.
LogicalResult requireBytes(OnnxNode &node, llvm::ArrayRef<unsigned> inputs);

/// A factor of exact products: integers of at most `most` in size, as floats.
struct WholeFactor {
  Value value;
  double most;
};
/// 8-bit `x` minus its zero point, which has x's shape, or is null. `known` are
/// the zero point's numbers, if they are known.
WholeFactor wholeFactor(OnnxNode &node, Value x, Value zero,
                        const std::optional<llvm::SmallVector<double>> &known);
/// The number of products whose sum is exact in f32 in any order.
int64_t exactTerms(const WholeFactor &a, const WholeFactor &b);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_QUANTIZEDVALUES_H
