//===- MemoryFailure.h - Memory that runs out -------------------*- C++ -*-===//
//
// LLVM is compiled without exceptions: where no memory is left the process ends
// at once. It ends with a message that says what it was doing, and exit code 1.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_MEMORYFAILURE_H
#define AUTOPAR_SUPPORT_MEMORYFAILURE_H

#include "llvm/ADT/StringRef.h"

namespace autopar {

/// Installs the message, `TOOL: error: memory ran out while DOING; ...`. `tool`
/// must outlive the process's work.
void installMemoryFailure(const char *tool);

/// Says what the process begins to do: "importing node 'x' (MatMul)".
void setActivity(llvm::StringRef doing);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_MEMORYFAILURE_H
