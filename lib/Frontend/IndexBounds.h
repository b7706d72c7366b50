//===- IndexBounds.h - Which indices an input may have ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_INDEXBOUNDS_H
#define AUTOPAR_LIB_FRONTEND_INDEXBOUNDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// A dimension of a tensor of the model whose elements indices count.
struct IndexedDim {
  mlir::StringAttr table; // the tensor's name
  int64_t dim = 0;
  int64_t size = 0;
};

/// The elements of a tensor from `starts` on, `sizes` in each dimension.
struct TensorPart {
  mlir::Value tensor;
  llvm::SmallVector<int64_t> starts, sizes;

  static TensorPart whole(mlir::Value tensor);
};

/// A node that always runs uses what a part of an input has as indices.
struct IndexUse {
  mlir::Operation *user; // makes the node's result
  TensorPart indices;    // of an argument
  IndexedDim indexed;
};

/// The parts of arguments that a part has the elements of. Ops that only move
/// or convert integers are followed, so that `Cast(ids[:, 1])` is column 1 of
/// `ids`; what arithmetic computes is not.
llvm::SmallVector<TensorPart> partsOfArguments(const TensorPart &part);

/// The bounds of inputs, as `AutoparDialect::kIndexBounds` has them, by the
/// uses whose users are still in @step.
mlir::ArrayAttr findIndexBounds(mlir::func::FuncOp step,
                                llvm::ArrayRef<IndexUse> uses);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_INDEXBOUNDS_H
