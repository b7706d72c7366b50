//===- HeldInputs.h - Inputs that a device reads in place -------*- C++ -*-===//
//
// On a device that uses the host's memory an input needs no copy in the arena:
// the device reads the input where the host holds it, and writes nothing over
// it.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_HELDINPUTS_H
#define AUTOPAR_COST_HELDINPUTS_H

#include "autopar/Interfaces/Sharding.h"

namespace autopar {

/// Returns whether each device's block is one piece of the whole tensor's
/// row-major memory, and lies inside it. Blocks of rows are one piece, blocks
/// of columns are not.
bool isOnePiece(llvm::ArrayRef<int64_t> shape, const Sharding &sharding,
                const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_COST_HELDINPUTS_H
