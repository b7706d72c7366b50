//===- autopar-opt.cpp - Runs any pass of autopar on IR -------------------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Passes.h"
#include "autopar/Equality/Passes.h"
#include "autopar/Frontend/Passes.h"
#include "autopar/Lowering/Passes.h"
#include "autopar/Partition/Passes.h"
#include "autopar/Pipeline/Phases.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Schedule/Passes.h"
#include "autopar/Support/MemoryFailure.h"
#include "autopar/Training/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ToolOutputFile.h"

namespace autopar {
void registerTestShardingRules(); // TestShardingRules.cpp
} // namespace autopar

/// Nodes' names are locations: what is read with them is printed with them, so
/// that the next phase can still name nodes.
static void keepNodeNames(llvm::StringRef text) {
  llvm::cl::Option *print =
      llvm::cl::getRegisteredOptions().lookup("mlir-print-debuginfo");
  if (print && print->getNumOccurrences() == 0 &&
      llvm::Regex(R"(loc\("[^"]*"[()])").match(text))
    print->addOccurrence(0, print->ArgStr, "true");
}

static mlir::LogicalResult run(int argc, char **argv,
                               mlir::DialectRegistry &registry) {
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "autopar's passes on MLIR files\n", registry);
  mlir::MlirOptMainConfig config =
      mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::MlirOptMain(argc, argv, input, output, registry);
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> text = mlir::openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> file =
      text ? mlir::openOutputFile(output, &error) : nullptr;
  if (!file) {
    llvm::errs() << error << "\n";
    return mlir::failure();
  }
  keepNodeNames(text->getBuffer());
  if (failed(mlir::MlirOptMain(file->os(), std::move(text), registry, config)))
    return mlir::failure();
  file->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  autopar::installMemoryFailure("autopar-opt");
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerSymbolDCEPass();

  autopar::registerTestShardingRules();
  autopar::registerAutoparInterpreterPasses();
  autopar::registerAutoparFrontendPasses();
  autopar::registerAutoparTrainingPasses();
  autopar::registerAutoparPlanningPasses();
  autopar::registerAutoparEqualityPasses();
  autopar::registerAutoparPartitionPasses();
  autopar::registerPartitionPipelines();
  autopar::registerAutoparSchedulePasses();
  autopar::registerSchedulePipeline();
  autopar::registerLoweringPasses();
  autopar::registerLoweringPipelines();
  autopar::registerPhasePipelines();

  mlir::DialectRegistry registry;
  registry.insert<autopar::AutoparDialect, mlir::LLVM::LLVMDialect,
                  mlir::NVVM::NVVMDialect, mlir::gpu::GPUDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::func::FuncDialect>();
  mlir::func::registerInlinerExtension(registry);
  autopar::registerTraining(registry);
  llvm::InitLLVM init(argc, argv);
  return mlir::asMainReturnCode(run(argc, argv, registry));
}
