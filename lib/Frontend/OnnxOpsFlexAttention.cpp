//===- OnnxOpsFlexAttention.cpp - Attention with functions of scores ------===//
//
// FlexAttention of the domain ai.onnx.preview: subgraphs of the node change
// scores before the softmax and probabilities after it.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

LogicalResult checkShapes(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  for (unsigned i : {0u, 1u, 2u}) {
    if (failed(node.requireRank(i, 4, 4)))
      return failure();
    if (OnnxNode::elementOf(node.input(i)) !=
        OnnxNode::elementOf(node.input(0)))
      return node.error("its inputs have different element types");
  }
  ArrayRef<int64_t> q = node.shape(0), k = node.shape(1), v = node.shape(2);
  if (k[1] < 1 || q[1] % k[1])
    return node.error("its " + Twine(q[1]) +
                      " heads of queries are no "
                      "multiple of the " +
                      Twine(k[1]) + " of keys");
  if (q[0] != k[0] || q[3] != k[3] || k.take_front(3) != v.take_front(3))
    return node.error("its queries, keys and values do not fit together");
  return success();
}

/// The type of scores and probabilities.
FailureOr<Type> softmaxType(OnnxNode &node) {
  if (!node.hasAttribute("softmax_precision"))
    return node.widened(OnnxNode::elementOf(node.input(0)));
  FailureOr<Type> type = node.elementType(node.getInt("softmax_precision", 0));
  if (failed(type) || isa<FloatType>(*type))
    return type;
  return node.error("softmax_precision must be a floating-point type");
}

/// Returns the output of the attribute `name`'s subgraph for x, which has x's
/// type. Without the attribute returns x.
FailureOr<Value> modify(OnnxNode &node, StringRef name, Value x) {
  if (!node.hasAttribute(name))
    return x;
  FailureOr<SmallVector<Value>> outputs =
      node.importGraph(name, {x}, name + "/");
  if (failed(outputs))
    return failure();
  if (outputs->size() == 1 && outputs->front().getType() == x.getType())
    return outputs->front();
  return node.error(name + " must give one tensor of the type that it takes, " +
                    OnnxNode::typeText(x));
}

LogicalResult flexAttention(OnnxNode &node) {
  if (failed(checkShapes(node)))
    return failure();
  FailureOr<Type> type = softmaxType(node);
  if (failed(type))
    return failure();
  ArrayRef<int64_t> q = node.shape(0), k = node.shape(1), v = node.shape(2);
  int64_t group = q[1] / k[1];
  Value queries = node.reshape(node.input(0), {q[0], k[1], group, q[2], q[3]});
  Value scores = node.convert(
      node.einsum("bhgmd", "bhnd", "bhgmn", queries, node.input(1)), *type);
  scores = node.binary(BinaryKind::Mul, scores,
                       node.getFloat("scale", 1 / std::sqrt(double(q[3]))));
  scores = node.reshape(scores, {q[0], q[1], q[2], k[2]});
  FailureOr<Value> changed = modify(node, "score_mod", scores);
  if (failed(changed))
    return failure();
  Value weights =
      node.create<SoftmaxOp>(scores.getType(), *changed, 3, /*log=*/false);
  changed = modify(node, "prob_mod", weights);
  if (failed(changed))
    return failure();
  weights = node.reshape(*changed, {q[0], k[1], group, q[2], k[2]});
  Type element = OnnxNode::elementOf(node.input(0));
  Value y = node.einsum("bhgmn", "bhne", "bhgme",
                        node.convert(weights, element), node.input(2));
  return node.finish(node.reshape(y, {q[0], q[1], q[2], v[3]}));
}

const OnnxOp kOps[] = {
    {"ai.onnx.preview.FlexAttention", "1", 3, 3,
     "prob_mod:graph scale:float score_mod:graph softmax_precision:int",
     flexAttention},
};
} // namespace

ArrayRef<OnnxOp> flexAttentionOps() { return kOps; }

} // namespace autopar
