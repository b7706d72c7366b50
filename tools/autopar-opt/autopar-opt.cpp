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
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace autopar {
void registerTestShardingRules(); // TestShardingRules.cpp
} // namespace autopar

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
  autopar::registerDerivatives(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "autopar's passes on MLIR files\n", registry));
}
