//===- Precision.h - In which type an op is computed ------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_PRECISION_H
#define AUTOPAR_DIALECT_PRECISION_H

#include "autopar/Interfaces/Interfaces.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// On the module: one of kPrecisions; absent: "fp32".
inline constexpr llvm::StringLiteral kPrecision = "autopar.precision";
inline constexpr llvm::StringRef kPrecisions[] = {"fp32", "tf32", "bf16",
                                                  "fp16"};

/// On the module: devices may add up their parts of a gradient in the type in
/// which they were computed. Absent: in the gradient's own.
inline constexpr llvm::StringLiteral kNarrowGradientSums =
    "autopar.narrow_gradient_sums";

/// Operands for an op that says nothing.
PrecisionClass precisionClassOf(mlir::Operation *op);

/// `value`, a tensor, converted to the element type, at the builder's place.
mlir::Value convertTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::Type element);

/// Whether matrix multiplications of f32 may round their operands to tf32.
bool allowsTf32(mlir::ModuleOp module);

} // namespace autopar

#endif // AUTOPAR_DIALECT_PRECISION_H
