//===- Json.h - JSON that people write --------------------------*- C++ -*-===//

#ifndef AUTOPAR_SUPPORT_JSON_H
#define AUTOPAR_SUPPORT_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace autopar {

/// As llvm::json::parse, but brackets that are nested too deeply for its
/// recursion and keys that stand twice in an object are errors.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// The same of a file. Messages call it `kind`: `cannot read plan file p.json:
/// No such file`, `plan file p.json is not JSON: ...`.
llvm::Expected<llvm::json::Value> readJsonFile(llvm::StringRef kind,
                                               llvm::StringRef path);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_JSON_H
