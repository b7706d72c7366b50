//===- DecomposeComposites.cpp - Splits composites along reduced factors --===//
//
// softmax split along its dimension:
//   %m = reduce max %x          split: partial max, ended at once
//   %b = broadcast %m           split as its users read it
//   ...
//
//===----------------------------------------------------------------------===//

#include "OpPlan.h"
#include "autopar/Equality/Origin.h"
#include "autopar/Partition/Passes.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_DECOMPOSECOMPOSITES
#include "autopar/Partition/Passes.h.inc"
} // namespace autopar

using namespace autopar;

static bool splitsDecompose(const OpPlan &plan) {
  return llvm::any_of(plan.assignment, [&](const Choice &choice) {
    return choice.kind == Choice::Split &&
           plan.rule.factors[choice.index].kind == FactorKind::Decompose;
  });
}

/// The factor that is split when a dimension is: the major one above size 1.
static std::optional<unsigned> splitFactor(const ShardingRule &rule,
                                           const DimFactors &dim) {
  for (unsigned factor : dim.factors)
    if (rule.factors[factor].size != 1)
      return factor;
  if (dim.factors.empty())
    return std::nullopt;
  return dim.factors.front();
}

namespace {

/// The parts of one composite and how they follow its operands.
class Parts {
public:
  Parts(const PlannedModule &planned, const OpPlan &composite,
        Operation *compositeOp)
      : planned(planned), builder(compositeOp->getContext()) {
    auto steps =
        compositeOp->getAttrOfType<ArrayAttr>(AutoparDialect::kOperandSteps);
    if (auto numbers = compositeOp->getAttrOfType<DenseI64ArrayAttr>(
            AutoparDialect::kRegathers))
      for (int64_t number : numbers.asArrayRef())
        regathered.insert(compositeOp->getOperand(number));
    for (auto [index, operand] : llvm::enumerate(compositeOp->getOperands())) {
      shardingOf.try_emplace(operand, composite.shardings.operands[index]);
      stepsOf.try_emplace(operand, steps ? cast<ArrayAttr>(steps[index])
                                         : builder.getArrayAttr({}));
    }
  }

  void add(ShardingRuleOpInterface op) {
    OpPlan plan;
    plan.rule = op.getShardingRule();
    plan.assignment.resize(planned.mesh.subAxes().size());
    ops.push_back(op);
    plans.push_back(std::move(plan));
  }

  /// Finds the factors that the sub-axis splits in the parts. Operands decide
  /// first; if they say nothing (a broadcast's new dimension, a constant),
  /// users decide.
  void assign() {
    for (size_t i = 0; i < ops.size(); ++i)
      followOperands(i);
    for (size_t i = ops.size(); i-- > 0;)
      followUsers(i);
  }

