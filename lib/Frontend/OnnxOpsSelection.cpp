//===- OnnxOpsSelection.cpp - ONNX operators that find elements -----------===//

#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

/// Positions of the `count` best elements along `axis`.
Value topPositions(OnnxNode &node, Value x, int64_t axis, int64_t count,
                   bool smallest) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x));
  shape[axis] = count;
  return node.create<TopKOp>(
      RankedTensorType::get(shape, node.builder.getI64Type()), x, axis,
      smallest);
}

LogicalResult topK(OnnxNode &node) {
  FailureOr<int64_t> count = node.version == 1
                                 ? FailureOr<int64_t>(node.getInt("k", 0))
                                 : node.scalarInt(1);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(count) || failed(axis))
    return failure();
  Value x = node.input(0);
  if (*count < 0 || *count > node.shape(0)[*axis])
    return node.error("it takes " + Twine(*count) + " of " +
                      Twine(node.shape(0)[*axis]) + " elements");
  if (OnnxNode::elementOf(x).isInteger(1))
    return node.error("its input 0 must hold numbers");
  Value where =
      topPositions(node, x, *axis, *count, !node.getInt("largest", 1));
  if (node.wantsOutput(0))
    node.setOutput(0, node.gatherElements(x, where, *axis));
  if (node.wantsOutput(1))
    node.setOutput(1, where);
  return success();
}

const OnnxOp kOps[] = {
    {"TopK", "1", 1, 1, "axis:int k:int!", topK},
    {"TopK", "10", 2, 2, "axis:int", topK},
    {"TopK", "11 24", 2, 2, "axis:int largest:int sorted:int", topK},
};
} // namespace

ArrayRef<OnnxOp> selectionOps() { return kOps; }

} // namespace autopar
