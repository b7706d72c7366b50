//===- Search.cpp - The best plan for what was asked ----------------------===//

#include "autopar/Planning/Search/Search.h"
#include "NearestFit.h"
#include "PlanSearch.h"
#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "autopar/Planning/Plan/Regathers.h"
#include "autopar/Planning/Search/PredictStep.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

static bool isTrainingStep(const ModelGraph &graph) {
  return any_of(graph.ops,
                [](const GraphOp &op) { return op.task != Task::Forward; });
}

namespace {
/// The plan that a search found, or why there is none, and its trials.
struct Found {
  Expected<Plan> plan;
  std::vector<SearchTrial> tried;
};
} // namespace

/// Returns what has the faster plan. The lower bound is the lesser one.
static Found fasterOf(Found a, Found b) {
  bool isFirst = a.plan && (!b.plan || a.plan->predictedStepSeconds <=
                                           b.plan->predictedStepSeconds);
  Found &best = isFirst ? a : b, &other = isFirst ? b : a;
  if (best.plan && other.plan)
    best.plan->setLowerBound(
        std::min(best.plan->lowerBoundSeconds, other.plan->lowerBoundSeconds));
  consumeError(other.plan.takeError());
  return std::move(best);
}

/// Searches plans that hold copies. If the graph is a training step and more
/// memory would do it good, searches plans that make copies again, too: one
/// search cannot compare both, since it prices a copy for each reader.
static Found searchBoth(const ModelGraph &graph, const PlanRequest &request,
                        raw_ostream *trace) {
  auto shared = std::make_shared<SharedWork>();
  PlanSearch holding(graph, request, trace, /*regathers=*/false, shared);
  Found held{holding.run(), std::move(holding.tried)};
  if (!isTrainingStep(graph) || !holding.isShortOfMemory())
    return held;
  if (trace)
    *trace << "autopar: the same with copies made again instead of held\n";
  PlanSearch regathering(graph, request, trace, /*regathers=*/true, shared);
  Found regathered{regathering.run(), std::move(regathering.tried)};
  return fasterOf(std::move(held), std::move(regathered));
}

Expected<Plan> searchPlan(const ModelGraph &graph, const PlanRequest &request,
                          raw_ostream *trace, std::vector<SearchTrial> *tried) {
  Expected<PlanRequest> asked = askAsBefore(request, graph);
  if (!asked)
    return asked.takeError();
  Found found = searchBoth(graph, *asked, trace);
  if (tried)
    *tried = std::move(found.tried);
  if (found.plan) {
    identify(*found.plan, graph);
    return std::move(found.plan);
  }
  return handleErrors(
      found.plan.takeError(), [&](const NotEnoughMemory &shortage) {
        if (request.stored) // it is searched again without them
          return make_error<NotEnoughMemory>(shortage);
        auto quick = [&](const PlanRequest &other) {
          return PlanSearch(graph, other, nullptr, isTrainingStep(graph),
                            std::make_shared<SharedWork>())
              .runToFirst();
        };
        return request.from ? keptDoNotFit(graph, request, shortage, quick)
                            : nearestFit(graph, request, shortage, quick);
      });
}

bool holdFewerCopies(const ModelGraph &graph, const PlanRequest &request,
                     Plan &plan, MutableArrayRef<SearchTrial> tried) {
  if (!isTrainingStep(graph) || !regatherInEachTask(graph, plan) ||
      !holdCopiesThatFit(graph, request, plan))
    return false;
  predictStep(graph, plan.lowerBoundSeconds, plan, tried);
  return true;
}

} // namespace autopar