  /// Writes what the plan says of a part: its strategy, the sharding of its
  /// result for its users (as the strategy gives it, with partial values
  /// reduced), and the steps of its reshards.
  void annotate(Operation *compositeOp) {
    for (auto [op, plan] : llvm::zip_equal(ops, plans)) {
      auto shardings = shardingsOf(plan.rule, plan.assignment, planned.mesh);
      SmallVector<Attribute> results, resultSteps, operandSteps;
      SmallVector<int64_t> regathers;
      for (Sharding &sharding : shardings->results) {
        resultSteps.push_back(endPartial(sharding));
        results.push_back(planned.attr(sharding));
      }
      for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
        if (regathered.erase(operand)) // the other parts share it
          regathers.push_back(index);
        auto known = stepsOf.find(operand);
        operandSteps.push_back(known == stepsOf.end() ? builder.getArrayAttr({})
                                                      : known->second);
      }
      op->setAttr(
          AutoparDialect::kStrategy,
          StrategyAttr::get(planned.symbol, plan.assignment, planned.mesh));
      op->setAttr(AutoparDialect::kShardings, builder.getArrayAttr(results));
      op->setAttr(AutoparDialect::kResultSteps,
                  builder.getArrayAttr(resultSteps));
      op->setAttr(AutoparDialect::kOperandSteps,
                  builder.getArrayAttr(operandSteps));
      op->removeAttr(AutoparDialect::kRegathers); // the composite's
      if (!regathers.empty())
        op->setAttr(AutoparDialect::kRegathers,
                    builder.getDenseI64ArrayAttr(regathers));
      if (Attribute stage = compositeOp->getAttr(AutoparDialect::kStage))
        op->setAttr(AutoparDialect::kStage, stage);
    }
  }

private:
  /// Makes a partial sharding whole; returns the steps, an all-reduce over all
  /// its axes. The price of a composite counts on it (combiningStep).
  ArrayAttr endPartial(Sharding &sharding) {
    if (sharding.partial.empty())
      return builder.getArrayAttr({});
    ShardingStep step;
    step.kind = ReshardKind::AllReduce;
    step.reduce = sharding.partial.front().kind;
    for (const Partial &partial : sharding.partial)
      step.subAxes.push_back(partial.subAxis);
    sharding.partial.clear();
    Attribute attr =
        ReshardStepAttr::get(builder.getContext(), step, planned.mesh);
    return builder.getArrayAttr(attr);
  }

  /// Lets `subAxis` split `factor` in part `i` if that is legal.
  bool trySplit(size_t i, unsigned subAxis, unsigned factor) {
    Assignment &assignment = plans[i].assignment;
    assignment[subAxis] = {Choice::Split, factor};
    if (shardingsOf(plans[i].rule, assignment, planned.mesh))
      return true;
    assignment[subAxis] = Choice();
    return false;
  }

  void followOperands(size_t i) {
    for (auto [index, operand] : llvm::enumerate(ops[i]->getOperands())) {
      auto it = shardingOf.find(operand);
      if (it == shardingOf.end())
        continue;
      for (auto [dim, dimSharding] : llvm::enumerate(it->second.dims)) {
        auto factor =
            splitFactor(plans[i].rule, plans[i].rule.operands[index][dim]);
        if (!factor)
          continue;
        for (unsigned subAxis : dimSharding.subAxes)
          if (plans[i].assignment[subAxis].kind == Choice::None)
            trySplit(i, subAxis, *factor);
      }
    }
    auto shardings =
        shardingsOf(plans[i].rule, plans[i].assignment, planned.mesh);
    for (auto [result, sharding] :
         llvm::zip_equal(ops[i]->getResults(), shardings->results)) {
      sharding.partial.clear();
      shardingOf[result] = sharding;
    }
  }

  void followUsers(size_t i) {
    for (auto [index, result] : llvm::enumerate(ops[i]->getResults())) {
      auto it = wanted.find(result);
      if (it == wanted.end())
        continue;
      for (auto [dim, want] : llvm::enumerate(it->second.dims)) {
        auto factor =
            splitFactor(plans[i].rule, plans[i].rule.results[index][dim]);
        if (!factor)
          continue;
        for (unsigned subAxis : want.subAxes)
          if (plans[i].assignment[subAxis].kind == Choice::None)
            trySplit(i, subAxis, *factor);
      }
    }
    auto shardings =
        shardingsOf(plans[i].rule, plans[i].assignment, planned.mesh);
    for (auto [operand, sharding] :
         llvm::zip_equal(ops[i]->getOperands(), shardings->operands))
      wanted[operand] = sharding; // the first user in program order wins
  }

  const PlannedModule &planned;
  Builder builder;
  SmallVector<ShardingRuleOpInterface> ops;
  SmallVector<OpPlan, 0> plans;
  DenseMap<Value, Sharding> shardingOf, wanted;
  DenseMap<Value, ArrayAttr> stepsOf; // of the composite's operands
  DenseSet<Value> regathered;         // of the composite's operands
};

} // namespace

