//===- TargetTable.cpp - One table per target -----------------------------===//

#include "autopar/Cost/TargetTable.h"
#include "autopar/Cost/TargetNames.h"
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
  cpu.contraction.epilogues = {{Step::Bias, Step::Activation, Step::Addend}};
  cpu.contraction.activations = {Activation::Relu,     Activation::GeluErf,
                                 Activation::GeluTanh, Activation::Tanh,
                                 Activation::Sigmoid,  Activation::Silu};
  cpu.contraction.inPlace = true;
  cpu.convolution = cpu.contraction;
  cpu.contraction.readsPlainConstants = true;
  cpu.convolution.filterGradients = true;
  cpu.convolution.epilogues = {{Step::Bias, Step::Addend, Step::Activation}};
  for (LibraryCalls *calls : {&cpu.contraction, &cpu.convolution})
    calls->f16 = calls->bf16 = true;
  cpu.contraction.others = true;
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
  gpu.contraction.epilogues = {{Step::Bias, Step::Activation},
                               {Step::Bias, Step::Addend}};
  gpu.contraction.activations = {Activation::Relu, Activation::GeluTanh};
  gpu.contraction.inPlace = true;
  gpu.contraction.readsPlainConstants = true;
  gpu.contraction.alignedBytes = 16;
  gpu.convolution.epilogues = {{Step::Bias, Step::Addend, Step::Activation}};
  gpu.convolution.activations = {Activation::Relu};
  for (LibraryCalls *calls : {&gpu.contraction, &gpu.convolution})
    calls->f16 = calls->bf16 = true;
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
  auto target = module ? module->getAttrOfType<StringAttr>(kTarget) : nullptr;
  return targetTable(target ? target.getValue() : StringRef(kTargetCpu));
}

} // namespace autopar
