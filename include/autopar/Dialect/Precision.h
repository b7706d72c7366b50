//===- Precision.h - In which type an op is computed ------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_PRECISION_H
#define AUTOPAR_DIALECT_PRECISION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// On the module: "fp32" (or absent), "tf32", "bf16" or "fp16".
inline constexpr llvm::StringLiteral kPrecision = "autopar.precision";

/// What mixed precision does with an op, as PyTorch's autocast classes them.
enum class PrecisionClass {
  Low,      // sums of products: in the low type, with sums in fp32
  Full,     // exp, log, powers, sums, softmax, norms: in fp32
  Operands, // in the widest type of the operands
  Fixed,    // the op itself says its types: convert
};
PrecisionClass precisionClassOf(mlir::Operation *op);

/// Whether an element of the op's result may lie between two numbers of its
/// type until it is rounded: false where elements only move, are chosen, or
/// change without a loss.
bool roundsResult(mlir::Operation *op);

/// `value`, a tensor, converted to the element type, at the builder's place.
mlir::Value convertTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::Type element);

/// Whether products of f32 may round their operands to tf32.
bool allowsTf32(mlir::ModuleOp module);

} // namespace autopar

#endif // AUTOPAR_DIALECT_PRECISION_H
