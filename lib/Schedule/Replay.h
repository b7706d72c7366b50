//===- Replay.h - What the schedule does, step by step ----------*- C++ -*-===//
//
// Shares no code with the passes whose work it checks.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_REPLAY_H
#define AUTOPAR_LIB_SCHEDULE_REPLAY_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Replays the writes and reads of `func`: an error where a read does not find
/// the value that its buffer names, where buffers of one value name different
/// elements, or where a kernel writes over what it reads.
mlir::LogicalResult replayMemory(mlir::func::FuncOp func);

/// An error where `kernel`, whose output `output` is stored over its input
/// `input`, reads elements of that input which it may have overwritten.
mlir::LogicalResult replayInPlace(KernelOp kernel, unsigned output,
                                  unsigned input);

/// Replays the streams of `func`: an error where two of them touch the same
/// memory, one writing, and no event says which comes first.
mlir::LogicalResult replayStreams(mlir::func::FuncOp func);

/// Replays sends and receives of all stages: an error where one has no
/// counterpart or a stage waits for ever. A send is done when one of the
/// channel's `slots` is free; with none, when its receive is.
mlir::LogicalResult replayMessages(mlir::ModuleOp module, int64_t slots);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_REPLAY_H
