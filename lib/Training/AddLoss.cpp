//===- AddLoss.cpp - @step returns the loss -------------------------------===//

#include "LossInputs.h"
#include "RowIndependence.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Training/Passes.h"

namespace autopar {
#define GEN_PASS_DEF_ADDLOSS
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {

/// Makes the number of terms that count one more output.
static Value countTerms(TensorBuilder &b, LossInputs &inputs) {
  Value count = inputs.countTerms(b);
  inputs.step.results.push_back(
      {count,
       OutputAttr::get(b.builder.getContext(), OutputRole::CountedLabels)});
  return count;
}

/// The part that a block adds to the loss of its step: the sum of its terms
/// divided by the number of all terms of the step, or divided by the number of
/// its own terms and by the number of blocks. Blocks may count different
/// numbers of terms; autopar-accumulate-gradients puts the step's count in the
/// place of the block's. No terms count as one, so that gradients are zeros.
static Value partOfMean(TensorBuilder &b, LossInputs &inputs) {
  const Recipe &recipe = inputs.recipe;
  const LossRow &row = inputs.row;
  inputs.align(b);
  Value sum = row.sum(b, inputs.output, inputs.labels);
  double blocks = recipe.accumulation;
  if (!row.ignores && !inputs.counts)
    return b.mul(sum, 1 / (double(row.terms(shapeOf(inputs.output))) * blocks));
  Type element = cast<ShapedType>(sum.getType()).getElementType();
  Value least = b.binary(BinaryKind::Max, countTerms(b, inputs), 1);
  Value mean = b.div(sum, b.convert(least, element));
  bool ofBlocks = recipe.accumulation > 1 && !recipe.meansOverStep;
  return ofBlocks ? b.mul(mean, 1 / blocks) : mean;
}

/// Rows of a last batch that is padded count for nothing only where no other
/// row depends on them.
static LogicalResult padLastBatch(LossInputs &inputs) {
  Operation *meeting = findMeetingRows(inputs.step, inputs.output);
  if (!meeting) {
    inputs.addCountedRows();
    return success();
  }
  return meeting->emitError()
         << "recipe: 'last_batch': 'pad': results of a row depend on other "
            "rows here, so that rows which pad a batch would change them; drop "
            "the last batch, 'last_batch': 'drop'";
}

static LogicalResult addLoss(const Recipe &recipe, func::FuncOp function) {
  StepFunction step(function);
  LossInputs inputs(recipe, step);
  if (failed(inputs.find()))
    return failure();
  if (recipe.padsLastBatch && failed(padLastBatch(inputs)))
    return failure();
  OpBuilder builder = step.builder();
  TensorBuilder b(builder, NameLoc::get(builder.getStringAttr("loss")));
  inputs.widen(b);
  llvm::erase_if(step.results, [&](const StepFunction::Result &result) {
    return bool(modelOutput(result));
  });
  Value loss = partOfMean(b, inputs);
  step.results.insert(
      step.results.begin(),
      {loss, OutputAttr::get(builder.getContext(), OutputRole::Loss)});
  step.finish();
  return success();
}

namespace {
struct AddLoss : impl::AddLossBase<AddLoss> {
  void runOnOperation() final {
    auto trained = trainedModule(getOperation());
    if (failed(trained))
      return signalPassFailure();
    if (*trained && failed(addLoss((*trained)->recipe, (*trained)->step)))
      signalPassFailure();
  }
};
} // namespace

} // namespace autopar
