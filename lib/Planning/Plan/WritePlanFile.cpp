//===- WritePlanFile.cpp - From a plan to JSON ----------------------------===//

#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Cost/Reshard.h"
#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Support/Output.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
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

/// Returns an assignment as JSON: {"data": "split 0", "tensor.0": "pass 1"}.
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

json::Array collectivesToJSON(ArrayRef<PlannedCollective> list,
                              const Mesh &mesh) {
  json::Array collectives;
  for (const PlannedCollective &c : list)
    collectives.push_back(json::Object{{"kind", c.kind},
                                       {"axis", axesToJSON(c.subAxes, mesh)},
                                       {"bytes", c.bytes},
                                       {"count", c.count},
                                       {"seconds", c.seconds}});
  return collectives;
}

json::Array countsToJSON(ArrayRef<StageCounts> stages) {
  json::Array counts;
  for (const StageCounts &stage : stages)
    counts.push_back(
        json::Object{{"kernels", stage.kernels},
                     {"weight_bytes", stage.memory.weights},
                     {"loading_bytes", stage.memory.loading},
                     {"arena_bytes", stage.memory.arena},
                     {"communication_bytes", stage.memory.communication}});
  return counts;
}

static json::Object summary(const Plan &plan) {
  json::Object object{
      {"format", kPlanFormat},
      {"model", plan.model},
      {"model_hash", utohexstr(plan.modelHash, /*LowerCase=*/true, 16)},
      {"cluster", toJSON(plan.cluster)},
      {"strategy", plan.strategy},
      {"mesh", meshToJSON(plan.mesh)},
      {"stages", plan.stages},
      {"micro_batches", plan.microBatches},
      {"schedule", plan.schedule()},
      {"predicted_step_seconds", plan.predictedStepSeconds},
      {"predicted_peak_memory_bytes", plan.predictedPeakMemoryBytes},
      {"predicted_stage_memory_bytes",
       json::Array(plan.predictedStageMemoryBytes)},
      {"lower_bound_seconds", plan.lowerBoundSeconds},
      {"gap", plan.gap},
      {"collectives", collectivesToJSON(plan.collectives, plan.mesh)}};
  if (!plan.program.empty())
    object["program"] = countsToJSON(plan.program);
  if (plan.structureHash != 0)
    object["structure_hash"] =
        utohexstr(plan.structureHash, /*LowerCase=*/true, 16);
  if (plan.precision != Plan().precision)
    object["precision"] = plan.precision;
  if (plan.checksNumerics)
    object["check_numerics"] = true;
  if (plan.objective != Objective::Latency)
    object["objective"] = stringifyObjective(plan.objective);
  if (!plan.request.empty())
    object["request"] = json::Object(plan.request);
  return object;
}

json::Value summaryToJSON(const Plan &plan) { return summary(plan); }

static json::Object opToJSON(const PlannedOp &op, const Plan &plan) {
  json::Object item{{"strategy", strategyToJSON(op.assignment, plan.mesh)}};
  if (plan.stages > 1)
    item["stage"] = op.stage;
  if (!op.rule.empty())
    item["rule"] = op.rule;
  if (!op.regathers.empty())
    item["regathers"] = json::Array(op.regathers);
  return item;
}

json::Value toJSON(const Plan &plan) {
  json::Object object = summary(plan), tensors, ops;
  for (const PlannedValue &value : plan.values)
    tensors[value.name] = shardingToJSON(value.sharding, plan.mesh);
  for (const PlannedOp &op : plan.ops)
    ops[op.name] = opToJSON(op, plan);
  object["tensors"] = std::move(tensors);
  object["ops"] = std::move(ops);
  return object;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static constexpr unsigned kIndent = 2;

static std::string keyOf(const PlannedOp &op) {
  std::string key = std::to_string(op.stage) + ";" + op.rule;
  for (const Choice &choice : op.assignment)
    key +=
        ";" + std::to_string(choice.kind) + "." + std::to_string(choice.index);
  for (unsigned operand : op.regathers)
    key += ";r" + std::to_string(operand);
  return key;
}

static std::string keyOf(const PlannedValue &value) {
  std::string key;
  appendKey(key, value.sharding);
  return key;
}

/// Returns the text of a JSON value that stands inside of text indented by
/// `indent`.
static std::string textOf(const json::Value &value, unsigned indent) {
  std::string printed, text;
  raw_string_ostream os(printed);
  json::OStream(os, kIndent).value(value);
  for (char c : printed) {
    text += c;
    if (c == '\n')
      text.append(indent, ' ');
  }
  return text;
}

/// Writes `{"NAME": VALUE}` of all items in the order of their names, which
/// differ. It writes one value at a time, for there may be very many, and makes
/// the text of equal items once.
template <typename Item, typename ToJSON>
static void writeByName(json::OStream &json, ArrayRef<Item> items,
                        unsigned indent, ToJSON toJSON) {
  std::vector<const Item *> sorted;
  for (const Item &item : items)
    sorted.push_back(&item);
  llvm::sort(sorted, [](const Item *a, const Item *b) {
    return std::tie(a->name, a) < std::tie(b->name, b);
  });
  StringMap<std::string> texts;
  json.object([&] {
    for (const Item *item : sorted) {
      std::string &text = texts[keyOf(*item)];
      if (text.empty())
        text = textOf(toJSON(*item), indent + kIndent);
      json.attributeBegin(item->name);
      json.rawValue(text);
      json.attributeEnd();
    }
  });
}

/// Writes the text of toJSON(plan) without making all of that in memory.
static void write(json::OStream &json, const Plan &plan, unsigned indent) {
  json::Object object = summary(plan);
  std::vector<StringRef> keys{"ops", "tensors"};
  for (const auto &[key, value] : object)
    keys.push_back(key);
  llvm::sort(keys);
  json.object([&] {
    for (StringRef key : keys) {
      json.attributeBegin(key);
      if (key == "ops")
        writeByName(json, ArrayRef(plan.ops), indent + kIndent,
                    [&](const PlannedOp &op) { return opToJSON(op, plan); });
      else if (key == "tensors")
        writeByName(json, ArrayRef(plan.values), indent + kIndent,
                    [&](const PlannedValue &value) {
                      return shardingToJSON(value.sharding, plan.mesh);
                    });
      else
        json.value(object[key]);
      json.attributeEnd();
    }
  });
}

static void write(json::OStream &json, ArrayRef<EntryPlan> plans) {
  if (plans.size() == 1 && plans.front().entry.empty())
    return write(json, plans.front().plan, 0);
  std::vector<const EntryPlan *> sorted;
  for (const EntryPlan &item : plans)
    sorted.push_back(&item);
  llvm::sort(sorted, [](const EntryPlan *a, const EntryPlan *b) {
    return a->entry < b->entry;
  });
  json.object([&] {
    json.attributeObject("entries", [&] {
      for (const EntryPlan *item : sorted) {
        json.attributeBegin(item->entry);
        write(json, item->plan, 2 * kIndent);
        json.attributeEnd();
      }
    });
  });
}

Error writePlanFile(ArrayRef<EntryPlan> plans, StringRef path) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os, kIndent);
  write(json, plans);
  json.flush();
  os << '\n';
  if (Error error = writeFile(path, text))
    return createStringError("plan file: " + toString(std::move(error)));
  return Error::success();
}

} // namespace autopar
