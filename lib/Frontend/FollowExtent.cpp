//===- FollowExtent.cpp - A step with buffers in use up to an extent ------===//
//
// The first elements of a dimension that grows are in use. Most ops make them
// of the first ones of their operands, whatever is past those; what starts at
// the extent, or reduces, is rewritten.
//
//===----------------------------------------------------------------------===//

#include "FollowExtent.h"
#include "RuntimeExtent.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

namespace {

class ExtentFollower {
public:
  explicit ExtentFollower(SizedSteps &sized)
      : sized(sized), step(sized.step()), extent(sized),
        builder(step.getContext()) {}

  LogicalResult run();

private:
  void widenState(const GrowingState &state);
  LogicalResult visit(const Sample<Operation *> &ops);
  LogicalResult fixConstants(const Sample<Operation *> &ops);
  LogicalResult visitSlice(const Sample<Operation *> &ops);
  LogicalResult visitConcat(ConcatOp op);
  LogicalResult visitByRule(Operation *op);
  bool followsWithoutRule(Operation *op, Value value, int64_t dim) const;
  bool keepsZeros(Operation *op) const;
  void replace(Operation *op, Value by, bool isClean);
  void finish();

  SizedSteps &sized;
  func::FuncOp step; // the first
  RuntimeExtent extent;
  OpBuilder builder;
  DenseSet<Value> clean;          // zero past the extent
  DenseMap<Value, Value> widened; // a state's first rows, the whole state
};

} // namespace

static ConstantOp constantOf(Value value) {
  return value.getDefiningOp<ConstantOp>();
}

void ExtentFollower::replace(Operation *op, Value by, bool isClean) {
  Value old = op->getResult(0);
  sized.copyGrowth(old, by);
  if (isClean)
    clean.insert(by);
  if (Operation *last = by.getDefiningOp())
    last->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  old.replaceAllUsesWith(by);
  sized.forget(old);
  clean.erase(old);
  op->erase();
}

LogicalResult ExtentFollower::fixConstants(const Sample<Operation *> &ops) {
  for (OpOperand &operand : ops[0]->getOpOperands()) {
    if (!constantOf(operand.get()))
      continue;
    Sample<DenseElementsAttr> values;
    for (unsigned i = 0; i < 3; ++i)
      values[i] = dyn_cast<DenseElementsAttr>(
          constantOf(ops[i]->getOperand(operand.getOperandNumber()))
              .getValue());
    if (values[0] == values[1] && values[0] == values[2])
      continue;
    if (!llvm::all_of(values, [](Attribute value) { return bool(value); }))
      return sized.refuse(ops[0], "a constant operand changes");
    FailureOr<Value> value = extent.constant(values, ops[0]);
    if (failed(value))
      return failure();
    operand.set(*value);
  }
  return success();
}

/// A start that moves: rows by number.
LogicalResult ExtentFollower::visitSlice(const Sample<Operation *> &ops) {
  Sample<SliceOp> slices;
  for (unsigned i = 0; i < 3; ++i)
    slices[i] = cast<SliceOp>(ops[i]);
  SliceOp op = slices[0];
  if (op.getSteps() != slices[1].getSteps() ||
      op.getSteps() != slices[2].getSteps())
    return sized.refuse(op, "its steps change");
  auto from = op.getInput().getType(), to = op.getResult().getType();
  SmallVector<int64_t> starts(op.getStarts()), shape(to.getShape()),
      steps(op.getSteps());
  SmallVector<std::pair<int64_t, Value>> moving;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    std::optional<double> each =
        sized.slope({double(starts[dim]), double(slices[1].getStarts()[dim]),
                     double(slices[2].getStarts()[dim])});
    if (!each)
      return sized.refuse(op, "a start is not affine in it");
    if (*each == 0)
      continue;
    if (sized.grows(op.getResult(), dim))
      return sized.refuse(op,
                          "its start changes, and the size of what it takes");
    Value start = extent.number(starts[dim], int64_t(*each));
    int64_t size = shape[dim];
    moving.push_back({dim, extent.hoisted([&](TensorBuilder &b) {
                        Value place = b.iota({size}, builder.getI64Type(), 0);
                        Value step = b.mul(place, double(steps[dim]));
                        Value first = b.broadcast(start, {size});
                        return b.add(first, step);
                      })});
    starts[dim] = 0;
    steps[dim] = 1;
    shape[dim] = from.getDimSize(dim);
  }
  if (moving.empty())
    return success();
  builder.setInsertionPoint(op);
  TensorBuilder b(builder, op.getLoc());
  Value value = b.slice(op.getInput(), starts, shape, steps);
  for (auto [dim, rows] : moving) {
    shape[dim] = to.getDimSize(dim);
    value = GatherOp::create(builder, op.getLoc(), to.clone(shape), value, rows,
                             Value(), dim, IntegerAttr());
  }
  replace(op, value, /*isClean=*/false);
  return success();
}

