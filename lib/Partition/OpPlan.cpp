//===- OpPlan.cpp - Reads a plan's attributes of ops and values -----------===//

#include "OpPlan.h"

using namespace mlir;

namespace autopar {

SmallVector<func::FuncOp> activeFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration() && !function->hasAttr(AutoparDialect::kKept))
      functions.push_back(function);
  return functions;
}

FailureOr<Sharding> readSharding(Operation *at, Attribute attribute,
                                 const PlannedModule &planned,
                                 const Twine &what) {
  if (auto sharding = dyn_cast_or_null<ShardingAttr>(attribute))
    return sharding.toSharding(planned.mesh);
  return at->emitError() << what << " has no sharding: plan the module first";
}

FailureOr<OpPlan> planOf(ShardingRuleOpInterface op,
                         const PlannedModule &planned) {
  auto strategy = op->getAttrOfType<StrategyAttr>(AutoparDialect::kStrategy);
  if (!strategy)
    return op->emitError() << "node '" << nodeName(op->getLoc())
                           << "' has no autopar.strategy: plan the module "
                              "first";
  OpPlan plan;
  plan.rule = op.getShardingRule();
  plan.assignment = strategy.toAssignment(planned.mesh);
  auto shardings = shardingsOf(plan.rule, plan.assignment, planned.mesh);
  if (!shardings || shardings->operands.size() != op->getNumOperands() ||
      shardings->results.size() != op->getNumResults())
    return op->emitError() << "node '" << nodeName(op->getLoc())
                           << "': strategy " << strategy
                           << " is not legal by the op's sharding rule: choose "
                              "factors that may be split so";
  plan.shardings = std::move(*shardings);
  return plan;
}

} // namespace autopar
