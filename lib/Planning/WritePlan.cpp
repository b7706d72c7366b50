//===- WritePlan.cpp - From a plan to attributes --------------------------===//

#include "autopar/Planning/WritePlan.h"
#include "autopar/Cost/Reshard.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Planning/Plan/PlannedReshards.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Planning/RequestAttribute.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace autopar {

static constexpr StringLiteral kMesh = "mesh";

namespace {

class PlanWriter {
public:
  PlanWriter(ModuleOp module, const ModelGraph &graph, const Plan &plan)
      : module(module), graph(graph), plan(plan), reshards(graph, plan),
        builder(module.getContext()),
        symbol(FlatSymbolRefAttr::get(module.getContext(), kMesh)) {}
  void write();

private:
  /// Returns an attribute, which is made once because many values have the same
  /// sharding.
  ShardingAttr attr(const Sharding &sharding) {
    std::string key;
    appendKey(key, sharding);
    ShardingAttr &known = shardings[key];
    if (!known)
      known = ShardingAttr::get(symbol, sharding, plan.mesh);
    return known;
  }
  ArrayAttr stepsOf(const PlannedReshards::Steps &steps);
  void setSteps(NamedAttrList &attributes, StringRef name,
                ArrayRef<Attribute> lists);
  void writeModule();
  void writeFunction(StringRef name, ArrayRef<unsigned> arguments,
                     ArrayRef<unsigned> results, bool setup);
  void writeReturnedSteps(func::FuncOp func);
  void writeOp(Operation *op, unsigned index);

  ModuleOp module;
  const ModelGraph &graph;
  const Plan &plan;
  PlannedReshards reshards;
  OpBuilder builder;
  FlatSymbolRefAttr symbol;
  llvm::StringMap<ShardingAttr> shardings;
};

} // namespace

ArrayAttr PlanWriter::stepsOf(const PlannedReshards::Steps &steps) {
  SmallVector<Attribute> list;
  if (steps) // the search and verify have seen to that
    for (const ReshardStep &step : *steps)
      list.push_back(
          ReshardStepAttr::get(module.getContext(), step, plan.mesh));
  return builder.getArrayAttr(list);
}

/// Sets the steps of each operand or result, if some have any.
void PlanWriter::setSteps(NamedAttrList &attributes, StringRef name,
                          ArrayRef<Attribute> lists) {
  attributes.erase(name);
  if (llvm::any_of(
          lists, [](Attribute list) { return !cast<ArrayAttr>(list).empty(); }))
    attributes.set(name, builder.getArrayAttr(lists));
}

void PlanWriter::writeModule() {
  for (MeshOp mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
    mesh.erase();
  builder.setInsertionPointToStart(module.getBody());
  MeshOp::create(builder, module.getLoc(), kMesh,
                 MeshAttr::get(module.getContext(), plan.mesh));
  module->setAttr(AutoparDialect::kStages,
                  builder.getI64IntegerAttr(plan.stages));
  module->setAttr(AutoparDialect::kPlan,
                  attributeFromJSON(module.getContext(), summaryToJSON(plan)));
  module->removeAttr(AutoparDialect::kRequest); // the plan answers it
}

/// Writes the shardings of one function. A result of @setup has the sharding
/// that its users in @step want; a result of @step is not partial.
void PlanWriter::writeFunction(StringRef name, ArrayRef<unsigned> arguments,
                               ArrayRef<unsigned> results, bool setup) {
  auto func = module.lookupSymbol<func::FuncOp>(name);
  if (!func)
    return;
  SmallVector<Attribute> taken, given;
  for (unsigned value : arguments)
    taken.push_back(attr(plan.values[value].sharding));
  for (unsigned value : results) {
    const Sharding &sharding = plan.values[value].sharding;
    given.push_back(attr(setup ? sharding : endPartial(sharding)));
  }
  setArgAttrs(func, AutoparDialect::kSharding, taken);
  setResultAttrs(func, AutoparDialect::kSharding, given);
  if (!setup)
    writeReturnedSteps(func);
}

/// Writes the steps of results that are resharded when @step returns them.
void PlanWriter::writeReturnedSteps(func::FuncOp func) {
  SmallVector<Attribute> steps(func.getNumResults());
  for (unsigned result = 0; result < steps.size(); ++result) {
    ArrayAttr list = stepsOf(reshards.ofReturned(result));
    if (!list.empty())
      steps[result] = list;
    else if (func.getResultAttr(result, AutoparDialect::kSteps))
      func.removeResultAttr(result,
                            builder.getStringAttr(AutoparDialect::kSteps));
  }
  setResultAttrs(func, AutoparDialect::kSteps, steps);
}

void PlanWriter::writeOp(Operation *op, unsigned index) {
  const PlannedOp &planned = plan.ops[index];
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  attributes.set(AutoparDialect::kStrategy,
                 StrategyAttr::get(symbol, planned.assignment, plan.mesh));
  SmallVector<Attribute> ofResults;
  for (unsigned result : graph.ops[index].results)
    ofResults.push_back(attr(plan.values[result].sharding));
  attributes.set(AutoparDialect::kShardings, builder.getArrayAttr(ofResults));
  SmallVector<Attribute> operandSteps, resultSteps;
  for (unsigned i = 0; i < graph.ops[index].operands.size(); ++i)
    operandSteps.push_back(stepsOf(reshards.ofOperand(index, i)));
  for (unsigned i = 0; i < graph.ops[index].results.size(); ++i)
    resultSteps.push_back(stepsOf(reshards.ofResult(index, i)));
  setSteps(attributes, AutoparDialect::kOperandSteps, operandSteps);
  setSteps(attributes, AutoparDialect::kResultSteps, resultSteps);
  if (planned.regathers.empty())
    attributes.erase(AutoparDialect::kRegathers);
  else
    attributes.set(AutoparDialect::kRegathers,
                   builder.getDenseI64ArrayAttr(SmallVector<int64_t>(
                       planned.regathers.begin(), planned.regathers.end())));
  if (plan.stages > 1)
    attributes.set(AutoparDialect::kStage,
                   builder.getI64IntegerAttr(planned.stage));
  else
    attributes.erase(AutoparDialect::kStage);
  if (planned.padded)
    attributes.set(AutoparDialect::kPadded, builder.getUnitAttr());
  else
    attributes.erase(AutoparDialect::kPadded);
  op->setDiscardableAttrs(attributes.getDictionary(builder.getContext()));
}

void PlanWriter::write() {
  writeModule();
  writeFunction("setup", graph.setupArguments, graph.setupResults, true);
  writeFunction("step", graph.stepArguments, graph.stepResults, false);
  for (const auto &[index, op] : llvm::enumerate(plannedOps(module)))
    writeOp(op, index);
}

void writePlan(ModuleOp module, const ModelGraph &graph, const Plan &plan) {
  PlanWriter(module, graph, plan).write();
}

} // namespace autopar
