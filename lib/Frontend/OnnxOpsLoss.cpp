//===- OnnxOpsLoss.cpp - ONNX losses of classes ---------------------------===//

#include "ElementTypes.h"
#include "OnnxNode.h"

using namespace mlir;

namespace autopar {
namespace {

/// Scores [n, c, d...], labels [n, d...], and weights [c] if they are there.
LogicalResult checkLabels(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  if (node.rank(0) < 2)
    return node.error("its input 0 must have two dimensions or more");
  SmallVector<int64_t> wanted(node.shape(0));
  wanted.erase(wanted.begin() + 1);
  if (node.shape(1) != ArrayRef<int64_t>(wanted) ||
      !isa<IntegerType>(OnnxNode::elementOf(node.input(1))))
    return node.error("its labels are " + OnnxNode::typeText(node.input(1)) +
                      "; it needs one integer per row of classes of " +
                      OnnxNode::typeText(node.input(0)));
  if (node.shape(0)[1] < 1)
    return node.error("it has no classes");
  if (node.has(2) && node.shape(2) != node.shape(0).slice(1, 1))
    return node.error("its weights are " + OnnxNode::typeText(node.input(2)) +
                      "; it needs one per class");
  if (node.has(2) &&
      OnnxNode::elementOf(node.input(2)) != OnnxNode::elementOf(node.input(0)))
    return differentElements(node, 0, 2);
  return success();
}

/// The weight of each label: that of its class, or 0 if the label is to be
/// ignored. Null if all count 1.
Value countsOf(OnnxNode &node, Value labels) {
  Value counts;
  if (node.has(2))
    counts = node.gather(node.input(2), labels, 0);
  if (!node.hasAttribute("ignore_index"))
    return counts;
  auto type =
      OnnxNode::typeOf(labels).clone(OnnxNode::elementOf(node.input(0)));
  if (!counts)
    counts = node.splat(type, 1);
  Value ignored = node.compare(
      ComparePredicate::Eq, labels,
      node.splatLike(labels, double(node.getInt("ignore_index", 0))));
  return node.select(ignored, node.splat(type, 0), counts);
}

/// -logs[n, labels[n, d], d] * counts, reduced.
LogicalResult lossOf(OnnxNode &node, Value logs) {
  StringRef reduction = node.getString("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return node.error("unknown value '" + reduction +
                      "' of reduction (known: none, sum, mean)");
  Value labels = node.convert(node.input(1), node.builder.getI64Type());
  Value counts = countsOf(node, labels);
  Value found =
      node.dropDim(node.gatherElements(logs, node.insertDim(labels, 1), 1), 1);
  Value loss = node.unary(UnaryKind::Neg, found);
  if (counts) {
    // An ignored term may be infinite.
    Value none =
        node.compare(ComparePredicate::Eq, counts, node.splatLike(counts, 0));
    loss = node.select(none, node.splatLike(loss, 0),
                       node.binary(BinaryKind::Mul, loss, counts));
  }
  if (reduction == "none")
    return node.finish(loss);
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, OnnxNode::rankOf(loss)));
  Value sum = node.reduce(ReduceKind::Sum, loss, all);
  if (reduction == "sum")
    return node.finish(sum);
  Value count =
      counts ? node.reduce(ReduceKind::Sum, counts, all)
             : node.splatLike(sum,
                              double(OnnxNode::typeOf(loss).getNumElements()));
  return node.finish(node.binary(BinaryKind::Div, sum, count));
}

LogicalResult negativeLogLikelihood(OnnxNode &node) {
  if (failed(checkLabels(node)))
    return failure();
  return lossOf(node, node.input(0));
}

LogicalResult softmaxCrossEntropy(OnnxNode &node) {
  if (failed(checkLabels(node)))
    return failure();
  Value logs = node.create<SoftmaxOp>(node.type(0), node.input(0), /*dim=*/1,
                                      /*log=*/true);
  if (node.wantsOutput(1))
    node.setOutput(1, logs);
  return lossOf(node, logs);
}

constexpr StringLiteral kLoss = "ignore_index:int reduction:string";

const OnnxOp kOps[] = {
    {"NegativeLogLikelihoodLoss", "12 13 22", 2, 3, kLoss,
     widen<negativeLogLikelihood>},
    {"SoftmaxCrossEntropyLoss", "12 13", 2, 3, kLoss,
     widen<softmaxCrossEntropy>},
};
} // namespace

ArrayRef<OnnxOp> lossOps() { return kOps; }

} // namespace autopar
