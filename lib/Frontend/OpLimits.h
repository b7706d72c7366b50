//===- OpLimits.h - What of the operators is left out -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_OPLIMITS_H
#define AUTOPAR_LIB_FRONTEND_OPLIMITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace autopar {

struct OpAndReason {
  llvm::StringLiteral name, reason;
};
/// The operators that the table does not have, by name, with the reason.
llvm::ArrayRef<OpAndReason> unsupportedOps();
/// The uses of an operator of the table that are left out; "" if none is.
llvm::StringRef leftOutOf(llvm::StringRef name);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_OPLIMITS_H
