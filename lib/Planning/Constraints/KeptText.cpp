//===- KeptText.cpp - What was kept of an old plan, in words --------------===//

#include "autopar/Planning/Constraints/KeptText.h"
#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "autopar/Planning/Constraints/KeepDecisions.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "autopar/Planning/Plan/MeshText.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

static StringRef relation(const Plan &old, const Plan &plan) {
  if (old.modelHash == plan.modelHash)
    return "this graph";
  return old.structureHash == plan.structureHash ? "this graph in other sizes"
                                                 : "another graph";
}

/// Returns a text such as `data=2, tensor=2, 2 stages, 4 micro-batches`.
static std::string meshOf(const Plan &plan) {
  std::string text = meshText(Mesh(deviceAxes(plan.mesh)));
  if (plan.stages > 1)
    text += formatv(", {0} stages, {1} micro-batches", plan.stages,
                    plan.microBatches);
  return text;
}

/// Returns a text such as `12 ops (fc1, fc2, fc3, ...): why the first is`.
static std::string groupText(const DroppedDecisions &group) {
  static constexpr StringLiteral kOne[] = {"op", "tensor", "stage of op"},
                                 kMany[] = {"ops", "tensors", "stages of ops"};
  if (group.count == 1)
    return formatv("{0} {1}: {2}", kOne[unsigned(group.kind)],
                   group.names.front(), group.why);
  return formatv("{0} {1} ({2}{3}): {4}", group.count,
                 kMany[unsigned(group.kind)], join(group.names, ", "),
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
      demandedLimits(*asked, graph, plan.mesh, plan.stages);
  if (!limits)
    return toString(limits.takeError()) + "\n";
  KeptDecisions kept =
      keepDecisions(*asked, graph, plan.mesh, plan.stages, *limits);
  std::string text =
      formatv("from         {0}, a plan of {1} on {2}\n", request.from->file,
              relation(old, plan), meshOf(old));
  if (old.cluster.deviceCount() == 1)
    return text + "kept         nothing: one device leaves nothing to decide\n";
  text += formatv("kept         {0} of {1} ops, {2} of {3} tensors", kept.ops,
                  old.ops.size(), kept.values, old.values.size());
  if (kept.stages)
    text += formatv(", the stages of {0} ops", kept.stages);
  text += "\n";
  for (const DroppedDecisions &group : kept.dropped)
    text += "dropped      " + groupText(group) + "\n";
  if (old.strategy != plan.strategy)
    text += formatv("dropped      strategy {0}: now {1}\n", old.strategy,
                    plan.strategy);
  if (old.stages > 1 && old.microBatches != plan.microBatches)
    text += formatv("dropped      {0} micro-batches: now {1}\n",
                    old.microBatches, plan.microBatches);
  if (kept.newOps + kept.newValues > 0)
    text += formatv("new          {0} ops, {1} tensors\n", kept.newOps,
                    kept.newValues);
  return text;
}

void takeBound(Plan &plan, const Plan &old) {
  constexpr double kEqual = 1e-9;
  json::Value was = toJSON(old), is = toJSON(plan);
  for (StringRef key :
       {"model_hash", "structure_hash", "precision", "cluster", "strategy",
        "request", "objective", "mesh", "micro_batches", "tensors", "ops"})
    if (const json::Value *a = was.getAsObject()->get(key),
        *b = is.getAsObject()->get(key);
        a && b ? *a != *b : a != b)
      return;
  if (std::abs(plan.predictedStepSeconds - old.predictedStepSeconds) >
      kEqual * old.predictedStepSeconds)
    return; // the file was edited
  // The two sums may differ in their order.
  plan.predictedStepSeconds = old.predictedStepSeconds;
  plan.collectives = old.collectives;
  plan.lowerBoundSeconds = old.lowerBoundSeconds;
  plan.gap = old.gap;
}

} // namespace autopar
