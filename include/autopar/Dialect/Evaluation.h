//===- Evaluation.h - How good a training is, while it trains ---*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_EVALUATION_H
#define AUTOPAR_DIALECT_EVALUATION_H

#include "llvm/ADT/StringRef.h"

namespace autopar {

/// Module: the recipe of the training whose model this one evaluates.
inline constexpr llvm::StringLiteral kEvaluation = "autopar.evaluation";
/// Module: its metrics, and when the training asks for them, as the manifest
/// has them (docs/RuntimeABI.md).
inline constexpr llvm::StringLiteral kMetrics = "autopar.metrics";
/// Module: the name of the input that says which rows of a batch count.
inline constexpr llvm::StringLiteral kCountedRows = "autopar.counted_rows";

} // namespace autopar

#endif // AUTOPAR_DIALECT_EVALUATION_H
