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

/// Returns the parts of a module of the LLVM dialect. One part has the exported
/// symbols and the functions that only call; the others have kernels, about
/// equally many ops each. The parts are the same on every host. Parts that take
/// LLVM longest come first.
std::vector<ProgramPart> findParts(mlir::ModuleOp program);

/// Returns a module with copies of `part`'s definitions and of the constants
/// that they use. It declares functions of other parts. Symbols that were local
/// to the program become hidden.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(const ProgramPart &part,
                                             const mlir::SymbolTable &program);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_PROGRAMPARTS_H
