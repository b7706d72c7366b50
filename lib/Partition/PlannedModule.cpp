//===- PlannedModule.cpp - Reads a plan's attributes ----------------------===//

#include "PlannedModule.h"

using namespace mlir;

namespace autopar {

ArrayAttr ModuleMesh::axes(Builder &builder, ArrayRef<unsigned> subAxes) const {
  SmallVector<Attribute> names;
  for (const std::string &name : mesh.spell(subAxes))
    names.push_back(builder.getStringAttr(name));
  return builder.getArrayAttr(names);
}

FailureOr<ModuleMesh> getModuleMesh(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  if (meshes.empty())
    return module.emitError("there is no autopar.mesh: plan the module first");
  MeshOp first = *meshes.begin();
  if (std::next(meshes.begin()) != meshes.end()) {
    MeshOp second = *std::next(meshes.begin());
    auto error = second.emitError("a planned module has one mesh: remove this");
    error.attachNote(first.getLoc()) << "the first mesh is here";
    return error;
  }
  return ModuleMesh{first.getMesh().toMesh(),
                    FlatSymbolRefAttr::get(first.getSymNameAttr())};
}

SmallVector<func::FuncOp> activeFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration() && !function->hasAttr(AutoparDialect::kKept))
      functions.push_back(function);
  return functions;
}

FailureOr<Sharding> readSharding(Operation *at, Attribute attribute,
                                 const ModuleMesh &moduleMesh,
                                 const Twine &what) {
  if (auto sharding = dyn_cast_or_null<ShardingAttr>(attribute))
    return sharding.toSharding(moduleMesh.mesh);
  return at->emitError() << what << " has no sharding: plan the module first";
}

FailureOr<OpPlan> planOf(ShardingRuleOpInterface op,
                         const ModuleMesh &moduleMesh) {
  auto strategy = op->getAttrOfType<StrategyAttr>(AutoparDialect::kStrategy);
  if (!strategy)
    return op->emitError() << "node '" << nodeName(op->getLoc())
                           << "' has no autopar.strategy: plan the module "
                              "first";
  OpPlan plan;
  plan.rule = op.getShardingRule();
  plan.assignment = strategy.toAssignment(moduleMesh.mesh);
  auto shardings = shardingsOf(plan.rule, plan.assignment, moduleMesh.mesh);
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
