//===- CopyKernel.cpp - Kernels that Schedule adds ------------------------===//

#include "CopyKernel.h"

using namespace mlir;

namespace autopar {

KernelOp createKernel(OpBuilder &builder, Location loc, TypeRange results,
                      ValueRange inputs) {
  auto kernel = KernelOp::create(builder, loc, results, inputs,
                                 /*outputs=*/ValueRange(), LibraryCallAttr());
  Block &body = kernel.getBody().emplaceBlock();
  for (Value input : inputs)
    body.addArgument(input.getType(), input.getLoc());
  return kernel;
}

KernelOp createCopy(OpBuilder &builder, Value value) {
  KernelOp kernel =
      createKernel(builder, value.getLoc(), value.getType(), value);
  kernel->setAttr(AutoparDialect::kOp, builder.getStringAttr("copy"));
  Block &body = kernel.getBody().front();
  OpBuilder bodyBuilder = OpBuilder::atBlockEnd(&body);
  YieldOp::create(bodyBuilder, value.getLoc(), body.getArguments());
  return kernel;
}

} // namespace autopar
