//===- CompilePtx.cpp - Kernels to PTX ------------------------------------===//

#include "../Common/HostCode.h"
#include "CompileFatbin.h"
#include "FindCuda.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

namespace autopar {

namespace {

/// The PTX version that knows each architecture, and drivers of its time read.
StringRef ptxFor(StringRef arch) {
  if (arch == "sm_80")
    return "+ptx70";
  return arch == "sm_90" ? "+ptx78" : "+ptx86";
}

Expected<std::unique_ptr<TargetMachine>> createGpuMachine(StringRef arch) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("this LLVM has no code generator for NVIDIA GPUs");
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, arch, ptxFor(arch), TargetOptions(), std::nullopt, std::nullopt,
      CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("no code generator for " + arch);
  return machine;
}

bool callsLibdevice(const Module &module) {
  return llvm::any_of(module, [](const Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
}

Error linkLibdevice(Module &module) {
  if (!callsLibdevice(module))
    return Error::success();
  auto path = findLibdevice();
  if (!path)
    return path.takeError();
  auto buffer = MemoryBuffer::getFile(*path);
  if (!buffer)
    return createStringError(*path + ": " + buffer.getError().message());
  auto library = parseBitcodeFile(**buffer, module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(*library),
                          Linker::Flags::LinkOnlyNeeded))
    return createStringError(*path + " does not link with the kernels");
  internalizeModule(module, [](const GlobalValue &value) {
    auto *function = dyn_cast<Function>(&value);
    return function && function->getCallingConv() == CallingConv::PTX_Kernel;
  });
  // libdevice asks it: numbers too small for normal form are kept.
  module.addModuleFlag(Module::ModFlagBehavior::Override, "nvvm-reflect-ftz",
                       uint32_t(0));
  return Error::success();
}

/// Asks for one block on a multiprocessor: without a wish ptxas spills a few
/// registers if that lets more blocks run.
void preferRegisters(Module &module) {
  for (Function &function : module)
    if (function.getCallingConv() == CallingConv::PTX_Kernel)
      function.addFnAttr("nvvm.minctasm", "1");
}

} // namespace

Expected<std::string> compileToPtx(mlir::gpu::GPUModuleOp kernels,
                                   StringRef arch) {
  auto machine = createGpuMachine(arch);
  if (!machine)
    return machine.takeError();
  mlir::MLIRContext &context = *kernels.getContext();
  mlir::registerBuiltinDialectTranslation(context);
  mlir::registerLLVMDialectTranslation(context);
  mlir::registerGPUDialectTranslation(context);
  mlir::registerNVVMDialectTranslation(context);
  LLVMContext llvmContext;
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(kernels, llvmContext, "kernels");
  if (!module)
    return createStringError("the kernels do not translate to LLVM IR");
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  if (Error error = linkLibdevice(*module))
    return error;
  preferRegisters(*module);
  optimize(*module, **machine, OptimizationLevel::O3, Vectorize::Yes);
  SmallString<0> text;
  raw_svector_ostream os(text);
  legacy::PassManager emitter;
  if ((*machine)->addPassesToEmitFile(emitter, os, nullptr,
                                      CodeGenFileType::AssemblyFile))
    return createStringError("this LLVM writes no PTX");
  emitter.run(*module);
  return std::string(text);
}

} // namespace autopar
