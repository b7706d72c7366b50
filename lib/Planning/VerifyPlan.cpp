//===- VerifyPlan.cpp - No value without a sharding -----------------------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Planning/PlannedModule.h"
#include "autopar/Planning/StepRepeats.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_VERIFYPLAN
#include "autopar/Planning/Passes.h.inc"

namespace {

/// Checks one module. Each error is reported at the op that it concerns.
class PlanChecker {
public:
  PlanChecker(ModuleOp module, const PlannedModule &planned)
      : module(module), mesh(planned.mesh), stages(planned.pipeline.stages) {}
  LogicalResult check();

private:
  LogicalResult checkFunction(func::FuncOp func);
  LogicalResult checkSharding(Operation *at, Attribute attribute, Type type,
                              const Twine &what);
  LogicalResult checkOp(Operation *op, const StepRepeats &repeats);
  LogicalResult checkRegathers(Operation *op);
  LogicalResult checkSteps(Operation *op, const OpShardings &sides);
  LogicalResult checkReturn(func::FuncOp func);
  LogicalResult checkStage(Operation *op, const StepRepeats &repeats);

  ModuleOp module;
  const Mesh &mesh;
  const int64_t stages;
};

} // namespace

LogicalResult PlanChecker::checkSharding(Operation *at, Attribute attribute,
                                         Type type, const Twine &what) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attribute);
  if (!sharding)
    return at->emitOpError(what) << " has no sharding after planning";
  size_t rank = cast<RankedTensorType>(type).getRank();
  if (sharding.getDims().size() != rank)
    return at->emitOpError(what) << " has rank " << rank << ", its sharding "
                                 << sharding.getDims().size() << " dimensions";
  return success();
}

LogicalResult PlanChecker::checkStage(Operation *op,
                                      const StepRepeats &repeats) {
  if (stages > 1 && !op->hasAttr(AutoparDialect::kStage))
    return op->emitOpError("has no stage, but the plan has several");
  if (stageOf(op) < 0 || stageOf(op) >= stages)
    return op->emitOpError("is in stage ")
           << stageOf(op) << ", but the plan has " << stages;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && !repeats.isRepeated(producer) &&
        stageOf(producer) > stageOf(op)) {
      InFlightDiagnostic error = op->emitOpError("reads from a later stage");
      error.attachNote(producer->getLoc()) << "defined here";
      return error;
    }
  return success();
}

/// Returns the sharding in which a value is stored, which has been checked;
/// nullopt for the result of an op that no plan decides about.
static std::optional<Sharding> storedSharding(Value value, const Mesh &mesh) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    Attribute sharding =
        func.getArgAttr(argument.getArgNumber(), AutoparDialect::kSharding);
    return cast<ShardingAttr>(sharding).toSharding(mesh);
  }
  auto shardings = value.getDefiningOp()->getAttrOfType<ArrayAttr>(
      AutoparDialect::kShardings);
  if (!shardings)
    return std::nullopt;
  unsigned number = cast<OpResult>(value).getResultNumber();
  return cast<ShardingAttr>(shardings[number]).toSharding(mesh);
}

/// Checks that the steps lead where a reshard has to. `emitError` begins the
/// error.
static LogicalResult checkReshard(function_ref<InFlightDiagnostic()> emitError,
                                  Attribute steps,
                                  const std::optional<Sharding> &from,
                                  const std::optional<Sharding> &to,
                                  const Mesh &mesh) {
  return from && to ? verifySteps(emitError, steps, *from, *to, mesh)
                    : success();
}

