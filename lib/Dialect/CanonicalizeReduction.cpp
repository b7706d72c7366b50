//===- CanonicalizeReduction.cpp - Rewrites of reductions -----------------===//

#include "Canonicalize.h"

using namespace mlir;

namespace autopar {

/// sum(-x) => -sum(x), which negates fewer elements: derivatives of differences
/// are full of it. A sum that is zero may change its sign.
static LogicalResult negateSum(ReduceOp op, PatternRewriter &rewriter) {
  auto negation = op.getInput().getDefiningOp<UnaryOp>();
  if (op.getKind() != ReduceKind::Sum || !negation ||
      negation.getKind() != UnaryKind::Neg || !negation->hasOneUse())
    return failure();
  auto sum = ReduceOp::create(rewriter, op.getLoc(), op.getType(), op.getKind(),
                              negation.getInput(), op.getDims());
  auto result =
      UnaryOp::create(rewriter, op.getLoc(), op.getType(), UnaryKind::Neg, sum);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, result);
  return success();
}

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(negateSum);
  populateEmptyPatterns(patterns);
}

} // namespace autopar
