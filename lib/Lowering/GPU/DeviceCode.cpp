//===- DeviceCode.cpp - The kernels that a program carries ----------------===//

#include "../Common/HostCode.h"
#include "CompileFatbin.h"
#include "EmulateKernels.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/Executable.h"
#include "llvm/IR/Constants.h"

using namespace llvm;

namespace autopar {

namespace {

void exportBytes(Module &module, ArrayRef<char> bytes, StringRef name) {
  Constant *data = ConstantDataArray::getString(
      module.getContext(), StringRef(bytes.data(), bytes.size()),
      /*AddNull=*/false);
  auto *code = new GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                  GlobalValue::ExternalLinkage, data, name);
  code->setAlignment(Align(64));
}

/// The module of kernels; an empty one where libraries compute everything.
mlir::gpu::GPUModuleOp findKernels(mlir::ModuleOp module) {
  for (auto kernels : module.getOps<mlir::gpu::GPUModuleOp>())
    return kernels;
  auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  return mlir::gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
}

Expected<std::unique_ptr<Module>> makeModule(mlir::gpu::GPUModuleOp kernels,
                                             StringRef target,
                                             LLVMContext &context,
                                             TargetMachine &machine) {
  if (target == kTargetEmulated)
    return gpu::emulateKernels(kernels, context, machine);
  auto images = compileFatbin(kernels);
  if (!images)
    return images.takeError();
  auto module = std::make_unique<Module>("device", context);
  exportBytes(*module, images->code, abi::nameOf<aprt_program_device_code>);
  if (!images->ptx.empty())
    exportBytes(*module, images->ptx, abi::nameOf<aprt_program_device_ptx>);
  retarget(*module, machine);
  return module;
}

} // namespace

Expected<ProgramBytes> compileDeviceCode(mlir::ModuleOp module,
                                         StringRef target) {
  auto machine = createMachine(cpuFeaturesOf(module));
  if (!machine)
    return machine.takeError();
  // The host spends its time in checks of kernels, not in their arithmetic.
  (*machine)->setOptLevel(CodeGenOptLevel::Less);
  LLVMContext context;
  mlir::gpu::GPUModuleOp device = findKernels(module);
  auto code = makeModule(device, target, context, **machine);
  if (!code)
    return code.takeError();
  device.erase();
  return emitObject(**code, **machine);
}

Expected<ProgramBytes> compileProgram(mlir::ModuleOp module, StringRef target) {
  std::vector<ProgramBytes> objects;
  if (target != kTargetCpu) {
    auto device = compileDeviceCode(module, target);
    if (!device)
      return device.takeError();
    objects.push_back(std::move(*device));
  }
  auto host = compileToObjects(module);
  if (!host)
    return host.takeError();
  std::move(host->begin(), host->end(), std::back_inserter(objects));
  auto calls = compileRuntimeCalls(cpuFeaturesOf(module));
  if (!calls)
    return calls.takeError();
  objects.push_back(std::move(*calls));
  return linkSharedObject(objects);
}

} // namespace autopar
