//===- HeldInputs.h - Inputs that a device reads in place -------*- C++ -*-===//
//
// Where the host's memory is the device's, an input needs no copy in the arena:
// the device reads it where the host holds it, and writes nothing over it.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_HELDINPUTS_H
#define AUTOPAR_COST_HELDINPUTS_H

#include "autopar/Interfaces/Sharding.h"

namespace autopar {

/// Every device's block is in the whole tensor as one piece of row-major
/// memory, all of it inside: rows of a batch do, columns do not.
bool isOnePiece(llvm::ArrayRef<int64_t> shape, const Sharding &sharding,
                const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_COST_HELDINPUTS_H
