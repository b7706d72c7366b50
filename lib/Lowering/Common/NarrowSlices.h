//===- NarrowSlices.h - Slices of memory as places of their own -*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_NARROWSLICES_H
#define AUTOPAR_LIB_LOWERING_COMMON_NARROWSLICES_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// On a buffer op in persistent space: how many bytes after the tensor's begin
/// it begins. Made and read by Lowering alone.
inline constexpr llvm::StringLiteral kOffset = "autopar.offset";

/// Whether a buffer is an input that is read where the host holds it.
bool isHeldInput(BufferOp buffer);

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

#endif // AUTOPAR_LIB_LOWERING_COMMON_NARROWSLICES_H
