//===- Names.h - Attributes that Schedule attaches --------------*- C++ -*-===//

#ifndef AUTOPAR_SCHEDULE_NAMES_H
#define AUTOPAR_SCHEDULE_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace autopar::schedule {

// Attributes of kernels and communication.
inline constexpr llvm::StringLiteral kOp = "autopar.op";
inline constexpr llvm::StringLiteral kRowRank = "autopar.row_rank";
inline constexpr llvm::StringLiteral kInPlace = "autopar.in_place";
inline constexpr llvm::StringLiteral kSequence = "autopar.sequence";
inline constexpr llvm::StringLiteral kLayouts = "autopar.layouts";
/// The stream on which the op's work is put; without the attribute 0.
inline constexpr llvm::StringLiteral kStream = "autopar.stream";
// Attributes of buffers.
inline constexpr llvm::StringLiteral kValue = "autopar.value";
// Attributes of functions and of the module.
inline constexpr llvm::StringLiteral kArguments = "autopar.arguments";
inline constexpr llvm::StringLiteral kResults = "autopar.results";
inline constexpr llvm::StringLiteral kArenaBytes = "autopar.arena_bytes";
inline constexpr llvm::StringLiteral kPersistent = "autopar.persistent";

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_NAMES_H
