//===- Precision.h - In which type an op is computed ------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_PRECISION_H
#define AUTOPAR_DIALECT_PRECISION_H

#include "autopar/Interfaces/Interfaces.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// `AutoparDialect::kPrecision` is one of these; a module without it computes
/// in the first.
inline constexpr llvm::StringRef kPrecisions[] = {"fp32", "tf32", "bf16",
                                                  "fp16"};

/// The op's class; Operands for an op that states none.
PrecisionClass precisionClassOf(mlir::Operation *op);

/// Converts `value`, a tensor, to the element type, at the builder's place.
mlir::Value convertTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::Type element);

/// Returns whether the module allows matrix multiplications of f32 to round
/// their operands to tf32.
bool allowsTf32(mlir::ModuleOp module);

} // namespace autopar

#endif // AUTOPAR_DIALECT_PRECISION_H
