//===- InsertReshards.cpp - Makes changes of sharding ops -----------------===//
//
//   %1 = einsum %x, %w {strategy: gives partial, shardings: whole,
//                       result_steps: all_reduce}
//   %2 = softmax %1 {strategy: reads rows split, operand_steps: slice_block}
// becomes
//   %1 = einsum ...
//   %a = reshard %1 from partial to whole, steps: all_reduce
//   %b = reshard %a from whole to rows split, steps: slice_block
//   %2 = softmax %b
//
// A reader with `autopar.regathers` makes a reshard again.
//
//===----------------------------------------------------------------------===//

#include "OpPlan.h"
#include "autopar/Partition/Passes.h"
#include "autopar/Planning/Plan/SharedReshards.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_INSERTRESHARDS
#include "autopar/Partition/Passes.h.inc"
} // namespace autopar

using namespace autopar;

namespace {

class ReshardInserter {
public:
  ReshardInserter(func::FuncOp function, const PlannedModule &planned)
      : function(function), planned(planned), builder(function.getContext()) {}

  LogicalResult run() {
    if (failed(readArguments()))
      return failure();
    for (Operation &op :
         llvm::make_early_inc_range(function.getBody().front())) {
      if (auto rule = dyn_cast<ShardingRuleOpInterface>(op)) {
        if (failed(rewrite(rule)))
          return failure();
      } else if (isa<func::ReturnOp>(op)) {
        if (failed(rewriteReturn(&op)))
          return failure();
      } else {
        return op.emitError("is not an op of a planned program: only compute "
                            "ops and return are");
      }
    }
    return success();
  }

private:
  LogicalResult readArguments() {
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      FailureOr<Sharding> sharding = readSharding(
          function, function.getArgAttr(index, AutoparDialect::kSharding),
          planned, "argument " + Twine(index));
      if (failed(sharding))
        return failure();
      shardingOf[argument] = *sharding;
    }
    return success();
  }

  LogicalResult rewrite(ShardingRuleOpInterface op) {
    FailureOr<OpPlan> plan = planOf(op, planned);
    if (failed(plan))
      return failure();
    auto steps = op->getAttrOfType<ArrayAttr>(AutoparDialect::kOperandSteps);
    auto regathers =
        op->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kRegathers);
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      if (failed(use(operand,
                     wantedSharding(plan->shardings.operands[index],
                                    plan->rule.operands[index]),
                     steps ? steps[index] : Attribute(),
                     regathers &&
                         llvm::is_contained(regathers.asArrayRef(), index))))
        return failure();
    }
    op->removeAttr(AutoparDialect::kOperandSteps);
    op->removeAttr(AutoparDialect::kRegathers);
    return define(op, *plan);
  }

  /// Inserts reshards of the op's results, from the sharding that the op gives
  /// to the one that users read.
  LogicalResult define(Operation *op, const OpPlan &plan) {
    auto attrs = op->getAttrOfType<ArrayAttr>(AutoparDialect::kShardings);
    auto steps = op->getAttrOfType<ArrayAttr>(AutoparDialect::kResultSteps);
    op->removeAttr(AutoparDialect::kResultSteps);
    builder.setInsertionPointAfter(op);
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      const Sharding &given = plan.shardings.results[index];
      if (!attrs) {
        shardingOf[result] = given;
        continue;
      }
      FailureOr<Sharding> wanted =
          readSharding(op, attrs[index], planned, "result " + Twine(index));
      if (failed(wanted))
        return failure();
      shardingOf[result] = given;
      FailureOr<Value> value = reshard(op, result, {*wanted, {}},
                                       steps ? steps[index] : Attribute(), op);
      if (failed(value))
        return failure();
      result.replaceAllUsesExcept(*value, value->getDefiningOp());
    }
    return success();
  }

  LogicalResult rewriteReturn(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      FailureOr<Sharding> want = readSharding(
          function, function.getResultAttr(index, AutoparDialect::kSharding),
          planned, "result " + Twine(index));
      if (failed(want))
        return failure();
      if (failed(use(operand, {*want, {}},
                     function.getResultAttr(index, AutoparDialect::kSteps),
                     /*again=*/false)))
        return failure();
      function.removeResultAttr(index,
                                builder.getStringAttr(AutoparDialect::kSteps));
    }
    return success();
  }

  /// Lets `operand` read its value as it wants it, from the reshard of the
  /// last reader that made it, or from one that it makes `again`.
  LogicalResult use(OpOperand &operand, const WantedSharding &wanted,
                    Attribute steps, bool again) {
    Value value = operand.get();
    if (shardingOf.at(value) == wanted.sharding)
      return success();
    Operation *maker = value.getDefiningOp(), *reader = operand.getOwner();
    std::optional<int64_t> stageOfMaker;
    if (maker)
      stageOfMaker = stageOf(maker);
    Value &made = reshards.find(
        value, wanted, reshardStage(stageOfMaker, stageOf(reader)), again);
    if (!made) {
      builder.setInsertionPoint(reader);
      FailureOr<Value> first =
          reshard(reader, value, wanted, steps, maker ? maker : reader);
      if (failed(first))
        return failure();
      made = *first;
      if (again)
        made.getDefiningOp()->setAttr(AutoparDialect::kRegather,
                                      builder.getI64IntegerAttr(regathers++));
    }
    operand.set(made);
    return success();
  }

  /// Makes a reshard by the recorded steps, which belongs to the node and the
  /// stage of `stageOp`. An error is reported at `reader`.
  FailureOr<Value> reshard(Operation *reader, Value value,
                           const WantedSharding &wanted, Attribute steps,
                           Operation *stageOp) {
    const Sharding from = shardingOf.at(value);
    if (from == wanted.sharding)
      return value;
    auto list = dyn_cast_or_null<ArrayAttr>(steps);
    if (!list || list.empty())
      return reader->emitError()
             << "node '" << nodeName(reader->getLoc())
             << "': the plan records no steps from " << planned.attr(from)
             << " to " << planned.attr(wanted.sharding)
             << ": plan the module first";
    ArrayAttr fill;
    if (!wanted.fill.empty())
      fill = builder.getF64ArrayAttr(wanted.fill);
    auto op = ReshardOp::create(builder, stageOp->getLoc(), value.getType(),
                                value, planned.attr(from),
                                planned.attr(wanted.sharding), fill, list);
    if (Attribute stage = stageOp->getAttr(AutoparDialect::kStage))
      op->setAttr(AutoparDialect::kStage, stage);
    shardingOf[op.getResult()] = wanted.sharding;
    return op.getResult();
  }

  func::FuncOp function;
  const PlannedModule &planned;
  OpBuilder builder;
  DenseMap<Value, Sharding> shardingOf;
  SharedReshards<Value, Value> reshards;
  int64_t regathers = 0;
};

struct InsertReshards : autopar::impl::InsertReshardsBase<InsertReshards> {
  void runOnOperation() final {
    FailureOr<PlannedModule> planned = PlannedModule::read(getOperation());
    if (failed(planned))
      return signalPassFailure();
    for (func::FuncOp function : activeFunctions(getOperation()))
      if (failed(ReshardInserter(function, *planned).run()))
        return signalPassFailure();
  }
};

} // namespace
