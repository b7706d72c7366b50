//===- WritePlanFile.cpp - From a plan to JSON ----------------------------===//

#include "autopar/Planning/Plan.h"
#include "autopar/Support/Output.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar {

static json::Array axesToJSON(ArrayRef<unsigned> subAxes, const Mesh &mesh) {
  json::Array axes;
  for (std::string &name : mesh.spell(subAxes))
    axes.push_back(std::move(name));
  return axes;
}

static json::Value shardingToJSON(const Sharding &sharding, const Mesh &mesh) {
  json::Array dims;
  for (const DimSharding &dim : sharding.dims)
    dims.push_back(axesToJSON(dim.subAxes, mesh));
  json::Object object{{"dims", std::move(dims)}};
  if (!sharding.partial.empty()) {
    json::Object partial;
    for (const Partial &p : sharding.partial)
      partial[mesh.subAxes()[p.subAxis].name] = stringifyReduceKind(p.kind);
    object["partial"] = std::move(partial);
  }
  return object;
}

/// {"data": "split 0", "tensor.0": "pass 1"}
static json::Object strategyToJSON(const Assignment &assignment,
                                   const Mesh &mesh) {
  json::Object object;
  for (const auto &[choice, subAxis] : zip_equal(assignment, mesh.subAxes()))
    if (choice.kind != Choice::None)
      object[subAxis.name] =
          (choice.kind == Choice::Split ? "split " : "pass ") +
          std::to_string(choice.index);
  return object;
}

static json::Array meshToJSON(const Mesh &mesh) {
  json::Array axes;
  for (const MeshAxis &axis : mesh.axes())
    axes.push_back(json::Object{{"axis", axis.name}, {"size", axis.size}});
  return axes;
}

static json::Object summary(const Plan &plan) {
  json::Array collectives;
  for (const PlannedCollective &c : plan.collectives)
    collectives.push_back(
        json::Object{{"kind", c.kind},
                     {"axis", axesToJSON(c.subAxes, plan.mesh)},
                     {"bytes", c.bytes},
                     {"count", c.count},
                     {"seconds", c.seconds}});
  json::Object object{
      {"format", kPlanFormat},
      {"model", plan.model},
      {"model_hash", utohexstr(plan.modelHash, /*LowerCase=*/true, 16)},
      {"cluster", toJSON(plan.cluster)},
      {"strategy", plan.strategy},
      {"mesh", meshToJSON(plan.mesh)},
      {"stages", plan.stages},
      {"micro_batches", plan.microBatches},
      {"schedule", plan.schedule},
      {"predicted_step_seconds", plan.predictedStepSeconds},
      {"predicted_peak_memory_bytes", plan.predictedPeakMemoryBytes},
      {"predicted_stage_memory_bytes",
       json::Array(plan.predictedStageMemoryBytes)},
      {"lower_bound_seconds", plan.lowerBoundSeconds},
      {"gap", plan.gap},
      {"collectives", std::move(collectives)}};
  if (plan.structureHash != 0)
    object["structure_hash"] =
        utohexstr(plan.structureHash, /*LowerCase=*/true, 16);
  if (plan.precision != Plan().precision)
    object["precision"] = plan.precision;
  if (plan.objective != Objective::Latency)
    object["objective"] = stringifyObjective(plan.objective);
  if (!plan.request.empty())
    object["request"] = json::Object(plan.request);
  return object;
}

json::Value summaryToJSON(const Plan &plan) { return summary(plan); }

json::Value toJSON(const Plan &plan) {
  json::Object object = summary(plan), tensors, ops;
  for (const PlannedValue &value : plan.values)
    tensors[value.name] = shardingToJSON(value.sharding, plan.mesh);
  for (const PlannedOp &op : plan.ops) {
    json::Object item{{"strategy", strategyToJSON(op.assignment, plan.mesh)}};
    if (plan.stages > 1)
      item["stage"] = op.stage;
    if (!op.rule.empty())
      item["rule"] = op.rule;
    ops[op.name] = std::move(item);
  }
  object["tensors"] = std::move(tensors);
  object["ops"] = std::move(ops);
  return object;
}

static json::Value entriesToJSON(ArrayRef<EntryPlan> plans) {
  if (plans.size() == 1 && plans.front().entry.empty())
    return toJSON(plans.front().plan);
  json::Object entries;
  for (const EntryPlan &item : plans)
    entries[item.entry] = toJSON(item.plan);
  return json::Object{{"entries", std::move(entries)}};
}

Error writePlanFile(ArrayRef<EntryPlan> plans, StringRef path) {
  std::string text;
  raw_string_ostream(text) << formatv("{0:2}", entriesToJSON(plans)) << '\n';
  if (Error error = writeFile(path, text))
    return createStringError("plan file: " + toString(std::move(error)));
  return Error::success();
}

} // namespace autopar
