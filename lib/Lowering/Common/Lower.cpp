//===- Lower.cpp - The pipeline of the module's target --------------------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/CpuFeatures.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_LOWER
#include "autopar/Lowering/Passes.h.inc"

namespace {

/// The pass runs the pipeline of the module's target, which is not known when
/// passes are added.
struct Lower : impl::LowerBase<Lower> {
  using LowerBase::LowerBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpPassManager pipeline(ModuleOp::getOperationName());
    if (targetName(module) == kTargetCpu)
      buildLowerToCpuPipeline(pipeline);
    else
      buildLowerToGpuPipeline(pipeline, sourceFolder);
    if (failed(describeCpu(module)) || failed(runPipeline(pipeline, module)))
      signalPassFailure();
  }

private:
  LogicalResult describeCpu(ModuleOp module) {
    auto cpu = module->getAttrOfType<StringAttr>(AutoparDialect::kCpu);
    auto known = cpuFeatures(cpu ? cpu.getValue() : "");
    if (!known)
      return module.emitError(llvm::toString(known.takeError()));
    SmallVector<Attribute> features;
    for (const std::string &feature : *known)
      features.push_back(StringAttr::get(&getContext(), feature));
    module->setAttr(AutoparDialect::kCpuFeatures,
                    ArrayAttr::get(&getContext(), features));
    return success();
  }
};

} // namespace
} // namespace autopar
