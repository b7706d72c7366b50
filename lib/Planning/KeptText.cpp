//===- KeptText.cpp - What was kept of an old plan, in words --------------===//

#include "Units.h"
#include "autopar/Planning/KeepDecisions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

/// `same graph`, `same ops, other sizes`, `another graph`.
static StringRef relation(const Plan &old, const Plan &plan) {
  if (old.modelHash == plan.modelHash)
    return "the same model";
  return old.structureHash == plan.structureHash ? "the model in other sizes"
                                                 : "another model";
}

/// `12 ops (fc1, fc2, fc3, ...): why the first is`.
static std::string groupText(const DroppedDecisions &group) {
  if (group.count == 1)
    return group.what + " " + group.names.front() + ": " + group.why;
  return formatv("{0} {1}s ({2}{3}): {4}", group.count, group.what,
                 join(group.names, ", "),
                 group.count > group.names.size() ? ", ..." : "", group.why);
}

std::string describeKept(const PlanRequest &request, const ModelGraph &graph,
                         const Plan &plan) {
  if (!request.from)
    return "";
  const Plan &old = request.from->plan;
  Expected<PlanRequest> asked = askAsBefore(request, graph);
  if (!asked)
    return toString(asked.takeError()) + "\n";
  Expected<Limits> limits =
      resolve(asked->constraints, graph, plan.mesh, plan.stages);
  if (!limits)
    return toString(limits.takeError()) + "\n";
  KeptDecisions kept =
      keepDecisions(*asked, graph, plan.mesh, plan.stages, *limits);
  std::string text =
      formatv("from         {0}, a plan of {1} on {2}\n", request.from->file,
              relation(old, plan), meshText(old.mesh));
  text += formatv("kept         {0} of {1} ops, {2} of {3} tensors", kept.ops,
                  old.ops.size(), kept.values, old.values.size());
  if (kept.stages)
    text += formatv(", the stages of {0} ops", kept.stages);
  text += "\n";
  for (const DroppedDecisions &group : kept.dropped)
    text += "dropped      " + groupText(group) + "\n";
  if (old.microBatches != plan.microBatches)
    text += formatv("dropped      {0} micro-batches: now {1}\n",
                    old.microBatches, plan.microBatches);
  if (kept.newOps + kept.newValues > 0)
    text += formatv("new          {0} ops, {1} tensors\n", kept.newOps,
                    kept.newValues);
  return text;
}

Error keptDoNotFit(const PlanRequest &request, int64_t limitBytes,
                   function_ref<Expected<Plan>(const PlanRequest &)> search) {
  PlanRequest free = request;
  free.from = nullptr;
  Expected<Plan> plan = search(free);
  std::string without =
      plan ? "there is one: leave --from out"
           : "there is none either, or none is found quickly";
  if (!plan)
    consumeError(plan.takeError());
  return createStringError(
      "with what is kept of " + request.from->file +
      " no plan fits the memory limit of " + bytesText(double(limitBytes)) +
      " per device; without it " + without);
}

void takeBound(Plan &plan, const Plan &old) {
  constexpr double kEqual = 1e-9;
  json::Value was = toJSON(old), is = toJSON(plan);
  for (StringRef key :
       {"model_hash", "structure_hash", "precision", "cluster", "strategy",
        "request", "mesh", "micro_batches", "predicted_peak_memory_bytes",
        "tensors", "ops"})
    if (const json::Value *a = was.getAsObject()->get(key),
        *b = is.getAsObject()->get(key);
        a && b ? *a != *b : a != b)
      return;
  if (std::abs(plan.predictedStepSeconds - old.predictedStepSeconds) >
      kEqual * old.predictedStepSeconds)
    return; // the file was edited
  // Sums in another order.
  plan.predictedStepSeconds = old.predictedStepSeconds;
  plan.collectives = old.collectives;
  plan.lowerBoundSeconds = old.lowerBoundSeconds;
  plan.gap = old.gap;
}

} // namespace autopar
