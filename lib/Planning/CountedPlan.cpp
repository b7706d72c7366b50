//===- CountedPlan.cpp - A plan with the counts of its program ------------===//

#include "CountedPlan.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Support/Text.h"

using namespace mlir;

namespace autopar {

/// Returns the bytes by which the plan's memory exceeds the limit.
static int64_t excessBytes(const Plan &plan) {
  return excessBytes(plan, StagePlaces(plan.cluster, plan.pipeline()),
                     plan.askedMemoryLimit());
}

static Excess excessOf(const Plan &plan, int64_t estimatedRoom) {
  StagePlaces places(plan.cluster, plan.pipeline());
  int64_t excess = excessBytes(plan);
  if (excess <= 0)
    return Excess();
  int64_t stage = 0, limit = 0;
  auto isFullest = [&] {
    limit = places.memoryLimit(stage, plan.askedMemoryLimit());
    return limit && plan.predictedStageMemoryBytes[stage] - limit == excess;
  };
  while (!isFullest())
    ++stage;
  return {excess, estimatedRoom,
          "the program of the plan takes " + bytesText(double(limit + excess)) +
              " on a device" +
              (plan.stages > 1 ? " of stage " + std::to_string(stage) : "") +
              ", " + bytesText(double(excess)) + " more than the limit of " +
              bytesText(double(limit))};
}

FailureOr<Excess> countPlanned(ModuleOp module, Plan &plan,
                               const CountProgram &count, PassRunner run) {
  if (!count)
    return Excess();
  // The excess is the least integer if there is no limit; the room is then the
  // largest one.
  int64_t estimatedRoom = -std::max(excessBytes(plan), -INT64_MAX);
  if (failed(count(module, plan, run)))
    return failure();
  module->setAttr(AutoparDialect::kPlan,
                  attributeFromJSON(module.getContext(), summaryToJSON(plan)));
  return excessOf(plan, estimatedRoom);
}

} // namespace autopar
