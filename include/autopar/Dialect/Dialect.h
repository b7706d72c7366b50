//===- Dialect.h - The autopar dialect --------------------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_DIALECT_H
#define AUTOPAR_DIALECT_DIALECT_H

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interfaces/ShardingStep.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "autopar/Dialect/Dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Attributes.h.inc"

#define GET_OP_CLASSES
#include "autopar/Dialect/Ops.h.inc"

namespace autopar {

/// The mesh that `symbol` names in the symbol table around `from`. If there is
/// none, an error is reported at `from`.
mlir::FailureOr<Mesh> lookupMesh(mlir::Operation *from,
                                 mlir::FlatSymbolRefAttr symbol);

/// The ONNX node that a location stems from ("" if it carries none): every
/// location made by the importer is NameLoc(node name).
llvm::StringRef nodeName(mlir::Location loc);

/// Checks that `attribute` is a sharding of a value of `type` over a mesh that
/// exists. If not, an error that says `name` is reported at `op`.
mlir::LogicalResult verifySharding(mlir::Operation *op, llvm::StringRef name,
                                   mlir::Attribute attribute, mlir::Type type);

/// Checks that `steps`, an array of `#autopar.reshard_step` (null is an empty
/// one), lead from one sharding to another. If not, `emitError` begins the
/// error.
mlir::LogicalResult
verifySteps(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
            mlir::Attribute steps, const Sharding &from, const Sharding &to,
            const Mesh &mesh);

/// A state: the number of the argument that holds it, and the number of the
/// result that is its next value.
struct StatePair {
  unsigned argument, result;
};
/// The states of a function, in the order of its arguments. The verifier has
/// checked that each has a next value.
llvm::SmallVector<StatePair> statesOf(mlir::FunctionOpInterface function);

} // namespace autopar

#endif // AUTOPAR_DIALECT_DIALECT_H
