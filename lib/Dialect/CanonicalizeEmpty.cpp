//===- CanonicalizeEmpty.cpp - Ops on tensors without elements ------------===//
//
// A value without elements becomes a constant, and a reduction over no elements
// becomes a fill. So no later stage plans, splits or launches such an op, and
// no library, which may refuse a size of 0, gets it.
//
//===----------------------------------------------------------------------===//

#include "Canonicalize.h"
#include "autopar/Interfaces/Neutral.h"

using namespace mlir;

namespace autopar {

static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

static void replaceByFill(PatternRewriter &rewriter, Operation *op,
                          TypedAttr element) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto fill = ConstantOp::create(rewriter, op->getLoc(),
                                 DenseElementsAttr::get(type, element));
  fill->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, fill);
}

namespace {

/// exp(%x : tensor<0x4xf32>) => constant dense<> : tensor<0x4xf32>
struct DropEmptyResult : RewritePattern {
  explicit DropEmptyResult(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/10, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !isEmpty(op->getResult(0)) ||
        !isa<KernelOpInterface>(op) || isa<ConstantOp>(op))
      return failure();
    Type element = elementOf(op->getResult(0));
    replaceByFill(rewriter, op, elementAttr(element, 0));
    return success();
  }
};

} // namespace

/// The sum of nothing, as of a product whose contracted dimension has size 0,
/// is 0; the largest of nothing is -inf.
static LogicalResult fillReduction(ReduceOp op, PatternRewriter &rewriter) {
  if (!isEmpty(op.getInput()))
    return failure();
  replaceByFill(
      rewriter, op,
      elementAttr(elementOf(op.getInput()), neutralElement(op.getKind())));
  return success();
}

static LogicalResult fillScatter(ScatterOp op, PatternRewriter &rewriter) {
  if (!isEmpty(op.getUpdates()))
    return failure();
  replaceByFill(
      rewriter, op,
      elementAttr(elementOf(op.getUpdates()), neutralElement(op.getKind())));
  return success();
}

template <typename Op>
static LogicalResult fillProducts(Op op, PatternRewriter &rewriter) {
  if (llvm::none_of(op->getOperands(), isEmpty))
    return failure();
  replaceByFill(rewriter, op, elementAttr(elementOf(op.getResult()), 0));
  return success();
}

static LogicalResult fillPadding(PadOp op, PatternRewriter &rewriter) {
  if (!isEmpty(op.getInput()))
    return failure();
  Type element = elementOf(op.getInput());
  replaceByFill(rewriter, op,
                elementAttr(element, op.getValue().convertToDouble()));
  return success();
}

/// concat(%past : tensor<0x4xf32>, %x, %y) => concat(%x, %y)
static LogicalResult dropEmptyInputs(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> kept;
  for (Value input : op.getInputs())
    if (!isEmpty(input))
      kept.push_back(input);
  if (kept.empty() || kept.size() == op.getInputs().size())
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(kept); });
  return success();
}

void populateEmptyPatterns(RewritePatternSet &patterns) {
  patterns.add<DropEmptyResult>(patterns.getContext());
  patterns.add(fillReduction, /*benefit=*/10);
  patterns.add(fillScatter, /*benefit=*/10);
  patterns.add(fillProducts<EinsumOp>, /*benefit=*/10);
  patterns.add(fillProducts<ConvolutionOp>, /*benefit=*/10);
  patterns.add(fillPadding, /*benefit=*/10);
  patterns.add(dropEmptyInputs, /*benefit=*/10);
}

} // namespace autopar
