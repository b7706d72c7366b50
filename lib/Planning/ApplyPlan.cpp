//===- ApplyPlan.cpp - The pass that takes a plan from a file -------------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Planning/PredictMemory.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Planning/WritePlan.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_APPLYPLAN
#include "autopar/Planning/Passes.h.inc"

namespace {

struct ApplyPlan : impl::ApplyPlanBase<ApplyPlan> {
  using ApplyPlanBase::ApplyPlanBase;

  void runOnOperation() override {
    llvm::Expected<Plan> plan = readPlanFile(file);
    if (!plan)
      return fail(plan.takeError());
    FailureOr<ModelGraph> graph = readModel(getOperation());
    if (failed(graph))
      return signalPassFailure();
    if (llvm::Error error = alignWith(*plan, *graph))
      return fail(std::move(error));
    if (llvm::Error error = verify(*plan, *graph))
      return fail(std::move(error));
    predictMemory(*graph, *plan); // the file may be edited
    writePlan(getOperation(), *graph, *plan);
  }

private:
  void fail(llvm::Error error) {
    emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
    signalPassFailure();
  }
};

} // namespace

} // namespace autopar
