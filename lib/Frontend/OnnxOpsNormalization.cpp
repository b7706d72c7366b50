//===- OnnxOpsNormalization.cpp - ONNX softmax and norms ------------------===//

#include "ElementTypes.h"
#include "EvaluationForm.h"
#include "Norms.h"
#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

Value softmaxOf(OnnxNode &node, Value x, int64_t dim, bool log) {
  return node.create<SoftmaxOp>(x.getType(), x, dim, log);
}

template <bool log> LogicalResult softmax(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(axis))
    return failure();
  return node.finish(softmaxOf(node, node.input(0), *axis, log));
}

/// Before version 13: over all dimensions from `axis` on, as one.
template <bool log> LogicalResult oldSoftmax(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  int64_t rank = node.rank(0), axis = node.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return node.error("axis " + Twine(axis) + " is outside of rank " +
                      Twine(rank));
  axis += axis < 0 ? rank : 0;
  Value x = node.input(0);
  if (axis == rank - 1)
    return node.finish(softmaxOf(node, x, axis, log));
  int64_t outer = 1, inner = 1;
  for (auto [i, size] : llvm::enumerate(node.shape(0)))
    (int64_t(i) < axis ? outer : inner) *= size;
  Value flat = softmaxOf(node, node.reshape(x, {outer, inner}), 1, log);
  return node.finish(node.reshape(flat, node.shape(0)));
}

//===----------------------------------------------------------------------===//
// Layer, RMS, instance and group norm
//===----------------------------------------------------------------------===//

Value normalizeOf(OnnxNode &node, NormKind kind, Value x,
                  ArrayRef<int64_t> dims, double epsilon) {
  return node.create<NormalizeOp>(x.getType(), kind, x, dims,
                                  llvm::APFloat(epsilon));
}

/// x op v, in the type of x, for a scale or bias that broadcasts to its shape.
FailureOr<Value> applyTo(OnnxNode &node, BinaryKind kind, Value x, unsigned i) {
  Value v = node.input(i);
  if (OnnxNode::elementOf(v) != OnnxNode::elementOf(node.input(0)))
    return differentElements(node, 0, i);
  v = node.convert(v, OnnxNode::elementOf(x));
  FailureOr<SmallVector<int64_t>> shape = node.broadcastShape({x, v});
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != OnnxNode::shapeOf(x))
    return node.error("scale and bias must broadcast to the input's shape");
  return node.binary(kind, x, node.broadcastTo(v, *shape));
}

/// x in fp32 where the model asks for it (stash_type 1, the default).
Value stashed(OnnxNode &node, Value x) {
  bool wide = node.getInt("stash_type", 1) == onnx::TensorProto::FLOAT;
  return wide ? node.widened(x) : x;
}

template <NormKind kind> LogicalResult layerNormalization(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(axis))
    return failure();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(*axis, node.rank(0)));
  double epsilon = node.getFloat("epsilon", 1e-5f);
  Value x = stashed(node, node.input(0));
  FailureOr<Value> y = normalizeOf(node, kind, x, dims, epsilon);
  y = applyTo(node, BinaryKind::Mul, *y, 1);
  if (succeeded(y) && node.has(2))
    y = applyTo(node, BinaryKind::Add, *y, 2);
  if (failed(y))
    return failure();
  node.setOutput(0, node.convert(*y, OnnxNode::elementOf(node.input(0))));
  if (!node.wantsOutput(1) && !node.wantsOutput(2))
    return success();
  SmallVector<int64_t> kept(node.shape(0));
  for (int64_t dim : dims)
    kept[dim] = 1;
  // Mean and deviation are results of the stash type.
  Type stash = node.getInt("stash_type", 1) == onnx::TensorProto::FLOAT
                   ? Type(node.builder.getF32Type())
                   : OnnxNode::elementOf(x);
  Value mean = node.reshape(node.mean(x, dims), kept);
  Value centered =
      node.binary(BinaryKind::Sub, x, node.broadcastTo(mean, node.shape(0)));
  Value variance =
      node.mean(node.binary(BinaryKind::Mul, centered, centered), dims);
  Value inverse = node.unary(UnaryKind::Rsqrt,
                             node.binary(BinaryKind::Add, variance, epsilon));
  node.setOutput(1, node.convert(mean, stash));
  if (node.wantsOutput(2))
    node.setOutput(2, node.convert(node.reshape(inverse, kept), stash));
  return success();
}

LogicalResult instanceNormalization(OnnxNode &node) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 8)) ||
      failed(checkChannels(node, 1, 3, node.shape(0)[1])))
    return failure();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
  Value y = normalizeOf(node, NormKind::Layer, node.input(0), dims,
                        node.getFloat("epsilon", 1e-5f));
  y = node.binaryAlong(BinaryKind::Mul, y, node.input(1), 1);
  return node.finish(node.binaryAlong(BinaryKind::Add, y, node.input(2), 1));
}

