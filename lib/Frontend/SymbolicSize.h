//===- SymbolicSize.h - Sizes computed from symbolic sizes ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_SYMBOLICSIZE_H
#define AUTOPAR_LIB_FRONTEND_SYMBOLICSIZE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace autopar {

/// The size that a dimension's name means if it is arithmetic on others, as
/// exporters write it: "past + 1", "2*(a + b)", "floor(n/2)", "a // b", "a %
/// b", "Max(1, n)"; / and // divide and round down. Nothing if the text is no
/// such expression, `sizeOf` knows no size for a name in it, or numbers
/// overflow.
std::optional<int64_t> evaluateSize(
    llvm::StringRef text,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> sizeOf);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_SYMBOLICSIZE_H
