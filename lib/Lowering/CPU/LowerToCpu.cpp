//===- LowerToCpu.cpp - Scheduled IR to loops and calls -------------------===//

#include "../Common/LowerProgram.h"
#include "KernelFunctions.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_LOWERTOCPU
#include "autopar/Lowering/Passes.h.inc"

namespace {

/// Makes kernels functions of loops, whose iterations the runtime's threads
/// share.
class LoopLaunches : public TargetKernels {
public:
  explicit LoopLaunches(ModuleOp module) : functions(module) {}

  LogicalResult launch(HostFunction &host, KernelOp kernel) override {
    FailureOr<cpu::LoopKernel> loop = functions.get(kernel);
    if (failed(loop))
      return failure();
    if (loop->work == 0)
      return success();
    SmallVector<Typed<void *>> buffers;
    SmallVector<Typed<int64_t>> scalars;
    for (unsigned number : loop->buffers)
      buffers.push_back(host.address(kernel->getOperand(number)));
    for (ArrayAttr axes : loop->positions)
      scalars.push_back(host.position(axes));
    host.call<aprt_launch>(host.op(describeKernel(kernel, "kernel")),
                           host.function(loop->function),
                           host.pointers(buffers), host.words(scalars),
                           loop->work, loop->grain);
    return success();
  }

private:
  cpu::KernelFunctions functions;
};

struct LowerToCpuPass : impl::LowerToCpuBase<LowerToCpuPass> {
  void runOnOperation() override {
    StringRef target = targetName(getOperation());
    if (target != kTargetCpu) {
      getOperation().emitError()
          << "the module was scheduled for " << target << ", not for a CPU";
      return signalPassFailure();
    }
    LoopLaunches kernels(getOperation());
    if (failed(lowerProgram(getOperation(), kernels)))
      signalPassFailure();
  }
};

} // namespace
} // namespace autopar
