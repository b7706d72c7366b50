//===- FunctionAttributes.h - Attributes of arguments and results -*- C++ -===//

#ifndef AUTOPAR_DIALECT_FUNCTIONATTRIBUTES_H
#define AUTOPAR_DIALECT_FUNCTIONATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// Sets the attribute `name` of each argument; null: that one stays as it is.
/// Set one by one, each would make a list of all of them.
void setArgAttrs(mlir::func::FuncOp function, llvm::StringRef name,
                 llvm::ArrayRef<mlir::Attribute> attributes);
/// The same of results.
void setResultAttrs(mlir::func::FuncOp function, llvm::StringRef name,
                    llvm::ArrayRef<mlir::Attribute> attributes);

/// The pipeline stage that a function, or an op of @step, is in; 0 where there
/// is none.
int64_t stageOf(mlir::Operation *op);

/// Whether it is `@step`, or the `@step_s` of a stage.
bool isStep(mlir::func::FuncOp function);

} // namespace autopar

#endif // AUTOPAR_DIALECT_FUNCTIONATTRIBUTES_H
