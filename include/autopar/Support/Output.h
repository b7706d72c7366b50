//===- Output.h - Where the compiler writes ---------------------*- C++ -*-===//
//
// runtime/files writes: plain files appear whole or not at all, devices, pipes
// and `-` (stdout) are written through. Here its answers become llvm::Errors.
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

/// Failures keep their message.
llvm::Error toError(const runtime::Status &status);

/// Writes `text` as the whole of `path`.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text);

/// Whether `path` is written to stdout, whose other text belongs on stderr
/// then.
bool goesToStdout(llvm::StringRef path);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_OUTPUT_H
