//===- Padding.h - GEMMs whose operands are padded --------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_PADDING_H
#define AUTOPAR_DIALECT_PADDING_H

#include "llvm/ADT/StringRef.h"

namespace autopar {

/// A unit attribute of a GEMM: the plan pads its operands so that their rows in
/// memory are aligned. It is gone after autopar-align-operands.
inline constexpr llvm::StringLiteral kPadded = "autopar.padded";

} // namespace autopar

#endif // AUTOPAR_DIALECT_PADDING_H
