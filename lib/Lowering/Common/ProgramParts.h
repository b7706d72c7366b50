//===- ProgramParts.h - Modules that compile on their own -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_PROGRAMPARTS_H
#define AUTOPAR_LIB_LOWERING_COMMON_PROGRAMPARTS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include <vector>

namespace autopar {

/// Definitions of a program that make one object.
struct ProgramPart {
  /// Functions that only call, which are not worth LLVM's time.
  bool onlyCalls;
  llvm::SmallVector<mlir::Operation *> definitions;
};

/// The parts of a module of the LLVM dialect: what only calls and what is
/// exported is one, kernels are others of about the same size each. The same on
/// every host. Those that take longest come first.
std::vector<ProgramPart> findParts(mlir::ModuleOp program);

/// Copies of `part`'s definitions and of the constants that they use; functions
/// of other parts are declared. What was local to the program is hidden.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(const ProgramPart &part,
                                             const mlir::SymbolTable &program);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_PROGRAMPARTS_H
