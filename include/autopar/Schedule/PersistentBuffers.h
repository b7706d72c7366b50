//===- PersistentBuffers.h - What persistent buffers hold -------*- C++ -*-===//

#ifndef AUTOPAR_SCHEDULE_PERSISTENTBUFFERS_H
#define AUTOPAR_SCHEDULE_PERSISTENTBUFFERS_H

#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// Returns whether a persistent tensor is an input. Each micro-batch reads its
/// own part of it from the host's memory.
bool isHeldInput(BufferOp buffer);

/// Returns whether a persistent tensor is a state, which a step reads and
/// writes.
bool isState(BufferOp buffer);

/// The index of the parameter or setup value that `memref` is, among the
/// persistent tensors of its stage; nothing for other buffers.
std::optional<int64_t> constantIndex(mlir::Value memref);

} // namespace autopar

#endif // AUTOPAR_SCHEDULE_PERSISTENTBUFFERS_H
