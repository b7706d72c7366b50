//===- ScheduledWork.cpp - A function of kernels as a work list -----------===//

#include "ScheduledWork.h"
#include "autopar/Dialect/KernelFacts.h"

using namespace mlir;

namespace autopar {

static void addKernel(FunctionWork &work, KernelOp kernel) {
  WorkItem &item = work.add(kernel.getInputs(), kernel.getResults());
  auto inPlace =
      kernel->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kInPlace);
  if (!inPlace)
    return;
  for (auto [output, input] : llvm::enumerate(inPlace.asArrayRef()))
    if (input >= 0)
      item.inPlace.push_back({unsigned(output), unsigned(input)});
}

ScheduledWork workOf(func::FuncOp func) {
  ScheduledWork result{FunctionWork(func), {}, {}};
  Block &body = func.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (loopRoleOf(&op) == LoopRole::View) {
      result.views.push_back(&op);
      continue;
    }
    if (auto kernel = dyn_cast<KernelOp>(op))
      addKernel(result.work, kernel);
    else
      result.work.addCommunication(&op);
    result.ops.push_back(&op);
  }
  for (OpOperand &returned : body.getTerminator()->getOpOperands())
    result.work.addResult(func, returned.getOperandNumber(),
                          result.work.bufferOf(returned.get()));
  return result;
}

LogicalResult checkKernelsFormed(func::FuncOp func) {
  for (Operation &op : func.getBody().front()) {
    if (!isa<KernelOp, func::ReturnOp>(op) && !isCommunication(&op) &&
        loopRoleOf(&op) != LoopRole::View)
      return op.emitError() << "is outside of a kernel; run "
                               "autopar-form-kernels first";
  }
  for (auto [index, copied] : llvm::enumerate(resultsToCopy(func)))
    if (copied)
      return func.emitError()
             << "result " << index
             << " shares its memory with an argument or another result; run "
                "autopar-form-kernels first";
  ScheduledWork work = workOf(func);
  for (auto [result, copied] :
       llvm::zip_equal(work.work.stateResults, statesToCopy(work.work.list)))
    if (copied)
      return func.emitError()
             << "result " << result << ", "
             << func.getResultAttr(result, AutoparDialect::kResult)
             << ", is written while the state is still read; run "
                "autopar-form-kernels first";
  return success();
}

} // namespace autopar