/// Puts the operands after the one that grows behind its elements in use.
LogicalResult ExtentFollower::visitConcat(ConcatOp op) {
  int64_t dim = op.getDim();
  auto type = op.getResult().getType();
  SmallVector<Value> operands(op.getInputs());
  unsigned grown = 0;
  while (!sized.grows(operands[grown], dim))
    ++grown;
  if (grown + 1 == operands.size())
    return success();
  builder.setInsertionPoint(op);
  Value head = operands[0];
  if (grown)
    head = TensorBuilder(builder, op.getLoc())
               .concat(ArrayRef(operands).take_front(grown + 1), dim);
  bool isClean = llvm::all_of(operands, [&](Value operand) {
    return clean.contains(operand) || !sized.grows(operand);
  });
  int64_t size = type.getDimSize(dim),
          begin = cast<ShapedType>(head.getType()).getDimSize(dim);
  Value all = widened.lookup(head);
  if (!all || all.getType() != type) {
    SmallVector<int64_t> low(type.getRank(), 0), high(low);
    high[dim] = size - begin;
    all = TensorBuilder(builder, op.getLoc()).pad(head, low, high);
  }
  for (Value operand : ArrayRef(operands).drop_front(grown + 1)) {
    all = extent.withPart(builder, all, operand, dim, begin);
    begin += cast<ShapedType>(operand.getType()).getDimSize(dim);
  }
  replace(op, all, isClean);
  return success();
}

//===----------------------------------------------------------------------===//
// By sharding rules
//===----------------------------------------------------------------------===//

/// Returns whether `value`, an operand or a result that grows along `dim`, is
/// read or made right for the elements in use though no factor says so.
bool ExtentFollower::followsWithoutRule(Operation *op, Value value,
                                        int64_t dim) const {
  if (auto scan = dyn_cast<ScanOp>(op))
    return int64_t(scan.getDim()) == dim && !scan.getReverse();
  if (auto gather = dyn_cast<GatherOp>(op))
    return value == gather.getData() && int64_t(gather.getDim()) == dim;
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice.getSteps()[dim] == 1;
  // Parts that follow nothing that grows.
  if (auto concat = dyn_cast<ConcatOp>(op))
    return int64_t(concat.getDim()) == dim;
  return false;
}

/// Returns whether the op gives zeros past the extent for operands that are
/// zero there.
bool ExtentFollower::keepsZeros(Operation *op) const {
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return !softmax.getLog() &&
           sized.growth(softmax.getResult()) ==
               SmallVector<int64_t>{int64_t(softmax.getDim())};
  if (op->getNumOperands() == 0 || !clean.contains(op->getOperand(0)))
    return false;
  return isa<TransposeOp, ReshapeOp, BroadcastOp, ConvertOp>(op) &&
         sized.growth(op->getResult(0)).size() ==
             sized.growth(op->getOperand(0)).size();
}

/// Visits an op by the factors of its sharding rule: a factor that may be split
/// may also be cut short.
LogicalResult ExtentFollower::visitByRule(Operation *op) {
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  llvm::SmallSetVector<unsigned, 4> factors;
  // Each dimension that grows is one factor.
  auto collect = [&](ValueRange values, ArrayRef<TensorFactors> dims,
                     StringRef what) -> LogicalResult {
    for (auto [i, value] : llvm::enumerate(values))
      for (int64_t dim : sized.growth(value)) {
        if (followsWithoutRule(op, value, dim))
          continue;
        int64_t size = cast<ShapedType>(value.getType()).getDimSize(dim);
        const auto *whole =
            llvm::find_if(dims[i][dim].factors, [&](unsigned factor) {
              return rule.factors[factor].size == size;
            });
        if (whole == dims[i][dim].factors.end() || dims[i][dim].window)
          return sized.refuse(op, "dimension " + Twine(dim) + " of its " +
                                      what + " " + Twine(i));
        factors.insert(*whole);
      }
    return success();
  };
  if (failed(collect(op->getOperands(), rule.operands, "operand")) ||
      failed(collect(op->getResults(), rule.results, "result")))
    return failure();
  // No other dimension is.
  auto isShared = [&](ValueRange values, ArrayRef<TensorFactors> dims) {
    for (auto [i, value] : llvm::enumerate(values))
      for (auto [dim, made] : llvm::enumerate(dims[i]))
        if (!sized.grows(value, dim) &&
            llvm::any_of(made.factors, [&](unsigned f) {
              return factors.contains(f) && rule.factors[f].size > 1;
            }))
          return true;
    return false;
  };
  if (isShared(op->getOperands(), rule.operands) ||
      isShared(op->getResults(), rule.results))
    return sized.refuse(op, "it mixes it with a size that does not grow");
  builder.setInsertionPoint(op);
  for (unsigned factor : factors) {
    const Factor &split = rule.factors[factor];
    if (split.kind == FactorKind::Decompose && !split.mask)
      return sized.refuse(op, "it divides by the number of elements");
    if (split.kind == FactorKind::Parallel || !split.mask)
      continue;
    for (OpOperand &operand : op->getOpOperands())
      for (int64_t dim : sized.growth(operand.get()))
        if (llvm::is_contained(
                rule.operands[operand.getOperandNumber()][dim].factors,
                factor) &&
            !(*split.mask == 0 && clean.contains(operand.get())))
          operand.set(extent.masked(builder, operand.get(), dim, *split.mask));
  }
  return success();
}

