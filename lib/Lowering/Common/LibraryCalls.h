//===- LibraryCalls.h - Kernels that a library computes ---------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H
#define AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H

#include "HostProgram.h"

namespace autopar {

/// The descriptor of a kernel with `library`, without a packed slot.
LibraryCall describeLibraryCall(KernelOp kernel);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H
