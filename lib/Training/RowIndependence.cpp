//===- RowIndependence.cpp - Whether rows meet ----------------------------===//

#include "RowIndependence.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Interfaces/Interfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace autopar {
namespace {

/// Follows the dimension whose major part is the batch through ops.
class RowFollower {
public:
  explicit RowFollower(int64_t rows) : rows(rows) {}

  /// An input whose dimension 0 is as large as the batch has rows.
  void seed(Value input) {
    ArrayRef<int64_t> shape = shapeOf(input);
    if (!shape.empty() && shape[0] == rows)
      dims[input] = 0;
  }
  /// False if rows meet in the op.
  bool follow(Operation *op);
  /// The dimension; nothing if the value depends on no row.
  std::optional<unsigned> dimOf(Value value) const {
    auto found = dims.find(value);
    return found == dims.end() ? std::nullopt
                               : std::optional<unsigned>(found->second);
  }

private:
  std::optional<unsigned> factorOf(const ShardingRule &rule,
                                   const DimFactors &);
  bool setResult(Value result, const TensorFactors &factors, unsigned factor);

  int64_t rows;
  llvm::DenseMap<Value, unsigned> dims;
};

} // namespace

/// The factor that has the rows, a parallel one.
std::optional<unsigned> RowFollower::factorOf(const ShardingRule &rule,
                                              const DimFactors &dim) {
  if (dim.factors.empty() || dim.window)
    return std::nullopt;
  unsigned factor = dim.factors.front();
  const Factor &what = rule.factors[factor];
  bool isWhole = what.kind == FactorKind::Parallel && what.size % rows == 0;
  return isWhole ? std::optional(factor) : std::nullopt;
}

bool RowFollower::setResult(Value result, const TensorFactors &factors,
                            unsigned factor) {
  for (auto [dim, made] : llvm::enumerate(factors))
    if (!made.factors.empty() && made.factors.front() == factor) {
      dims[result] = dim;
      return true;
    }
  return false;
}

bool RowFollower::follow(Operation *op) {
  std::optional<ShardingRule> rule;
  std::optional<unsigned> factor;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    std::optional<unsigned> dim = dimOf(operand);
    if (!dim)
      continue;
    if (!rule) {
      auto sharded = dyn_cast<ShardingRuleOpInterface>(op);
      if (!sharded)
        return false;
      rule = sharded.getShardingRule();
    }
    std::optional<unsigned> mine =
        factorOf(*rule, rule->operands[number][*dim]);
    if (!mine || (factor && *factor != *mine))
      return false;
    factor = mine;
  }
  if (!factor)
    return true;
  for (auto [number, result] : llvm::enumerate(op->getResults()))
    if (!setResult(result, rule->results[number], *factor))
      return false;
  return true;
}

Operation *findMeetingRows(StepFunction &step, Value value) {
  llvm::SetVector<Value> needed;
  needed.insert(value);
  for (size_t i = 0; i < needed.size(); ++i)
    if (Operation *op = needed[i].getDefiningOp())
      needed.insert(op->operand_begin(), op->operand_end());
  RowFollower follower(shapeOf(value)[0]);
  for (BlockArgument argument : step.body().getArguments())
    if (isa_and_nonnull<InputAttr>(step.source(argument)))
      follower.seed(argument);
  for (Operation &op : step.body().without_terminator())
    if (llvm::any_of(op.getResults(),
                     [&](Value result) { return needed.contains(result); }) &&
        !follower.follow(&op))
      return &op;
  bool isFirst = follower.dimOf(value) == 0u;
  return isFirst ? nullptr : value.getDefiningOp();
}

} // namespace autopar
