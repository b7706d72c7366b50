//===- Replay.h - What the schedule does, step by step ----------*- C++ -*-===//
//
// The replays check the work of Schedule's passes and share no code with them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_REPLAY_H
#define AUTOPAR_LIB_SCHEDULE_REPLAY_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Replays the writes and reads of `func`. It is an error if a read does not
/// find the value that its buffer names, if buffers of one value name different
/// elements, or if a kernel writes over elements that it still reads.
mlir::LogicalResult replayMemory(mlir::func::FuncOp func);

/// Checks a kernel whose output `output` is stored over its input `input`. It
/// is an error if the kernel reads elements of that input which it may have
/// overwritten.
mlir::LogicalResult replayInPlace(KernelOp kernel, unsigned output,
                                  unsigned input);

/// Replays the streams of `func`. It is an error if two of them touch the same
/// memory, at least one of them writes, and no event says which comes first.
mlir::LogicalResult replayStreams(mlir::func::FuncOp func);

/// Replays the sends and receives of all stages. It is an error if one has no
/// counterpart or a stage waits for ever. A send is done when one of the
/// channel's `slots` is free; with none, when its receive is.
mlir::LogicalResult replayMessages(mlir::ModuleOp module, int64_t slots);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_REPLAY_H
