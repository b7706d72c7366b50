//===- SearchPlan.cpp - The pass that plans -------------------------------===//

#include "autopar/Cost/TargetNames.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Planning/Search.h"
#include "autopar/Planning/WritePlan.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_SEARCHPLAN
#include "autopar/Planning/Passes.h.inc"

namespace {

struct SearchPlan : impl::SearchPlanBase<SearchPlan> {
  using SearchPlanBase::SearchPlanBase;

  void runOnOperation() override {
    llvm::Expected<PlanRequest> request = readRequest();
    if (!request)
      return fail(request.takeError());
    // A program for GPUs is planned by the GPU's table.
    if (request->cluster.slowest().kind != kTargetCpu &&
        !getOperation()->hasAttr(kTarget))
      getOperation()->setAttr(kTarget,
                              StringAttr::get(&getContext(), kTargetCuda));
    FailureOr<ModelGraph> graph = readModel(getOperation());
    if (failed(graph))
      return signalPassFailure();
    llvm::Expected<Plan> plan = searchPlan(*graph, *request);
    if (!plan)
      return fail(plan.takeError());
    writePlan(getOperation(), *graph, *plan);
    if (!saveTo.empty())
      if (llvm::Error error = writePlanFile(EntryPlan{"", *plan}, saveTo))
        return fail(std::move(error));
  }

private:
  void fail(llvm::Error error) {
    emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
    signalPassFailure();
  }

  /// Pass options take `+` where the command line takes a comma.
  static std::string withCommas(StringRef text) {
    std::string result = text.str();
    std::replace(result.begin(), result.end(), '+', ',');
    return result;
  }

  llvm::Expected<PlanRequest> readRequest() const {
    PlanRequest request;
    llvm::Expected<Cluster> parsed =
        cluster.empty() ? clusterOfRanks(ranks == 0 ? 1 : int64_t(ranks))
                        : parseCluster(cluster);
    if (!parsed)
      return parsed.takeError();
    request.cluster = *parsed;
    llvm::Expected<llvm::SmallVector<StrategyName>> names =
        parseStrategies(withCommas(strategy));
    if (!names)
      return names.takeError();
    request.strategies = *names;
    if (!mesh.empty()) {
      llvm::Expected<llvm::SmallVector<MeshAxis>> axes =
          parseMesh(withCommas(mesh));
      if (!axes)
        return axes.takeError();
      request.mesh = *axes;
    }
    if (!constraints.empty()) {
      llvm::Expected<Constraints> read = readConstraintsFile(constraints);
      if (!read)
        return read.takeError();
      request.constraints = std::move(*read);
    }
    request.microBatches = microBatches;
    request.memoryLimit = memoryLimit;
    return request;
  }
};

} // namespace

} // namespace autopar
