//===- ApplyPlan.cpp - The pass that takes a plan from a file -------------===//

#include "AssignTarget.h"
#include "CountedPlan.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Planning/Constraints/CheckConstraints.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "autopar/Planning/Plan/Padding.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Plan/ReadPlanFile.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Planning/RequestAttribute.h"
#include "autopar/Planning/WritePlan.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_APPLYPLAN
#include "autopar/Planning/Passes.h.inc"

namespace {

struct ApplyPlan : impl::ApplyPlanBase<ApplyPlan> {
  using ApplyPlanBase::ApplyPlanBase;
  ApplyPlan(ApplyPlanOptions options, PlannedModel *planned, CountProgram count)
      : ApplyPlanBase(std::move(options)), planned(planned),
        count(std::move(count)) {}

  void runOnOperation() override {
    llvm::Expected<Plan> plan = readPlanFile(file, entry);
    if (!plan)
      return fail(plan.takeError());
    if (failed(assignTarget(getOperation(), plan->cluster)))
      return signalPassFailure();
    FailureOr<ModelGraph> graph = readModel(getOperation());
    if (failed(graph))
      return signalPassFailure();
    if (llvm::Error error = check(*plan, *graph))
      return fail(std::move(error));
    identify(*plan, *graph);
    predictMemory(*graph, *plan); // the file may have been edited
    padOperands(*graph, *plan);
    writePlan(getOperation(), *graph, *plan);
    FailureOr<Excess> excess =
        countPlanned(getOperation(), *plan, count,
                     [&](OpPassManager &manager, Operation *op) {
                       return runPipeline(manager, op);
                     });
    if (failed(excess))
      return signalPassFailure();
    if (excess->bytes > 0)
      emitWarning(getOperation().getLoc()) << excess->text;
    if (planned)
      *planned = {std::move(*plan), std::move(*graph), {}, {}, {}};
  }

private:
  void fail(llvm::Error error) {
    emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
    signalPassFailure();
  }

  /// Checks that the plan is for this graph and meets the request of the
  /// module.
  llvm::Error check(Plan &plan, const ModelGraph &graph) {
    if (llvm::Error error = alignWith(plan, graph))
      return error;
    if (llvm::Error error = verify(plan, graph))
      return error;
    auto given =
        getOperation()->getAttrOfType<DictionaryAttr>(AutoparDialect::kRequest);
    if (!given)
      return llvm::Error::success();
    llvm::Expected<PlanRequest> request = requestFromAttribute(given);
    if (!request)
      return request.takeError();
    int64_t devices = request->cluster.deviceCount();
    if (devices != 0 && plan.cluster.deviceCount() != devices)
      return llvm::createStringError(
          "plan file " + file + " is for " +
          std::to_string(plan.cluster.deviceCount()) +
          " devices, but --ranks or --cluster says " + std::to_string(devices));
    return verify(plan, graph, request->constraints);
  }

  PlannedModel *planned = nullptr;
  CountProgram count;
};

} // namespace

std::unique_ptr<Pass> createApplyPlan(ApplyPlanOptions options,
                                      PlannedModel *planned,
                                      CountProgram count) {
  return std::make_unique<ApplyPlan>(std::move(options), planned,
                                     std::move(count));
}

} // namespace autopar
