//===- FunctionAttributes.h - Attributes of arguments and results -*- C++ -===//

#ifndef AUTOPAR_DIALECT_FUNCTIONATTRIBUTES_H
#define AUTOPAR_DIALECT_FUNCTIONATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// Sets the attribute `name` of each argument; an argument with null stays as
/// it is. Setting them one by one would build the list of all attributes for
/// each argument.
void setArgAttrs(mlir::func::FuncOp function, llvm::StringRef name,
                 llvm::ArrayRef<mlir::Attribute> attributes);
/// The same for results.
void setResultAttrs(mlir::func::FuncOp function, llvm::StringRef name,
                    llvm::ArrayRef<mlir::Attribute> attributes);

/// The pipeline stage of a function, or of an op of @step; 0 without an
/// attribute.
int64_t stageOf(mlir::Operation *op);

/// Returns whether the function is `@step`, or the `@step_s` of a stage.
bool isStep(mlir::func::FuncOp function);

} // namespace autopar

#endif // AUTOPAR_DIALECT_FUNCTIONATTRIBUTES_H
