//===- GlobalProgram.h - What the equality checker compares with *- C++ -*-===//

#ifndef AUTOPAR_LIB_EQUALITY_GLOBALPROGRAM_H
#define AUTOPAR_LIB_EQUALITY_GLOBALPROGRAM_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace autopar {

/// A kept function: its arguments by source, and its results by their attribute
/// `autopar.result`.
struct GlobalFunction {
  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Attribute, unsigned> arguments, results;

  mlir::LogicalResult read(mlir::func::FuncOp kept);
  mlir::Value result(unsigned index) const;
};

/// The mesh and the kept copies of a module.
class GlobalProgram {
public:
  Mesh mesh;
  mlir::FlatSymbolRefAttr symbol;

  mlir::LogicalResult read(mlir::ModuleOp module);
  const GlobalFunction *find(llvm::StringRef name) const;

  /// Writes the composites whose parts `origin` numbers as these parts, by
  /// their own definition: users of a composite read its parts from then on.
  /// An origin that numbers nothing changes nothing.
  void decomposeFor(mlir::DenseI64ArrayAttr origin);
  /// The op with this number; null if there is none.
  mlir::Operation *lookup(mlir::DenseI64ArrayAttr origin) const;
  /// Adds notes to an error that show the global op, and the composite that it
  /// is a part of.
  void noteOp(mlir::InFlightDiagnostic &diagnostic, mlir::Operation *op) const;
  /// The value that users of `value` read: itself, or the value that replaced
  /// the result of a composite.
  mlir::Value resolve(mlir::Value value) const;

private:
  mlir::LogicalResult addFunction(mlir::func::FuncOp function,
                                  mlir::StringAttr name);
  void decompose(mlir::Operation *composite, mlir::DenseI64ArrayAttr origin);

  llvm::StringMap<GlobalFunction> functions; // by the name of the whole
  llvm::DenseMap<mlir::Attribute, mlir::Operation *> origins;
  llvm::DenseMap<mlir::Value, mlir::Value> replaced; // results of composites
};

} // namespace autopar

#endif // AUTOPAR_LIB_EQUALITY_GLOBALPROGRAM_H
