//===- RemarkOnPlan.cpp - A plan's decisions as remarks -------------------===//

#include "autopar/Report/RemarkOnPlan.h"
#include "CountedRows.h"
#include "autopar/Planning/Plan/MeshText.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Report/PlanText.h"

using namespace mlir;

namespace autopar {

namespace {

class Remarks {
public:
  Remarks(ModuleOp module, const ModelGraph &graph, const Plan &plan)
      : module(module), graph(graph), plan(plan), facts(factsOf(plan, graph)),
        ops(plannedOps(module)) {}

  void emit() {
    mesh();
    if (plan.stages > 1)
      stages();
    strategies();
    reshards();
  }

private:
  void mesh();
  void stages();
  void strategies();
  void reshards();

  ModuleOp module;
  const ModelGraph &graph;
  const Plan &plan;
  PlanFacts facts;
  SmallVector<Operation *> ops; // per op of the graph
};

} // namespace

static std::string alikeText(int64_t count) {
  return count > 1 ? "; so do " + std::to_string(count - 1) + " like it" : "";
}

void Remarks::mesh() {
  module.emitRemark() << "mesh " << meshText(plan.mesh)
                      << (plan.stages > 1 ? " of each stage" : "")
                      << ", strategy " << plan.strategy << ": a step takes "
                      << secondsText(plan.predictedStepSeconds)
                      << ", no plan of this search less than "
                      << secondsText(plan.lowerBoundSeconds);
}

/// Emits a remark at the first op of each stage. Ops that run in several stages
/// count for none.
void Remarks::stages() {
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    SmallVector<unsigned> own;
    for (const ExplainedOp &item : facts.ops)
      if (item.stages.size() == 1 && item.stages.front() == stage)
        own.push_back(item.op);
    if (own.empty())
      continue;
    const StageCost &cost = facts.stages[stage];
    ops[own.front()]->emitRemark()
        << "stage " << stage << " begins: " << own.size() << " ops up to '"
        << graph.ops[own.back()].name << "', " << secondsText(cost.compute)
        << " computing, " << secondsText(cost.communication)
        << " communicating, " << secondsText(cost.messages) << " in messages, "
        << bytesText(double(plan.predictedStageMemoryBytes[stage]))
        << " a device";
  }
}

void Remarks::strategies() {
  CountedRows rows;
  for (const ExplainedOp &item : facts.ops)
    rows.add(graph.ops[item.op].facts->signature + "|" + item.strategy,
             item.strategy, item.compute, item.op);
  for (const CostRow &row : rows.take())
    ops[row.index]->emitRemark() << row.text << ": " << secondsText(row.seconds)
                                 << " computing" << alikeText(row.count);
}

/// Emits a remark for each reshard at the op that makes the tensor, or else at
/// the first op that reads it.
void Remarks::reshards() {
  for (const CostRow &row : facts.origins) {
    const GraphValue &value = graph.values[row.index];
    Operation *at = module;
    if (value.source == ValueSource::Op)
      at = ops[value.producer];
    else if (!value.uses.empty())
      at = ops[value.uses.front().op];
    at->emitRemark() << row.text << ": " << secondsText(row.seconds)
                     << alikeText(row.count);
  }
}

void remarkOnPlan(ModuleOp module, const ModelGraph &graph, const Plan &plan) {
  Remarks(module, graph, plan).emit();
}

} // namespace autopar
