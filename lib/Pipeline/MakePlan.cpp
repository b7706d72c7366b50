//===- MakePlan.cpp - A plan, and the counts of its program ---------------===//

#include "DescribeStep.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Pipeline/Compilation.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Planning/WarnOfBlocks.h"
#include "autopar/Report/PlanText.h"
#include "autopar/Report/RemarkOnPlan.h"
#include "autopar/Simulate/StepCounts.h"
#include "autopar/Support/Text.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace autopar {

/// Schedules the program of the planned module, in a copy, and records its
/// counts in the plan.
LogicalResult Compilation::countProgram() {
  OwningOpRef<ModuleOp> program = ir->clone();
  PassManager manager(&context);
  manager.enableVerifier(false);
  buildPhase(Phase::Partition, manager);
  buildPhase(Phase::Schedule, manager);
  // The phases themselves say the rest when they run.
  ScopedDiagnosticHandler errorsOnly(&context, [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  if (failed(manager.run(*program))) {
    progress.reset();
    return failure();
  }
  FailureOr<StepCounts> counts = scheduledCounts(*program);
  if (failed(counts))
    return failure();
  recordProgram(std::move(*counts), planned.plan);
  (*ir)->setAttr(AutoparDialect::kPlan,
                 attributeFromJSON(&context, summaryToJSON(planned.plan)));
  return success();
}

/// Returns by how many bytes the program of the plan exceeds the memory of the
/// fullest device; 0 or less if it fits.
int64_t Compilation::excess() const {
  const Plan &plan = planned.plan;
  return excessBytes(plan, StagePlaces(plan.cluster, plan.pipeline()),
                     plan.askedMemoryLimit());
}

/// Explains the limits that a failed search has named, and returns failure.
LogicalResult Compilation::noteReserve() const {
  if (reserve > 0)
    llvm::errs() << "autopar: note: that search left "
                 << bytesText(double(reserve))
                 << " free, for programs take more than it estimates: add as "
                    "much to the limits that it names\n";
  return failure();
}

/// Plans, and counts the program. The search estimates memory. If the program
/// of its plan exceeds the limit after all, the search starts anew and leaves
/// so many bytes free.
LogicalResult Compilation::planWhatFits() {
  OwningOpRef<ModuleOp> unplanned = ir->clone();
  for (reserve = 0;;) {
    if (failed(runPasses(Phase::Plan)))
      return noteReserve();
    if (failed(countProgram()))
      return failure();
    int64_t more = excess();
    if (more <= 0 || !request.planFile.empty())
      return success();
    reserve += more;
    if (progress)
      progress->pause();
    llvm::errs() << "autopar: warning: the program of the best plan found "
                    "takes "
                 << bytesText(double(planned.plan.predictedPeakMemoryBytes))
                 << " per device, " << bytesText(double(more))
                 << " above the limit: the search starts anew and leaves "
                 << bytesText(double(reserve)) << " of the limit free\n";
    ir = unplanned->clone();
  }
}

LogicalResult Compilation::makePlan() {
  if (failed(planWhatFits()))
    return failure();
  if (llvm::Error error = dump(Phase::Plan))
    return fail(std::move(error));
  if (targetName(*ir) == kTargetCpu && !request.cudaSource.empty())
    return fail(llvm::createStringError(
        "--emit cuda-source: that is of GPU programs; add --target cuda"));
  warnOfBlocks(*ir, planned.graph);
  if (request.remarks)
    remarkOnPlan(*ir, planned.graph, planned.plan);
  table = planned.kept + describeTraining(*ir) +
          describe(planned.plan, planned.graph);
  if (request.stored) {
    if (evaluatesTrained())
      if (llvm::Error error =
              request.stored->checkStates(planned.plan, planned.graph))
        return fail(std::move(error));
    table =
        request.stored->describe(planned.plan, planned.graph, planned.refusal) +
        table;
    request.stored->add(request.entry, planned.plan, planned.graph);
  }
  return success();
}

} // namespace autopar
