//===- Enums.h - Kinds that rules, costs and ops share ----------*- C++ -*-===//
//
// Generated enums without MLIR's parser: plain data may include this.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_ENUMS_H
#define AUTOPAR_INTERFACES_ENUMS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>

namespace mlir {
template <typename T, typename>
struct FieldParser; // what the generated code specialises
} // namespace mlir

#include "autopar/Interfaces/Enums.h.inc"

#endif // AUTOPAR_INTERFACES_ENUMS_H
