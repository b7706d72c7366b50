//===- Explain.cpp - What a plan costs, part by part ----------------------===//

#include "autopar/Report/Explain.h"
#include "ExplainText.h"
#include "autopar/Report/PlanFacts.h"
#include "autopar/Report/PlanText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

static std::string shareText(double part, double whole) {
  return whole > 0 ? formatv("{0:f1}%", 100 * part / whole).str() : "";
}

static std::string partsText(const PlanFacts &facts, const Plan &plan) {
  double whole = 0;
  for (const CostPart &part : facts.parts)
    whole += part.seconds;
  std::string text =
      formatv("step         {0}, at least {1} on this mesh\n", stepText(plan),
              secondsText(plan.lowerBoundSeconds));
  for (const CostPart &part : facts.parts)
    text += formatv("  {0,-18} {1,12} {2,7}\n", part.name,
                    secondsText(part.seconds), shareText(part.seconds, whole));
  if (facts.setupSeconds > 0)
    text +=
        formatv("at load      {0}, once\n", secondsText(facts.setupSeconds));
  if (plan.stages > 1)
    text +=
        formatv("pipeline     {0} stages, {1} micro-batches: the parts "
                "above are of all stages together; of a device\n{2}",
                plan.stages, plan.microBatches, stagesText(facts.stages, plan));
  return text;
}

static std::string rowsText(ArrayRef<CostRow> rows) {
  std::string text;
  for (const CostRow &row : rows.take_front(kShownRows))
    text += formatv("  {0,12} {1,5} x {2,10}  {3}{4}\n",
                    secondsText(row.allSeconds()), row.count,
                    secondsText(row.seconds), row.text,
                    row.count > 1 ? ", and others like it" : "");
  if (rows.size() > kShownRows)
    text += formatv("  and {0} others\n", rows.size() - kShownRows);
  return text;
}

std::string explainPlan(const Plan &plan, const ModelGraph &graph) {
  PlanFacts facts = factsOf(plan, graph);
  return partsText(facts, plan) + "dearest ops\n" + rowsText(facts.dearest) +
         (facts.origins.empty()
              ? "no collective\n"
              : "where collectives come from\n" + rowsText(facts.origins)) +
         heldTensorsText(plan, graph) +
         changedClustersText(plan, facts.changes);
}

} // namespace autopar
