//===- Evaluation.h - How good a training is, while it trains ---*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_EVALUATION_H
#define AUTOPAR_DIALECT_EVALUATION_H

#include "llvm/ADT/StringRef.h"

namespace autopar {

/// Attribute of the module: the recipe of the training whose model this module
/// evaluates.
inline constexpr llvm::StringLiteral kEvaluation = "autopar.evaluation";
/// Attribute of the module: the metrics of the evaluation, and when the
/// training asks for them, in the form of the manifest (docs/RuntimeABI.md).
inline constexpr llvm::StringLiteral kMetrics = "autopar.metrics";
/// Attribute of the module: the name of the input that says which rows of a
/// batch count.
inline constexpr llvm::StringLiteral kCountedRows = "autopar.counted_rows";

} // namespace autopar

#endif // AUTOPAR_DIALECT_EVALUATION_H
