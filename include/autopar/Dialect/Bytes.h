//===- Bytes.h - Sizes and places of tensors in memory ----------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_BYTES_H
#define AUTOPAR_DIALECT_BYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace autopar {

/// The bytes of one element; an i1 takes one byte.
inline int64_t elementBytes(mlir::Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// The bytes of a dense tensor or memref.
inline int64_t bytesOf(mlir::Type type) {
  auto shaped = llvm::cast<mlir::ShapedType>(type);
  return shaped.getNumElements() * elementBytes(shaped.getElementType());
}

/// An autopar.buffer names a value, or a part of one. The number of elements
/// from the value's first element to the buffer's first element; 0 unless the
/// buffer is a part.
inline int64_t elementOffset(mlir::Type type) {
  auto memref = llvm::dyn_cast<mlir::MemRefType>(type);
  if (!memref || memref.getLayout().isIdentity())
    return 0;
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  bool known = succeeded(memref.getStridesAndOffset(strides, offset));
  return known && !mlir::ShapedType::isDynamic(offset) ? offset : 0;
}

/// The same distance in bytes.
inline int64_t byteOffset(mlir::Type type) {
  auto shaped = llvm::cast<mlir::ShapedType>(type);
  return elementOffset(type) * elementBytes(shaped.getElementType());
}

} // namespace autopar

#endif // AUTOPAR_DIALECT_BYTES_H
