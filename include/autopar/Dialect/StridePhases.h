//===- StridePhases.h - Points that are as many strides apart ---*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_STRIDEPHASES_H
#define AUTOPAR_DIALECT_STRIDEPHASES_H

#include "autopar/Dialect/TensorBuilder.h"
#include <map>

namespace autopar {

/// The positions first, first + step, ... of a window.
struct Positions {
  int64_t first, step, count;
};

/// A phase: the points start, start + stride, ... of a dimension, which windows
/// read with the same positions.
struct StridePhase {
  Positions positions;
  int64_t start, count; // the first point, and how many there are
  int64_t offset;       // the window that reads `start` with the first position
  int64_t dilation;     // windows from one position to the next

  /// The points that windows read with position `first` and with no position
  /// before it.
  static std::optional<StridePhase> of(int64_t first, int64_t window,
                                       int64_t stride, int64_t dilation,
                                       int64_t padLow, int64_t size);
};

/// A tensor that is put together from its phases. A phase has every strides-th
/// point of each dimension.
class Interleaving {
public:
  using Sizes = llvm::ArrayRef<int64_t>;

  Interleaving(TensorBuilder &b, Sizes strides, mlir::RankedTensorType type)
      : b(b), strides(strides), type(type) {}

  /// Adds `part` to the points starts, starts + strides, ...; points outside of
  /// the tensor are cut off.
  void add(Sizes starts, mlir::Value part);
  /// The whole tensor; it is zero where nothing was added.
  mlir::Value join() const;

private:
  using Starts = llvm::SmallVector<int64_t>;
  mlir::Value joined(Starts &starts, size_t dim) const;

  TensorBuilder &b;
  llvm::SmallVector<int64_t> strides;
  mlir::RankedTensorType type;
  std::map<Starts, mlir::Value> phases; // by their first points
};

} // namespace autopar

#endif // AUTOPAR_DIALECT_STRIDEPHASES_H
