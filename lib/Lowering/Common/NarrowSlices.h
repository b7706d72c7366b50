//===- NarrowSlices.h - Slices of memory as places of their own -*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_COMMON_NARROWSLICES_H
#define AUTOPAR_LOWERING_COMMON_NARROWSLICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// Time steps and other repetitions differ in which rows of a buffer they read
/// or write. Where such rows are one piece of memory, the kernel gets their
/// address, and all repetitions are one kernel:
///
///   kernel(arena[0] : 20x8) { slice starts [3, 0] -> 1x8, f }
///   -> kernel(arena[96] : 1x8) { f }
///
/// and a long concat of such pieces becomes a copy of each.
void narrowSlices(mlir::func::FuncOp function);

} // namespace autopar

#endif // AUTOPAR_LOWERING_COMMON_NARROWSLICES_H
