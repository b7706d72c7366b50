//===- KernelWork.cpp - What a kernel computes and moves ------------------===//

#include "autopar/Cost/KernelWork.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Precision.h"

using namespace mlir;

namespace autopar {

FlopsKind flopsKindOf(Operation *op, bool tf32) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (type.isBF16())
    return FlopsKind::Bf16;
  if (type.isF16())
    return FlopsKind::Fp16;
  bool multiplies = precisionClassOf(op) == PrecisionClass::Low;
  return tf32 && multiplies ? FlopsKind::Tf32 : FlopsKind::Fp32;
}

static bool onlyMoves(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel && kernel.getKernelClass() == KernelClass::Movement;
}

static double bytesRead(BlockArgument argument) {
  double bytes = bytesOf(argument.getType()), moved = 0;
  for (Operation *user : argument.getUsers()) {
    if (!onlyMoves(user))
      return bytes;
    for (Type type : user->getResultTypes())
      moved += bytesOf(type);
  }
  return std::min(bytes, moved);
}

KernelWork workOf(KernelOp kernel, bool tf32) {
  KernelWork work;
  work.launches = 1;
  double most = 0;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto item = dyn_cast<KernelOpInterface>(op);
    if (!item || op.getNumResults() == 0)
      continue;
    double flops = item.getFlops();
    work.flops += flops;
    if (flops > most) { // the op with the most operations decides the peak
      most = flops;
      work.kind = flopsKindOf(&op, tf32);
    }
  }
  for (BlockArgument argument : kernel.getBody().getArguments())
    work.bytes += bytesRead(argument);
  for (Value output : kernel.getOutputs())
    work.bytes += bytesOf(output.getType());
  return work;
}

} // namespace autopar
