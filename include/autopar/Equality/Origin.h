//===- Origin.h - How a local op names its global one -----------*- C++ -*-===//

#ifndef AUTOPAR_EQUALITY_ORIGIN_H
#define AUTOPAR_EQUALITY_ORIGIN_H

#include "mlir/IR/BuiltinAttributes.h"

namespace autopar {

/// The attribute `autopar.origin` for part `number` (from 0, in program order)
/// of the ops into which the composite with the origin `composite` decomposes:
/// `array<i64: 3>` -> `array<i64: 3, 1>`.
inline mlir::DenseI64ArrayAttr originOfPart(mlir::DenseI64ArrayAttr composite,
                                            int64_t number) {
  llvm::SmallVector<int64_t> path(composite.asArrayRef());
  path.push_back(number);
  return mlir::DenseI64ArrayAttr::get(composite.getContext(), path);
}

} // namespace autopar

#endif // AUTOPAR_EQUALITY_ORIGIN_H
