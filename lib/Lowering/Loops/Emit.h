//===- Emit.h - Code for one element of each op's result --------*- C++ -*-===//
//
// One overload per op, one file per family: the result's element at an index,
// in the type that arithmetic uses. What has no overload has no loops.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_LOOPS_EMIT_H
#define AUTOPAR_LIB_LOWERING_LOOPS_EMIT_H

#include "LoopEmitter.h"

namespace autopar::loops {

using At = llvm::ArrayRef<Index>;

// EmitElementwise.cpp
mlir::Value emitElement(LoopEmitter &emit, UnaryOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, BinaryOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, CompareOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, SelectOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, ConvertOp op, At at);

// EmitMovement.cpp
mlir::Value emitElement(LoopEmitter &emit, ConstantOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, IotaOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, BroadcastOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, ReshapeOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, TransposeOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, SliceOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, PadOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, ConcatOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, GatherOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, GatherElementsOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, GatherNdOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, SliceBlockOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, MaskOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, KeepFirstOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, BlockOffsetOp op, At at);

// EmitReduction.cpp
mlir::Value emitElement(LoopEmitter &emit, ReduceOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, SoftmaxOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, NormalizeOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, ScanOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, TopKOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, PoolOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, ConvolutionOp op, At at);
mlir::Value emitElement(LoopEmitter &emit, EinsumOp op, At at);

} // namespace autopar::loops

#endif // AUTOPAR_LIB_LOWERING_LOOPS_EMIT_H
