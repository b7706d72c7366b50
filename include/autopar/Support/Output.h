//===- Output.h - Where the compiler writes ---------------------*- C++ -*-===//
//
// The writing is done by runtime/files: a plain file appears whole or not at
// all; devices, pipes and `-` (stdout) are written through. These functions
// turn its answers into llvm::Errors.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_OUTPUT_H
#define AUTOPAR_SUPPORT_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace autopar {

namespace runtime {
class Status;
}

/// Turns a status of the runtime into an error with the same message.
llvm::Error toError(const runtime::Status &status);

/// Writes `text` as the whole of `path`.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text);

/// Returns whether `path` is written to stdout. Text for a person then belongs
/// on stderr.
bool goesToStdout(llvm::StringRef path);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_OUTPUT_H
