//===- CountedPlan.cpp - A plan with the counts of its program ------------===//

#include "CountedPlan.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Support/Text.h"

using namespace mlir;

namespace autopar {

static Excess excessOf(const Plan &plan) {
  StagePlaces places(plan.cluster, plan.pipeline());
  Excess excess;
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    int64_t limit = places.memoryLimit(stage, plan.askedMemoryLimit());
    int64_t bytes = plan.predictedStageMemoryBytes[stage];
    if (limit == 0 || bytes - limit <= excess.bytes)
      continue;
    excess.bytes = bytes - limit;
    excess.text =
        "the program of the plan takes " + bytesText(double(bytes)) +
        " on a device" +
        (plan.stages > 1 ? " of stage " + std::to_string(stage) : "") + ", " +
        bytesText(double(excess.bytes)) + " more than the limit of " +
        bytesText(double(limit));
  }
  return excess;
}

FailureOr<Excess> countPlanned(ModuleOp module, Plan &plan,
                               const CountProgram &count, PassRunner run) {
  if (!count)
    return Excess();
  if (failed(count(module, plan, run)))
    return failure();
  module->setAttr(AutoparDialect::kPlan,
                  attributeFromJSON(module.getContext(), summaryToJSON(plan)));
  return excessOf(plan);
}

} // namespace autopar
