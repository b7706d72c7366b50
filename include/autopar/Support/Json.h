//===- Json.h - JSON that people write --------------------------*- C++ -*-===//

#ifndef AUTOPAR_SUPPORT_JSON_H
#define AUTOPAR_SUPPORT_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace autopar {

/// Parses like llvm::json::parse. In addition it is an error if brackets are
/// nested too deeply for the parser's recursion, or a key is twice in an
/// object.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Parses a file in the same way. Messages call the file `kind`. Example with
/// "plan file": `cannot read plan file p.json: No such file`, `plan file p.json
/// is not JSON: ...`.
llvm::Expected<llvm::json::Value> readJsonFile(llvm::StringRef kind,
                                               llvm::StringRef path);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_JSON_H
