//===- TargetTable.cpp - One table per target -----------------------------===//

#include "autopar/Cost/TargetTable.h"
#include "autopar/Cost/TargetNames.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace autopar {

bool LibraryCalls::take(Type elementType) const {
  if (elementType.isF32())
    return f32;
  if (elementType.isF16())
    return f16;
  return elementType.isBF16() ? bf16 : others;
}

bool LibraryCalls::take(Activation activation) const {
  return llvm::is_contained(activations, activation);
}

bool LibraryCalls::take(ArrayRef<EpilogueStep> steps) const {
  return llvm::any_of(epilogues, [&](const Epilogue &epilogue) {
    const EpilogueStep *at = epilogue.begin();
    for (EpilogueStep step : steps) {
      at = std::find(at, epilogue.end(), step);
      if (at == epilogue.end())
        return false;
      ++at;
    }
    return true;
  });
}

/// The table of the CPU: oneDNN, and the runtime's own loops for GEMMs of other
/// types.
static TargetTable cpuTable() {
  using Step = EpilogueStep;
  TargetTable cpu;
  LibraryCalls &gemm = cpu.libraries[CallKind::Gemm];
  gemm.epilogues = {{Step::Bias, Step::Activation, Step::Addend}};
  gemm.activations = {Activation::Relu,     Activation::GeluErf,
                      Activation::GeluTanh, Activation::Tanh,
                      Activation::Sigmoid,  Activation::Silu};
  gemm.inPlace = true;
  gemm.f16 = gemm.bf16 = true;
  LibraryCalls &convolution = cpu.libraries[CallKind::Convolution];
  convolution = gemm;
  convolution.epilogues = {{Step::Bias, Step::Addend, Step::Activation}};
  gemm.readsPlainConstants = true;
  gemm.others = true;
  // The library computes them in f32 alone, without epilogues.
  cpu.libraries[CallKind::FilterGradient].epilogues.emplace_back();
  cpu.imagesChannelsLast = true;
  cpu.readsHeldInputs = true;
  cpu.copiesToPack = true;
  cpu.mostRowMajorTerms = 64; // the runtime's shallowConv
  cpu.leastRowMajorRow = 24;
  cpu.communication.sharesMemory = true;
  return cpu;
}

/// cuBLASLt adds before its activation, the call after it: one of the two.
/// cuDNN's convolution-add-bias-activation engines know relu alone in f32.
static TargetTable gpuTable() {
  using Step = EpilogueStep;
  TargetTable gpu;
  LibraryCalls &gemm = gpu.libraries[CallKind::Gemm];
  gemm.epilogues = {{Step::Bias, Step::Activation}, {Step::Bias, Step::Addend}};
  gemm.activations = {Activation::Relu, Activation::GeluTanh};
  gemm.inPlace = true;
  gemm.readsPlainConstants = true;
  gemm.alignedBytes = 16;
  gemm.f16 = gemm.bf16 = true;
  LibraryCalls &convolution = gpu.libraries[CallKind::Convolution];
  convolution.epilogues = {{Step::Bias, Step::Addend, Step::Activation}};
  convolution.activations = {Activation::Relu};
  convolution.f16 = convolution.bf16 = true;
  gpu.imagesChannelsLast = true;
  gpu.communication.ownStream = gpu.communication.rendezvous = true;
  gpu.communication.reducesShortIntegers = false; // NCCL has no such type
  return gpu;
}

const TargetTable &targetTable(StringRef target) {
  static const TargetTable cpu = cpuTable(), gpu = gpuTable();
  bool isGpu = target == kTargetCuda || target == kTargetEmulated;
  return isGpu ? gpu : cpu;
}

const TargetTable &targetTable(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto target = module
                    ? module->getAttrOfType<StringAttr>(AutoparDialect::kTarget)
                    : nullptr;
  return targetTable(target ? target.getValue() : StringRef(kTargetCpu));
}

} // namespace autopar
