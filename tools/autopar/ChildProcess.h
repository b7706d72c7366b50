//===- ChildProcess.h - A program that another one runs ---------*- C++ -*-===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_CHILDPROCESS_H
#define AUTOPAR_TOOLS_AUTOPAR_CHILDPROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace autopar::driver {

/// The signals by which a person or a scheduler ends this command, SIGINT and
/// SIGTERM, are for the program that it runs from now on.
void passOnSignals();
/// The first of them that came; 0: none.
int signalThatCame();

/// A program gets this beside its arguments.
struct ChildPlace {
  std::vector<std::string> environment; // NAME=VALUE, instead of what is there
  int output = -1;                      // its stdout, unless it is negative
};

/// Runs a program to its end: its exit code, or 128 and the number of the
/// signal that killed it. `watch` is called a hundred times a second until it
/// returns false. The program gets SIGTERM when this process ends, however that
/// is.
llvm::Expected<int> runChild(
    llvm::ArrayRef<std::string> command, const ChildPlace &place,
    llvm::function_ref<bool()> watch = [] { return false; });

/// Makes an empty file in which a program tells something: its path.
llvm::Expected<std::string> makeAnswerFile();

} // namespace autopar::driver

#endif // AUTOPAR_TOOLS_AUTOPAR_CHILDPROCESS_H
