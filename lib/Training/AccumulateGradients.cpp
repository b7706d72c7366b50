//===- AccumulateGradients.cpp - @step takes several blocks of the batch --===//
//
// The blocks stand one after the other in @step: what follows shards, proves,
// schedules and emits them as anything else, their buffers have the same
// memory, and equal layers are one kernel.
//
//===----------------------------------------------------------------------===//

#include "Losses.h"
#include "StepFunction.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Training/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"

namespace autopar {
#define GEN_PASS_DEF_ACCUMULATEGRADIENTS
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {
namespace {

class BlockRepeater {
public:
  BlockRepeater(const Recipe &recipe, func::FuncOp function)
      : blocks(recipe.accumulation), meansOverStep(recipe.meansOverStep),
        step(function), builder(step.builder()), sums(step.results.size()) {}
  LogicalResult run();

private:
  LogicalResult checkOutputs();
  void widenInputs();
  IRMapping argumentsOf(int64_t block);
  void countLabels();
  void repeat(ArrayRef<Operation *> once, int64_t block);
  void take(unsigned result, Value value);

  int64_t blocks;
  bool meansOverStep;
  StepFunction step;
  OpBuilder builder;
  /// The value of each result of @step after the blocks so far.
  SmallVector<Value> sums;
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> resultsOf;
  Value counted;     // the labels that a block counts, where some do not
  Value countOfStep; // those of all blocks, in its place
};

} // namespace

/// Inputs get a leading dimension of blocks; scalars are those of all blocks.
void BlockRepeater::widenInputs() {
  for (BlockArgument argument : step.body().getArguments()) {
    auto input = dyn_cast_or_null<InputAttr>(step.source(argument));
    auto type = cast<RankedTensorType>(argument.getType());
    if (!input || type.getRank() == 0)
      continue;
    SmallVector<int64_t> shape{blocks};
    llvm::append_range(shape, type.getShape());
    argument.setType(type.clone(shape));
    step.setSource(argument, InputAttr::get(builder.getContext(),
                                            input.getName(), blocks));
  }
}

/// The values of the arguments in a block: the block's rows of an input, and a
/// state as the block before left it.
IRMapping BlockRepeater::argumentsOf(int64_t block) {
  IRMapping map;
  for (BlockArgument argument : step.body().getArguments()) {
    Attribute source = step.source(argument);
    auto type = cast<RankedTensorType>(argument.getType());
    if (isa_and_nonnull<InputAttr>(source) && type.getRank() > 0) {
      TensorBuilder b(builder, argument.getLoc());
      map.map(argument, b.reshape(b.slice(argument, 0, block, 1),
                                  type.getShape().drop_front()));
    }
    auto state = dyn_cast_or_null<StateAttr>(source);
    for (auto [result, sum] : llvm::zip_equal(step.results, sums))
      if (auto next = dyn_cast_or_null<NextStateAttr>(result.what);
          state && next && sum && next == state.next())
        map.map(argument, sum);
  }
  return map;
}

/// Gradients, loss and counts add up as soon as they are there, a check holds
/// if it holds in a block, a state goes on.
void BlockRepeater::take(unsigned result, Value value) {
  Value &sum = sums[result];
  bool isState = isa_and_nonnull<NextStateAttr>(step.results[result].what);
  auto type = cast<RankedTensorType>(value.getType());
  BinaryKind kind =
      type.getElementType().isInteger(1) ? BinaryKind::Or : BinaryKind::Add;
  sum = isState || !sum
            ? value
            : TensorBuilder(builder, value.getLoc()).binary(kind, sum, value);
}

/// Counts the labels of all blocks before the first block divides by their
/// number, which is possible because that number depends on labels alone.
void BlockRepeater::countLabels() {
  SetVector<Operation *> ops;
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  (void)getBackwardSlice(counted, &ops, options);
  for (int64_t block = 0; block < blocks; ++block) {
    IRMapping map = argumentsOf(block);
    for (Operation *op : ops)
      builder.clone(*op, map);
    Value count = map.lookup(counted);
    countOfStep =
        countOfStep
            ? TensorBuilder(builder, count.getLoc()).add(countOfStep, count)
            : count;
  }
}

void BlockRepeater::repeat(ArrayRef<Operation *> once, int64_t block) {
  IRMapping map = argumentsOf(block);
  for (BlockArgument argument : step.body().getArguments())
    for (unsigned result : resultsOf.lookup(argument))
      take(result, map.lookupOrDefault(argument));
  for (Operation *op : once) {
    if (countOfStep && op == counted.getDefiningOp()) {
      map.map(counted, countOfStep);
      continue;
    }
    for (auto [value, copy] : llvm::zip_equal(
             op->getResults(), builder.clone(*op, map)->getResults()))
      for (unsigned result : resultsOf.lookup(value))
        take(result, copy);
  }
}

static bool isCountOfLabels(const StepFunction::Result &result) {
  auto output = dyn_cast_or_null<OutputAttr>(result.what);
  return output && output.getRole() == OutputRole::CountedLabels;
}

/// Checks that each output can be combined over blocks, which is known for the
/// loss, for the count of its labels and for checks only.
LogicalResult BlockRepeater::checkOutputs() {
  for (const StepFunction::Result &result : step.results) {
    auto output = dyn_cast_or_null<OutputAttr>(result.what);
    auto type = cast<ShapedType>(result.value.getType());
    if (output && output.getRole() != OutputRole::Loss &&
        !isCountOfLabels(result) && !type.getElementType().isInteger(1))
      return step.function.emitError()
             << "recipe: accumulation: the output '"
             << output.getName().getValue() << "' has no value for all blocks";
  }
  return success();
}

LogicalResult BlockRepeater::run() {
  if (failed(checkOutputs()))
    return failure();
  SmallVector<Operation *> once;
  for (Operation &op : step.body().without_terminator())
    once.push_back(&op);
  for (auto [index, result] : llvm::enumerate(step.results)) {
    resultsOf[result.value].push_back(index);
    if (isCountOfLabels(result))
      counted = result.value;
  }
  widenInputs();
  if (counted && meansOverStep)
    countLabels();
  for (int64_t block = 0; block < blocks; ++block)
    repeat(once, block);
  for (auto [result, sum] : llvm::zip_equal(step.results, sums))
    result.value = sum ? sum : countOfStep;
  step.finish();
  return success();
}

namespace {
struct AccumulateGradients
    : impl::AccumulateGradientsBase<AccumulateGradients> {
  void runOnOperation() final {
    auto trained = trainedModule(getOperation());
    if (failed(trained))
      return signalPassFailure();
    if (*trained && (*trained)->recipe.accumulation > 1 &&
        failed(BlockRepeater((*trained)->recipe, (*trained)->step).run()))
      signalPassFailure();
  }
};
} // namespace

} // namespace autopar
