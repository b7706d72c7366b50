//===- Bytes.h - Sizes and places of tensors in memory ----------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_BYTES_H
#define AUTOPAR_DIALECT_BYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace autopar {

/// Bytes of one element; an i1 takes one.
inline int64_t elementBytes(mlir::Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// Bytes of a dense tensor or memref.
inline int64_t bytesOf(mlir::Type type) {
  auto shaped = llvm::cast<mlir::ShapedType>(type);
  return shaped.getNumElements() * elementBytes(shaped.getElementType());
}

/// Elements from the first one of the value that an autopar.buffer names to the
/// first one of the buffer, which is not 0 if the buffer is a part of it.
inline int64_t elementOffset(mlir::Type type) {
  auto memref = llvm::dyn_cast<mlir::MemRefType>(type);
  if (!memref || memref.getLayout().isIdentity())
    return 0;
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  bool known = succeeded(memref.getStridesAndOffset(strides, offset));
  return known && !mlir::ShapedType::isDynamic(offset) ? offset : 0;
}

/// The same in bytes.
inline int64_t byteOffset(mlir::Type type) {
  auto shaped = llvm::cast<mlir::ShapedType>(type);
  return elementOffset(type) * elementBytes(shaped.getElementType());
}

} // namespace autopar

#endif // AUTOPAR_DIALECT_BYTES_H
