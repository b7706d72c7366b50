//===- GlobalProgram.h - What the equality checker compares with *- C++ -*-===//

#ifndef AUTOPAR_LIB_EQUALITY_GLOBALPROGRAM_H
#define AUTOPAR_LIB_EQUALITY_GLOBALPROGRAM_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace autopar {

/// One kept function: its arguments by source, its results by what they are.
struct GlobalFunction {
  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Attribute, unsigned> arguments, results;

  mlir::LogicalResult read(mlir::func::FuncOp kept);
  mlir::Value result(unsigned index) const;
};

/// The mesh and the kept copies of a module.
struct GlobalProgram {
  Mesh mesh;
  mlir::FlatSymbolRefAttr symbol;
  llvm::StringMap<GlobalFunction> functions; // by the name of the whole
  llvm::DenseMap<int64_t, mlir::Operation *> origins; // ops by number

  mlir::LogicalResult read(mlir::ModuleOp module);
  const GlobalFunction *find(llvm::StringRef name) const;
};

} // namespace autopar

#endif // AUTOPAR_LIB_EQUALITY_GLOBALPROGRAM_H