/// Checks the reshards at an op, whose strategy makes `sides` of it.
LogicalResult PlanChecker::checkSteps(Operation *op, const OpShardings &sides) {
  auto stepsOf = [&](StringRef name, unsigned index) {
    auto lists = op->getAttrOfType<ArrayAttr>(name);
    return lists ? lists[index] : Attribute();
  };
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    if (failed(checkReshard(
            [op, index = index] {
              return op->emitOpError("operand ") << index << ": ";
            },
            stepsOf(AutoparDialect::kOperandSteps, index),
            storedSharding(value, mesh), sides.operands[index], mesh)))
      return failure();
  for (auto [index, value] : llvm::enumerate(op->getResults()))
    if (failed(checkReshard(
            [op, index = index] {
              return op->emitOpError("result ") << index << ": ";
            },
            stepsOf(AutoparDialect::kResultSteps, index), sides.results[index],
            storedSharding(value, mesh), mesh)))
      return failure();
  return success();
}

/// Checks that an op makes only reshards again that it has, in one stage.
LogicalResult PlanChecker::checkRegathers(Operation *op) {
  auto numbers =
      op->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kRegathers);
  if (!numbers)
    return success();
  if (stages > 1)
    return op->emitOpError() << "has " << AutoparDialect::kRegathers
                             << ", which is for plans of one stage";
  auto lists = op->getAttrOfType<ArrayAttr>(AutoparDialect::kOperandSteps);
  for (int64_t number : numbers.asArrayRef())
    if (!lists || cast<ArrayAttr>(lists[number]).empty())
      return op->emitOpError("operand ")
             << number << " is in " << AutoparDialect::kRegathers
             << ", but has no reshard";
  return success();
}

LogicalResult PlanChecker::checkReturn(func::FuncOp func) {
  Operation *end = func.front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    auto to = cast<ShardingAttr>(
        func.getResultAttr(index, AutoparDialect::kSharding));
    if (failed(checkReshard(
            [end, index = index] {
              return end->emitOpError("operand ") << index << ": ";
            },
            func.getResultAttr(index, AutoparDialect::kSteps),
            storedSharding(value, mesh), to.toSharding(mesh), mesh)))
      return failure();
  }
  return success();
}

LogicalResult PlanChecker::checkOp(Operation *op, const StepRepeats &repeats) {
  auto strategy = op->getAttrOfType<StrategyAttr>(AutoparDialect::kStrategy);
  if (!strategy)
    return op->emitOpError("has no strategy after planning");
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  std::optional<OpShardings> sides =
      shardingsOf(rule, strategy.toAssignment(mesh), mesh);
  if (!sides)
    return op->emitOpError("has a strategy that its sharding rule forbids");
  auto shardings = op->getAttrOfType<ArrayAttr>(AutoparDialect::kShardings);
  if (!shardings || shardings.size() != op->getNumResults())
    return op->emitOpError("needs one sharding per result after planning");
  for (auto [attribute, result] : llvm::zip_equal(shardings, op->getResults()))
    if (failed(checkSharding(op, attribute, result.getType(), "result")))
      return failure();
  return failure(failed(checkSteps(op, *sides)) || failed(checkRegathers(op)) ||
                 failed(checkStage(op, repeats)));
}

LogicalResult PlanChecker::checkFunction(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (failed(checkSharding(
            func, func.getArgAttr(i, AutoparDialect::kSharding),
            func.getArgument(i).getType(), "argument " + Twine(i))))
      return failure();
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (failed(checkSharding(func,
                             func.getResultAttr(i, AutoparDialect::kSharding),
                             func.getResultTypes()[i], "result " + Twine(i))))
      return failure();
  StepRepeats repeats(func);
  for (Operation &op : func.front().without_terminator())
    if (isa<ShardingRuleOpInterface>(op) && failed(checkOp(&op, repeats)))
      return failure();
  return checkReturn(func);
}

LogicalResult PlanChecker::check() {
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && failed(checkFunction(func)))
      return failure();
  return success();
}

namespace {

struct VerifyPlan : impl::VerifyPlanBase<VerifyPlan> {
  void runOnOperation() override {
    FailureOr<PlannedModule> planned = PlannedModule::read(getOperation());
    if (failed(planned) ||
        failed(PlanChecker(getOperation(), *planned).check()))
      signalPassFailure();
  }
};

} // namespace

} // namespace autopar
