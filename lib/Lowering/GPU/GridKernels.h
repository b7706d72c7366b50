//===- GridKernels.h - Kernels as functions of a grid of threads -*- C++-*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_GRIDKERNELS_H
#define AUTOPAR_LIB_LOWERING_GPU_GRIDKERNELS_H

#include "../Common/HostProgram.h"
#include "../Loops/ConstantTables.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/StringMap.h"

namespace autopar::gpu {

using GridKernelRow = ProgramKernel;

/// The grid, the block and the arguments with which a kernel is launched.
struct GridKernel {
  int32_t index = 0; // in the manifest's "kernels"
  /// Operand numbers of the kernel op, one per pointer argument.
  llvm::SmallVector<unsigned> buffers;
  /// Mesh axes along which the device's index is one of the scalars.
  llvm::SmallVector<mlir::ArrayAttr> positions;
  int64_t blocks = 0; // 0: there is nothing to do
};

/// Makes one function per distinct kernel body:
/// `gpu.func @kernel_N_x(%p: !llvm.ptr..., %s: i64...) kernel` in `gpu.module
/// @kernels`, of scf, arith, math, llvm, gpu and nvvm ops. Shared memory is
/// `llvm.mlir.global internal @shared_...` in address space 3; constants of
/// many elements are tables in address space 1.
class GridKernels {
public:
  explicit GridKernels(mlir::ModuleOp module) : outer(module) {}
  mlir::FailureOr<GridKernel> get(KernelOp kernel);

  /// The manifest's "kernels".
  llvm::ArrayRef<GridKernelRow> rows() const { return table; }
  /// Null if there are no kernels.
  mlir::gpu::GPUModuleOp module() const { return kernels; }

private:
  struct Known {
    int32_t index;
    int64_t blocks;
  };
  mlir::FailureOr<Known> make(KernelOp kernel);

  mlir::ModuleOp outer;
  mlir::gpu::GPUModuleOp kernels;
  std::optional<loops::ConstantTables> tables;
  llvm::StringMap<Known> known;
  std::vector<GridKernelRow> table;
};

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_GRIDKERNELS_H
