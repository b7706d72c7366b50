//===- LibraryKinds.h - What a library computes in one call -----*- C++ -*-===//
//
// The columns of LibraryKinds.def that need neither MLIR nor the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_LIBRARYKINDS_H
#define AUTOPAR_INTERFACES_LIBRARYKINDS_H

#include "autopar/Interfaces/Enums.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace autopar {

enum class CallKind {
#define AUTOPAR_LIBRARY_KIND(kind, ...) kind,
#include "autopar/Interfaces/LibraryKinds.def"
};

/// A step that a library applies to the result of a call's root before it is
/// stored.
enum class EpilogueStep { Bias, Activation, Addend };

/// The roles of the operands that epilogues read: one value per column or
/// channel, and one per element.
inline constexpr llvm::StringLiteral kBiasRole = "bias";
inline constexpr llvm::StringLiteral kAddendRole = "addend";

/// A row of the table.
struct LibraryKind {
  /// The packed form of a constant depends on the types of the call's root, or
  /// on all ops of the call.
  enum PackedBy { Root, Call };

  CallKind kind;
  llvm::StringRef name, title;
  llvm::SmallVector<llvm::StringRef, 4> roles;
  unsigned required;      // of the roles: each call has the first ones
  llvm::StringRef packed; // a role; empty: no constant is packed
  PackedBy packedBy;
  llvm::SmallVector<EpilogueStep, 3> epilogue;
  bool hasImages;

  /// The place of `role` among the roles; nullopt if there is no such role.
  std::optional<unsigned> find(llvm::StringRef role) const;
};

const LibraryKind &libraryKind(CallKind kind);

llvm::StringRef stringifyCallKind(CallKind kind);
/// The kind of that name; nullopt if there is none.
std::optional<CallKind> symbolizeCallKind(llvm::StringRef name);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_LIBRARYKINDS_H
