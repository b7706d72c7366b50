//===- PersistentBuffers.h - What persistent buffers hold -------*- C++ -*-===//

#ifndef AUTOPAR_SCHEDULE_PERSISTENTBUFFERS_H
#define AUTOPAR_SCHEDULE_PERSISTENTBUFFERS_H

#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// Whether a persistent tensor is an input, of which each micro-batch reads a
/// part of its own where the host holds it.
bool isHeldInput(BufferOp buffer);

/// Whether a persistent tensor is a state, which a step reads and writes.
bool isState(BufferOp buffer);

/// The index among its stage's persistent tensors of the parameter or setup
/// value that `memref` is; nothing of other buffers.
std::optional<int64_t> constantIndex(mlir::Value memref);

} // namespace autopar

#endif // AUTOPAR_SCHEDULE_PERSISTENTBUFFERS_H
