//===- LowerToGpu.cpp - Scheduled IR to grids and calls -------------------===//

#include "../Common/LowerProgram.h"
#include "CudaSource.h"
#include "GridKernels.h"
#include "KernelTable.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_LOWERTOGPU
#include "autopar/Lowering/Passes.h.inc"

namespace {

/// Kernels of one gpu.module, launched by their numbers.
class GridLaunches : public TargetKernels {
public:
  GridLaunches(ModuleOp module, StringRef sourceFolder)
      : grids(module), sourceFolder(sourceFolder) {}

  LogicalResult launch(HostFunction &host, KernelOp kernel) override {
    FailureOr<gpu::GridKernel> grid = grids.get(kernel);
    if (failed(grid))
      return failure();
    if (grid->blocks == 0)
      return success();
    SmallVector<Typed<void *>> buffers;
    SmallVector<Typed<int64_t>> scalars;
    for (unsigned number : grid->buffers)
      buffers.push_back(host.address(kernel->getOperand(number)));
    for (ArrayAttr axes : grid->positions)
      scalars.push_back(host.position(axes));
    host.call<aprt_launch_grid>(
        host.op(describeKernel(kernel, "kernel")), host.kernel(grid->index),
        host.pointers(buffers), host.words(scalars), grid->blocks);
    return success();
  }

  std::vector<ProgramKernel> table() override {
    if (grids.module())
      gpu::setKernelTable(grids.module(), grids.rows());
    return grids.rows().vec();
  }

  LogicalResult finish(HostProgram &program, ArrayRef<std::string> functions,
                       StringRef manifest) override {
    if (sourceFolder.empty())
      return success();
    return gpu::emitCudaSource(program, grids.module(), grids.rows(), functions,
                               manifest, sourceFolder);
  }

private:
  gpu::GridKernels grids;
  StringRef sourceFolder;
};

struct LowerToGpuPass : impl::LowerToGpuBase<LowerToGpuPass> {
  using LowerToGpuBase::LowerToGpuBase;
  void runOnOperation() override {
    GridLaunches kernels(getOperation(), sourceFolder);
    if (failed(lowerProgram(getOperation(), kernels)))
      signalPassFailure();
  }
};

} // namespace
} // namespace autopar
