//===- HeldInputs.h - Inputs read where the host holds them -----*- C++ -*-===//

#ifndef AUTOPAR_SCHEDULE_HELDINPUTS_H
#define AUTOPAR_SCHEDULE_HELDINPUTS_H

#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// Whether a persistent tensor is an input, of which each micro-batch reads a
/// part of its own where the host holds it.
bool isHeldInput(BufferOp buffer);

} // namespace autopar

#endif // AUTOPAR_SCHEDULE_HELDINPUTS_H
