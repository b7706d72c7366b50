//===- AgainstPlan.cpp - A timeline beside the plan's prediction ----------===//

#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Simulate/ReadSchedule.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

std::string againstPlanText(const Timeline &timeline, const Plan &plan,
                            const ModelGraph &graph) {
  double predicted = plan.predictedStepSeconds;
  if (!(predicted > 0))
    return "plan         predicts no seconds\n";
  double share = timeline.seconds / predicted - 1;
  std::string text =
      formatv("plan         {0} predicted: simulated are {1:f1}% {2}\n",
              secondsText(predicted), 100 * std::abs(share),
              share < 0 ? "less" : "more");
  auto busiest = llvm::max_element(
      timeline.stages, [](const StageTimes &a, const StageTimes &b) {
        return a.busy() < b.busy();
      });
  if (busiest == timeline.stages.end())
    return text;
  size_t number = busiest - timeline.stages.begin();
  StageCost cost = stageCosts(plan, graph)[number];
  double beside = busiest->busy() + busiest->idle - timeline.seconds;
  double idle = predicted - cost.busy();
  text += plan.stages > 1 ? formatv("  stage {0}", number).str() : "  a device";
  text += formatv(": computing {0} of {1} predicted, communication {2} of {3}",
                  secondsText(busiest->computing), secondsText(cost.compute),
                  secondsText(busiest->communication),
                  secondsText(cost.communication));
  if (plan.stages > 1)
    text +=
        formatv(", messages {0} of {1}, idle {2} of {3}",
                secondsText(busiest->messages), secondsText(cost.messages),
                secondsText(busiest->idle), secondsText(std::max(0.0, idle)));
  text += formatv("; {0} of communication beside kernels\n",
                  secondsText(std::max(0.0, beside)));
  return text;
}

} // namespace autopar
