//===- Emit.h - Code for one element of each op's result --------*- C++ -*-===//
//
// Each op has an overload of `emitElement` in the file of its family: it emits
// the result's element at an index, in the type that arithmetic uses. An op
// without an overload has no loops.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_LOOPS_EMIT_H
#define AUTOPAR_LIB_LOWERING_LOOPS_EMIT_H

#include "LoopEmitter.h"
#include "autopar/Dialect/OpTable.h"

namespace autopar::loops {

using At = llvm::ArrayRef<Index>;

/// Overloads `Value emitElement(LoopEmitter &emit, FooOp op, At at)` of each
/// family of ops.
using EmitTable = OpTable<mlir::Value, LoopEmitter &, At>;
void addElementwise(EmitTable &table); // EmitElementwise.cpp
void addMovement(EmitTable &table);    // EmitMovement.cpp
void addReduction(EmitTable &table);   // EmitReduction.cpp

} // namespace autopar::loops

#endif // AUTOPAR_LIB_LOWERING_LOOPS_EMIT_H
