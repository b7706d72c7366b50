//===- RecordSteps.cpp - The steps of reshards of random plans ------------===//

#include "RecordSteps.h"
#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace autopar::property {

namespace {
class Recorder {
public:
  Recorder(const Mesh &mesh, const Cluster &cluster, MLIRContext *context)
      : mesh(mesh), builder(context),
        paths(mesh, CommunicationModel::reshardCost(cluster, mesh)) {}
  void record(func::FuncOp func);

private:
  Sharding read(Attribute attribute) const {
    return cast<ShardingAttr>(attribute).toSharding(mesh);
  }
  ArrayAttr steps(Value value, const Sharding &from, const Sharding &to);
  void recordOp(ShardingRuleOpInterface op);

  const Mesh &mesh;
  Builder builder;
  ReshardCache paths;
  llvm::DenseMap<Value, Sharding> stored;
};
} // namespace

ArrayAttr Recorder::steps(Value value, const Sharding &from,
                          const Sharding &to) {
  auto type = cast<RankedTensorType>(value.getType());
  const std::optional<ReshardPath> &path =
      paths.get(from, to, type.getShape(), elementBytes(type.getElementType()));
  SmallVector<Attribute> list;
  if (path)
    for (const ReshardStep &step : *path)
      list.push_back(ReshardStepAttr::get(builder.getContext(), step, mesh));
  return builder.getArrayAttr(list);
}

void Recorder::recordOp(ShardingRuleOpInterface op) {
  auto strategy = op->getAttrOfType<StrategyAttr>(AutoparDialect::kStrategy);
  std::optional<OpShardings> sides =
      shardingsOf(op.getShardingRule(), strategy.toAssignment(mesh), mesh);
  auto shardings = op->getAttrOfType<ArrayAttr>(AutoparDialect::kShardings);
  SmallVector<Attribute> operandSteps, resultSteps;
  for (auto [value, want] : llvm::zip_equal(op->getOperands(), sides->operands))
    operandSteps.push_back(steps(value, stored.at(value), want));
  for (auto [value, given, attribute] :
       llvm::zip_equal(op->getResults(), sides->results, shardings)) {
    stored[value] = read(attribute);
    resultSteps.push_back(steps(value, given, stored[value]));
  }
  op->setAttr(AutoparDialect::kOperandSteps,
              builder.getArrayAttr(operandSteps));
  op->setAttr(AutoparDialect::kResultSteps, builder.getArrayAttr(resultSteps));
}

void Recorder::record(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments())
    stored[argument] = read(
        func.getArgAttr(argument.getArgNumber(), AutoparDialect::kSharding));
  func.walk([&](ShardingRuleOpInterface op) { recordOp(op); });
  for (OpOperand &result : func.front().getTerminator()->getOpOperands()) {
    unsigned number = result.getOperandNumber();
    Sharding want = read(func.getResultAttr(number, AutoparDialect::kSharding));
    func.setResultAttr(number, AutoparDialect::kSteps,
                       steps(result.get(), stored.at(result.get()), want));
  }
}

void recordSteps(ModuleOp module, const Mesh &mesh) {
  auto stages = module->getAttrOfType<IntegerAttr>(AutoparDialect::kStages);
  Cluster cluster =
      llvm::cantFail(clusterOfRanks(mesh.deviceCount() * stages.getInt()));
  Recorder recorder(mesh, cluster, module.getContext());
  for (auto func : module.getOps<func::FuncOp>())
    recorder.record(func);
}

} // namespace autopar::property