LogicalResult ExtentFollower::visit(const Sample<Operation *> &ops) {
  Operation *op = ops[0];
  if (failed(fixConstants(ops)))
    return failure();
  auto growsAnywhere = [&](Value value) { return sized.grows(value); };
  bool isSame = llvm::all_of(ArrayRef(ops).drop_front(), [&](Operation *other) {
    return other->getAttrDictionary() == op->getAttrDictionary();
  });
  if (isa<SliceOp>(op) && !isSame)
    return visitSlice(ops);
  if (!isSame)
    return sized.refuse(op, "an attribute changes");
  if (llvm::none_of(op->getOperands(), growsAnywhere) &&
      llvm::none_of(op->getResults(), growsAnywhere))
    return success();
  if (auto function = dyn_cast<FunctionOp>(op)) {
    if (clean.contains(function.getValue()))
      clean.insert(function.getResult());
    return success();
  }
  if (auto concat = dyn_cast<ConcatOp>(op);
      concat && sized.grows(concat.getResult(), concat.getDim()))
    return visitConcat(concat);
  auto indexFromStart = [&](auto gather) {
    if (!gather || !sized.grows(gather.getData(), gather.getDim()))
      return;
    builder.setInsertionPoint(op);
    gather.getIndicesMutable().assign(extent.fromStart(
        builder, gather.getIndices(),
        gather.getData().getType().getDimSize(gather.getDim())));
  };
  indexFromStart(dyn_cast<GatherElementsOp>(op));
  indexFromStart(dyn_cast<GatherOp>(op));
  if (auto scan = dyn_cast<ScanOp>(op);
      scan && scan.getReverse() && sized.grows(scan.getInput(), scan.getDim()))
    return sized.refuse(op, "it begins at the end");
  if (failed(visitByRule(op)))
    return failure();
  if (keepsZeros(op))
    clean.insert(op->getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// The argument holds all rows; what read it reads those of the first size.
void ExtentFollower::widenState(const GrowingState &state) {
  for (BlockArgument argument : step.getArguments()) {
    auto input = step.getArgAttrOfType<InputAttr>(argument.getArgNumber(),
                                                  AutoparDialect::kSource);
    if (!input || input.getName() != state.in)
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[state.dim] += sized.growing.growth;
    argument.setType(type.clone(shape));
    Value rows = extent.hoisted([&](TensorBuilder &b) {
      return b.slice(argument, state.dim, 0, type.getDimSize(state.dim));
    });
    argument.replaceAllUsesExcept(rows, rows.getDefiningOp());
    sized.copyGrowth(argument, rows);
    clean.insert(rows);
    widened[rows] = argument;
    step.setArgAttr(argument.getArgNumber(), AutoparDialect::kSource,
                    StateAttr::get(input.getContext(), input.getName(),
                                   builder.getI64IntegerAttr(0)));
    return;
  }
  llvm_unreachable("states are inputs");
}

/// Next states and their extent; outputs are zero past it.
void ExtentFollower::finish() {
  Operation *end = step.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    Value value = end->getOperand(i);
    if (!clean.contains(value))
      for (int64_t dim : sized.growth(value))
        value = extent.masked(builder, value, dim, 0);
    end->setOperand(i, value);
    auto output =
        step.getResultAttrOfType<OutputAttr>(i, AutoparDialect::kResult);
    for (const GrowingState &state : sized.growing.states) {
      if (!output || output.getName() != state.out)
        continue;
      step.setResultAttr(i, AutoparDialect::kResult,
                         NextStateAttr::get(output.getContext(),
                                            builder.getStringAttr(state.in)));
    }
  }
}

LogicalResult ExtentFollower::run() {
  for (const GrowingState &state : sized.growing.states)
    widenState(state);
  for (const Sample<Operation *> &op : sized.ops().drop_back())
    if (failed(visit(op)))
      return failure();
  if (failed(fixConstants(sized.ops().back())))
    return failure();
  finish();
  extent.addResults();
  return success();
}

LogicalResult followExtent(SizedSteps &sized) {
  return success(succeeded(sized.align()) &&
                 succeeded(ExtentFollower(sized).run()));
}

} // namespace autopar
