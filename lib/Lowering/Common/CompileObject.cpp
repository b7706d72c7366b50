//===- CompileObject.cpp - LLVM dialect to an object file -----------------===//

#include "HostCode.h"
#include "ProgramParts.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/Executable.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace autopar {

void retarget(Module &module, const TargetMachine &machine) {
  defineConversions(module, machine);
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (Function &function : module)
    if (!function.isDeclaration()) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("target-features", machine.getTargetFeatureString());
      function.addFnAttr(Attribute::NoUnwind);
    }
}

void optimize(Module &module, TargetMachine &machine, OptimizationLevel level,
              Vectorize vectorize) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = vectorize == Vectorize::Yes;
  tuning.SLPVectorization = vectorize == Vectorize::Yes;
  tuning.LoopUnrolling = vectorize == Vectorize::Yes;
  PassBuilder passes(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(callGraph);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, callGraph, modules);
  passes.buildPerModuleDefaultPipeline(level).run(module, modules);
}

Expected<SmallVector<char, 0>> emitObject(Module &module,
                                          TargetMachine &machine) {
  SmallVector<char, 0> object;
  raw_svector_ostream os(object);
  legacy::PassManager emitter;
  if (machine.addPassesToEmitFile(emitter, os, nullptr,
                                  CodeGenFileType::ObjectFile))
    return createStringError("this host's code generator makes no objects");
  emitter.run(module);
  return object;
}

//===----------------------------------------------------------------------===//
// In parts
//===----------------------------------------------------------------------===//

/// Compiles a part in a context of its own.
static Expected<ProgramBytes> compilePart(const ProgramPart &part,
                                          const mlir::SymbolTable &program,
                                          ArrayRef<std::string> features) {
  auto machine = createMachine(features);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  std::unique_ptr<Module> module = mlir::translateModuleToLLVMIR(
      *makeModule(part, program), context, "program");
  if (!module)
    return createStringError("the program does not translate to LLVM IR");
  retarget(*module, **machine);
  if (part.onlyCalls)
    (*machine)->setOptLevel(CodeGenOptLevel::None);
  else
    optimize(*module, **machine, OptimizationLevel::O3, Vectorize::Yes);
  return emitObject(*module, **machine);
}

std::vector<std::string> cpuFeaturesOf(mlir::ModuleOp module) {
  auto list =
      module->getAttrOfType<mlir::ArrayAttr>(AutoparDialect::kCpuFeatures);
  if (!list)
    return hostCpuFeatures();
  std::vector<std::string> features;
  for (auto feature : list.getAsRange<mlir::StringAttr>())
    features.push_back(feature.str());
  return features;
}

Expected<std::vector<ProgramBytes>> compileToObjects(mlir::ModuleOp op) {
  mlir::registerBuiltinDialectTranslation(*op.getContext());
  mlir::registerLLVMDialectTranslation(*op.getContext());
  mlir::SymbolTable symbols(op);
  std::vector<ProgramPart> parts = findParts(op);
  std::vector<ProgramBytes> objects(parts.size());
  std::vector<std::string> errors(parts.size());
  std::vector<std::string> features = cpuFeaturesOf(op);
  mlir::parallelFor(op.getContext(), 0, parts.size(), [&](size_t i) {
    if (auto object = compilePart(parts[i], symbols, features))
      objects[i] = std::move(*object);
    else
      errors[i] = toString(object.takeError());
  });
  for (const std::string &error : errors)
    if (!error.empty())
      return createStringError(error);
  return objects;
}

} // namespace autopar
