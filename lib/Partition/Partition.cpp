//===- Partition.cpp - From global to local types -------------------------===//

#include "LowerReshard.h"
#include "OpPlan.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Partition/Passes.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_PARTITION
#include "autopar/Partition/Passes.h.inc"
} // namespace autopar

using namespace autopar;

namespace {

/// Rewrites one function: new local ops before each global op, which go at the
/// end.
class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp function, const PlannedModule &planned)
      : function(function), planned(planned), builder(function.getContext()) {}

  LogicalResult run() {
    if (failed(localizeArguments()))
      return failure();
    for (Operation *op : globalOps) {
      builder.setInsertionPoint(op);
      if (failed(localize(op)))
        return failure();
    }
    return finish();
  }

private:
  /// New arguments of local types beside the global ones.
  LogicalResult localizeArguments() {
    Block &body = function.getBody().front();
    for (Operation &op : body)
      globalOps.push_back(&op);
    globalArguments = body.getNumArguments();
    SmallVector<Attribute> types;
    for (unsigned i = 0; i < globalArguments; ++i) {
      Type type = body.getArgument(i).getType();
      FailureOr<Sharding> sharding = readSharding(
          function, function.getArgAttr(i, AutoparDialect::kSharding), planned,
          "argument " + Twine(i));
      if (failed(sharding))
        return failure();
      types.push_back(TypeAttr::get(type));
      local[body.getArgument(i)] =
          body.addArgument(localType(type, *sharding, planned.mesh),
                           body.getArgument(i).getLoc());
    }
    setArgAttrs(function, AutoparDialect::kGlobalType, types);
    return success();
  }

  LogicalResult localize(Operation *op) {
    if (auto rule = dyn_cast<ShardingRuleOpInterface>(op))
      return localizeCompute(rule);
    if (auto reshard = dyn_cast<ReshardOp>(op)) {
      local[reshard.getResult()] =
          lowerReshard(builder, reshard, local.at(reshard.getInput()), planned);
      return success();
    }
    if (auto recv = dyn_cast<RecvOp>(op))
      return localizeRecv(recv);
    if (!isa<SendOp, func::ReturnOp>(op))
      return op->emitError("is not an op of a planned program");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(local.at(operand));
    cloneLocal(op, builder, operands, {});
    return success();
  }

  LogicalResult localizeRecv(RecvOp recv) {
    auto shardings = recv->getAttrOfType<ArrayAttr>(AutoparDialect::kShardings);
    Type type = recv.getResult().getType();
    FailureOr<Sharding> sharding =
        readSharding(recv, shardings ? shardings[0] : Attribute(), planned,
                     "what is received");
    if (failed(sharding))
      return failure();
    Operation *op =
        cloneLocal(recv, builder, {}, localType(type, *sharding, planned.mesh));
    op->removeAttr(AutoparDialect::kShardings);
    local[recv.getResult()] = op->getResult(0);
    return success();
  }

  LogicalResult localizeCompute(ShardingRuleOpInterface op) {
    FailureOr<OpPlan> plan = planOf(op, planned);
    if (failed(plan))
      return failure();
    SmallVector<Value> operands;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      operands.push_back(localOperand(op, *plan, i));
    SmallVector<Type> types;
    for (auto [result, sharding] :
         llvm::zip_equal(op->getResults(), plan->shardings.results))
      types.push_back(localType(result.getType(), sharding, planned.mesh));
    Operation *made = op.localize(builder, operands, types,
                                  Localization{plan->rule, plan->assignment,
                                               planned.mesh, planned.symbol});
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    made->removeAttr(AutoparDialect::kShardings);
    made->removeAttr(AutoparDialect::kStage);
    made->removeAttr(AutoparDialect::kTask);
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), made->getResults()))
      local[result] = value;
    return success();
  }

  /// The local operand, masked where its bytes past the extent would enter the
  /// result.
  Value localOperand(Operation *op, const OpPlan &plan, unsigned index) {
    Value value = local.at(op->getOperand(index));
    auto global = cast<RankedTensorType>(op->getOperand(index).getType());
    const Sharding &sharding = plan.shardings.operands[index];
    for (auto [dim, factors] : llvm::enumerate(plan.rule.operands[index])) {
      int64_t size = global.getDimSize(dim);
      if (!isUneven(size, sharding.dims[dim], planned.mesh))
        continue;
      for (unsigned factor : factors.factors)
        if (auto neutral = plan.rule.factors[factor].mask)
          value = MaskOp::create(
              builder, op->getLoc(), value.getType(), value, planned.symbol,
              planned.axes(builder, sharding.dims[dim].subAxes),
              builder.getI64IntegerAttr(dim), builder.getI64IntegerAttr(size),
              builder.getF64FloatAttr(*neutral));
    }
    return value;
  }

  /// Removes what is global and gives the function its local type.
  LogicalResult finish() {
    auto global = function.getFunctionType();
    SmallVector<Attribute> types;
    for (Type type : global.getResults())
      types.push_back(TypeAttr::get(type));
    setResultAttrs(function, AutoparDialect::kGlobalType, types);
    for (Operation *op : llvm::reverse(globalOps))
      op->erase();
    Block &body = function.getBody().front();
    body.eraseArguments(0, globalArguments);
    function.setType(builder.getFunctionType(
        body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
    return success();
  }

  func::FuncOp function;
  const PlannedModule &planned;
  OpBuilder builder;
  SmallVector<Operation *> globalOps;
  unsigned globalArguments = 0;
  DenseMap<Value, Value> local;
};

struct Partition : autopar::impl::PartitionBase<Partition> {
  void runOnOperation() final {
    FailureOr<PlannedModule> planned = PlannedModule::read(getOperation());
    if (failed(planned))
      return signalPassFailure();
    for (func::FuncOp function : activeFunctions(getOperation()))
      if (failed(FunctionPartitioner(function, *planned).run()))
        return signalPassFailure();
  }
};

} // namespace
