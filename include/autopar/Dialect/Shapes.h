//===- Shapes.h - What is asked of every tensor's shape ---------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_SHAPES_H
#define AUTOPAR_DIALECT_SHAPES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace autopar {

/// The shape of a tensor or a buffer.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getShape();
}

/// The number of elements of a tensor or a buffer.
inline int64_t elementsOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getNumElements();
}

/// The size of the last dimension that has several elements; 1 if none has.
inline int64_t innermostSize(llvm::ArrayRef<int64_t> shape) {
  for (int64_t size : llvm::reverse(shape))
    if (size != 1)
      return size;
  return 1;
}

/// The dimensions of a size other than 1.
inline llvm::SmallVector<int64_t> wideDims(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> dims;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size != 1)
      dims.push_back(dim);
  return dims;
}

} // namespace autopar

#endif // AUTOPAR_DIALECT_SHAPES_H
