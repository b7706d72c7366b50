#include "OpHelpers.h"
using namespace mlir;
namespace autopar {
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void EinsumOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
} // namespace autopar
