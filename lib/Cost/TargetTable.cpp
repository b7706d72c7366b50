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

/// oneDNN, and the runtime's own loops for GEMMs of other types.
static TargetTable cpuTable() {
  using Step = EpilogueStep;
  TargetTable cpu;
  cpu.contraction.epilogues = {{Step::Bias, Step::Activation, Step::Addend}};
  cpu.contraction.activations = {UnaryKind::Relu, UnaryKind::GeluErf,
                                 UnaryKind::GeluTanh, UnaryKind::Tanh,
                                 UnaryKind::Sigmoid};
  cpu.contraction.silu = true;
  cpu.contraction.inPlace = true;
  cpu.convolution = cpu.contraction;
  cpu.convolution.epilogues = {{Step::Bias, Step::Addend, Step::Activation}};
  for (LibraryCalls *calls : {&cpu.contraction, &cpu.convolution})
    calls->f16 = calls->bf16 = true;
  cpu.contraction.others = true;
  cpu.imagesChannelsLast = true;
  cpu.readsHeldInputs = true;
  cpu.mostRowMajorTerms = 64; // the runtime's shallowConv
  return cpu;
}

/// cuBLASLt adds before its activation, the call after it: one of the two.
/// cuDNN's convolution-add-bias-activation engines know relu alone in f32.
static TargetTable gpuTable() {
  using Step = EpilogueStep;
  TargetTable gpu;
  gpu.contraction.epilogues = {{Step::Bias, Step::Activation},
                               {Step::Bias, Step::Addend}};
  gpu.contraction.activations = {UnaryKind::Relu, UnaryKind::GeluTanh};
  gpu.contraction.inPlace = true;
  gpu.convolution.epilogues = {{Step::Bias, Step::Addend, Step::Activation}};
  gpu.convolution.activations = {UnaryKind::Relu};
  gpu.convolution.leastPositions = 2;
  for (LibraryCalls *calls : {&gpu.contraction, &gpu.convolution})
    calls->f16 = calls->bf16 = true;
  gpu.imagesChannelsLast = true;
  gpu.communication = {/*ownStream=*/true, /*rendezvous=*/true,
                       /*reducesShortIntegers=*/false}; // NCCL has no such type
  return gpu;
}

const TargetTable &targetTable(Operation *op) {
  static const TargetTable cpu = cpuTable(), gpu = gpuTable();
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto target = module ? module->getAttrOfType<StringAttr>(kTarget) : nullptr;
  bool isGpu = target && (target == kTargetCuda || target == kTargetEmulated);
  return isGpu ? gpu : cpu;
}

} // namespace autopar
