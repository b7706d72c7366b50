//===- CountProgram.cpp - The counts of a plan's program ------------------===//

#include "CountProgram.h"
#include "autopar/Pipeline/Phases.h"
#include "autopar/Simulate/StepCounts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace autopar {

static FailureOr<StepCounts> countsOf(ModuleOp program, PassRunner run) {
  ScopedDiagnosticHandler errorsOnly(
      program.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
      });
  OpPassManager manager(ModuleOp::getOperationName());
  buildPhase(Phase::Partition, manager);
  buildPhase(Phase::Schedule, manager);
  if (failed(run(manager, program)))
    return failure();
  return scheduledCounts(program);
}

LogicalResult countProgram(ModuleOp module, Plan &plan, PassRunner run) {
  ModuleOp program = module.clone();
  OpBuilder::atBlockEnd(module.getBody()).insert(program);
  FailureOr<StepCounts> counts = countsOf(program, run);
  program.erase();
  if (failed(counts))
    return failure();
  recordProgram(std::move(*counts), plan);
  return success();
}

} // namespace autopar