/// Groups of channels are normalized together; before version 21 scale and bias
/// belong to groups, from then on to channels.
LogicalResult groupNormalization(OnnxNode &node) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 2, 8)))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t groups = node.getInt("num_groups", 0);
  if (groups < 1 || shape[1] % groups)
    return node.error("num_groups " + Twine(groups) + " does not divide the " +
                      Twine(shape[1]) + " channels");
  bool perGroup = node.version < 21;
  if (failed(checkChannels(node, 1, 3, perGroup ? groups : shape[1])))
    return failure();
  SmallVector<int64_t> split = {shape[0], groups, shape[1] / groups};
  llvm::append_range(split, shape.drop_front(2));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, split.size()));
  Value y = normalizeOf(node, NormKind::Layer,
                        node.reshape(stashed(node, node.input(0)), split), dims,
                        node.getFloat("epsilon", 1e-5f));
  y = perGroup ? y : node.reshape(y, shape);
  y = node.binaryAlong(BinaryKind::Mul, y, stashed(node, node.input(1)), 1);
  y = node.binaryAlong(BinaryKind::Add, y, stashed(node, node.input(2)), 1);
  return node.finish(
      node.convert(node.reshape(y, shape), OnnxNode::elementOf(node.input(0))));
}

/// x / norm(x, p) along one axis
LogicalResult lpNormalization(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  int64_t p = node.getInt("p", 2);
  if (failed(axis) || failed(node.requireFloat(0)))
    return failure();
  if (p != 1 && p != 2)
    return node.error("p must be 1 or 2");
  Value x = node.widened(node.input(0));
  Value size = p == 1 ? node.unary(UnaryKind::Abs, x)
                      : node.binary(BinaryKind::Mul, x, x);
  size = node.reduce(ReduceKind::Sum, size, {*axis});
  if (p == 2)
    size = rootOf(node, node.unary(UnaryKind::Sqrt, size), size, 0.5);
  SmallVector<int64_t> kept(node.shape(0));
  kept[*axis] = 1;
  size = node.broadcastTo(node.reshape(size, kept), node.shape(0));
  Value zero =
      node.compare(ComparePredicate::Eq, size, node.splatLike(size, 0));
  Value scaled = node.binary(BinaryKind::Div, x, size);
  Value y = node.function("ratio", {x, size},
                          node.select(zero, node.splatLike(x, 0), scaled));
  return node.finish(node.convert(y, OnnxNode::elementOf(node.input(0))));
}

/// (x - mean) / (std + 1e-9) over `axes`
LogicalResult meanVarianceNormalization(OnnxNode &node) {
  SmallVector<int64_t> given = {0, 2, 3};
  if (node.hasAttribute("axes"))
    given = node.getInts("axes");
  FailureOr<SmallVector<int64_t>> dims =
      node.normalizeAxes(given, node.rank(0));
  if (failed(dims) || failed(node.requireFloat(0)))
    return failure();
  return node.finish(
      normalizeOf(node, NormKind::Layer, node.input(0), *dims, 1e-18));
}

constexpr StringLiteral kLayer = "axis:int epsilon:float stash_type:int";

const OnnxOp kOps[] = {
    {"Softmax", "1 11", 1, 1, "axis:int", oldSoftmax<false>},
    {"Softmax", "13", 1, 1, "axis:int", softmax<false>},
    {"LogSoftmax", "1 11", 1, 1, "axis:int", oldSoftmax<true>},
    {"LogSoftmax", "13", 1, 1, "axis:int", softmax<true>},
    {"LayerNormalization", "17", 2, 3, kLayer,
     layerNormalization<NormKind::Layer>},
    {"RMSNormalization", "23", 2, 2, kLayer, layerNormalization<NormKind::Rms>},
    {"InstanceNormalization", "6 22", 3, 3, "epsilon:float",
     widen<instanceNormalization>},
    {"GroupNormalization", "18", 3, 3, "epsilon:float num_groups:int!",
     groupNormalization},
    {"GroupNormalization", "21", 3, 3,
     "epsilon:float num_groups:int! stash_type:int", groupNormalization},
    {"LpNormalization", "1 22", 1, 1, "axis:int p:int", lpNormalization},
    {"MeanVarianceNormalization", "9 13", 1, 1, "axes:ints",
     meanVarianceNormalization},
};
} // namespace

ArrayRef<OnnxOp> normalizationOps() { return kOps; }

} // namespace autopar