/// Writes on the parts that make the results what the plan says of these: their
/// names, their shardings and the steps to them.
static void keepPromises(Operation *composite, ValueRange replacements,
                         ArrayRef<Operation *> parts) {
  auto shardings =
      composite->getAttrOfType<ArrayAttr>(AutoparDialect::kShardings);
  auto steps =
      composite->getAttrOfType<ArrayAttr>(AutoparDialect::kResultSteps);
  for (auto [index, value] : llvm::enumerate(replacements)) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getNumResults() != 1 || !llvm::is_contained(parts, def))
      continue;
    if (shardings)
      def->setAttr(AutoparDialect::kShardings,
                   ArrayAttr::get(def->getContext(), shardings[index]));
    if (steps)
      def->setAttr(AutoparDialect::kResultSteps,
                   ArrayAttr::get(def->getContext(), steps[index]));
    if (Attribute names = composite->getAttr(AutoparDialect::kNames);
        names && composite->getNumResults() == 1)
      def->setAttr(AutoparDialect::kNames, names);
  }
}

/// Numbers the parts, so that the equality checker finds them.
static void numberParts(Operation *composite, ArrayRef<Operation *> parts) {
  auto origin =
      composite->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kOrigin);
  if (!origin)
    return;
  for (auto [number, part] : llvm::enumerate(parts))
    part->setAttr(AutoparDialect::kOrigin, originOfPart(origin, number));
}

/// Replaces `composite`; returns the first of its parts, null after an error.
static Operation *decompose(DecomposeOpInterface composite, const OpPlan &plan,
                            const PlannedModule &planned) {
  Operation *before = composite->getPrevNode();
  OpBuilder builder(composite);
  SmallVector<Value> values = composite.decompose(builder);
  if (values.size() != composite->getNumResults()) {
    composite->emitError() << "node '" << nodeName(composite->getLoc())
                           << "' does not decompose: choose a strategy that "
                              "does not split its reduced dimension";
    return nullptr;
  }
  Block *block = composite->getBlock();
  Operation *first = before ? before->getNextNode() : &block->front();
  Parts parts(planned, plan, composite);
  SmallVector<Operation *> all;
  for (Operation *op = first; op != composite; op = op->getNextNode()) {
    all.push_back(op);
    if (auto rule = dyn_cast<ShardingRuleOpInterface>(op))
      parts.add(rule);
  }
  parts.assign();
  parts.annotate(composite);
  keepPromises(composite, values, all);
  numberParts(composite, all);
  composite->replaceAllUsesWith(values);
  Operation *next = all.empty() ? composite->getNextNode() : first;
  composite->erase();
  return next;
}

/// Decomposes all composites, and then their parts, which may be composites
/// themselves.
static LogicalResult decomposeAll(func::FuncOp function,
                                  const PlannedModule &planned) {
  Operation *op = &function.getBody().front().front();
  while (op) {
    auto composite = dyn_cast<DecomposeOpInterface>(op);
    auto rule = dyn_cast<ShardingRuleOpInterface>(op);
    if (!composite || !rule) {
      op = op->getNextNode();
      continue;
    }
    FailureOr<OpPlan> plan = planOf(rule, planned);
    if (failed(plan))
      return failure();
    op = splitsDecompose(*plan) ? decompose(composite, *plan, planned)
                                : op->getNextNode();
    if (!op)
      return failure();
  }
  return success();
}

namespace {
struct DecomposeComposites
    : autopar::impl::DecomposeCompositesBase<DecomposeComposites> {
  void runOnOperation() final {
    FailureOr<PlannedModule> planned = PlannedModule::read(getOperation());
    if (failed(planned))
      return signalPassFailure();
    for (func::FuncOp function : activeFunctions(getOperation()))
      if (failed(decomposeAll(function, *planned)))
        return signalPassFailure();
  }
};
} // namespace
