//===- OpLimits.h - What of the operators is left out -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_OPLIMITS_H
#define AUTOPAR_LIB_FRONTEND_OPLIMITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace autopar {

struct OpAndReason {
  llvm::StringLiteral name, reason;
};
/// By name: operators that are none of the table's, and why.
llvm::ArrayRef<OpAndReason> unsupportedOps();
/// What of an operator of the table is left out; "" if nothing is.
llvm::StringRef leftOutOf(llvm::StringRef name);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_OPLIMITS_H
