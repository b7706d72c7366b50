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

/// Scale and bias must have one value per channel.
LogicalResult checkChannels(OnnxNode &node, unsigned first, unsigned last,
                            int64_t channels) {
  for (unsigned i = first; i < last; ++i)
    if (node.shape(i) != ArrayRef<int64_t>({channels}) ||
        OnnxNode::elementOf(node.input(i)) !=
            OnnxNode::elementOf(node.input(0)))
      return wrongElement(node, i,
                          "must be a tensor of " + Twine(channels) +
                              " elements of input 0's type, " +
                              elementText(node, 0));
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

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// y = x * scale + shift per channel, where x = convolution [+ bias] may be
/// folded: conv(x, w) * s is conv(x, w * s). The scaled filter depends on no
/// input and is computed once, in setup.
struct ScaledConvolution {
  ConvolutionOp convolution;
  Value bias; // one value per channel, or null
};

/// The bias that `add` gives to a convolution's channels, or null.
Value channelBias(BinaryOp add) {
  auto broadcast = add.getRhs().getDefiningOp<BroadcastOp>();
  if (!broadcast || broadcast.getDims() != ArrayRef<int64_t>({1}))
    return {};
  return broadcast.getInput();
}

std::optional<ScaledConvolution> foldable(OnnxNode &node) {
  Value x = node.input(0);
  if (!node.isOnlyUse(0))
    return std::nullopt;
  if (auto convolution = x.getDefiningOp<ConvolutionOp>())
    return ScaledConvolution{convolution, Value()};
  auto add = x.getDefiningOp<BinaryOp>();
  if (!add || add.getKind() != BinaryKind::Add)
    return std::nullopt;
  auto convolution = add.getLhs().getDefiningOp<ConvolutionOp>();
  Value bias = channelBias(add);
  if (!convolution || !bias || !convolution->hasOneUse())
    return std::nullopt;
  return ScaledConvolution{convolution, bias};
}

Value scaleConvolution(OnnxNode &node, const ScaledConvolution &found,
                       Value scale) {
  ConvolutionOp old = found.convolution;
  Value filter = node.binaryAlong(BinaryKind::Mul,
                                  node.widened(old.getFilter()), scale, 0);
  filter = node.convert(filter, OnnxNode::elementOf(old.getFilter()));
  OpBuilder::InsertionGuard guard(node.builder);
  Operation *scaled = node.builder.clone(*old);
  scaled->setOperand(1, filter);
  scaled->removeAttr(AutoparDialect::kNames);
  return scaled->getResult(0);
}

/// With the running statistics, which stay: not folded, so that scale and bias
/// are operands beside the input.
LogicalResult frozenBatchNormalization(OnnxNode &node) {
  if (!node.hasModulesModes())
    node.warnOnce("batch norm without training_mode, perhaps others, too: its "
                  "running statistics stay and the batch's are not used; "
                  "torch.onnx.export writes it with dynamo=False alone");
  Value variance = node.binary(BinaryKind::Add, node.widened(node.input(4)),
                               node.getFloat("epsilon", 1e-5f));
  Value x = node.binaryAlong(BinaryKind::Sub, node.widened(node.input(0)),
                             node.widened(node.input(3)), 1);
  x = node.binaryAlong(BinaryKind::Mul, x,
                       node.unary(UnaryKind::Rsqrt, variance), 1);
  x = node.binaryAlong(BinaryKind::Mul, x, node.widened(node.input(1)), 1);
  x = node.binaryAlong(BinaryKind::Add, x, node.widened(node.input(2)), 1);
  for (unsigned statistic : {3, 4})
    node.keepValue(statistic);
  return node.finish(node.convert(x, OnnxNode::elementOf(node.input(0))));
}

/// The statistics of the batch, and the running ones: old * momentum + new *
/// (1 - momentum), of the population's variance.
LogicalResult trainedBatchNormalization(OnnxNode &node) {
  if (!node.trained())
    return node.error("training_mode is not supported in inference; add "
                      "--evaluate, or train the model with --train");
  SmallVector<int64_t> dims;
  double count = 1;
  for (auto [dim, size] : llvm::enumerate(node.shape(0)))
    if (dim != 1) {
      dims.push_back(dim);
      count *= size;
    }
  auto meanOf = [&](Value value) {
    return node.binary(BinaryKind::Mul,
                       node.reduce(ReduceKind::Sum, value, dims), 1 / count);
  };
  Value x = node.widened(node.input(0));
  Value mean = meanOf(x);
  Value centred = node.binaryAlong(BinaryKind::Sub, x, mean, 1);
  Value variance = meanOf(node.binary(BinaryKind::Mul, centred, centred));
  Value scale =
      node.binary(BinaryKind::Mul, node.widened(node.input(1)),
                  node.unary(UnaryKind::Rsqrt,
                             node.binary(BinaryKind::Add, variance,
                                         node.getFloat("epsilon", 1e-5f))));
  Value y = node.binaryAlong(BinaryKind::Mul, centred, scale, 1);
  y = node.binaryAlong(BinaryKind::Add, y, node.widened(node.input(2)), 1);
  double momentum = node.getFloat("momentum", 0.9f);
  for (auto [i, seen] : {std::pair(3u, mean), {4u, variance}}) {
    Value old = node.widened(node.input(i));
    Value next = node.convert(
        node.binary(BinaryKind::Add,
                    node.binary(BinaryKind::Mul, old, momentum),
                    node.binary(BinaryKind::Mul, seen, 1 - momentum)),
        OnnxNode::elementOf(node.input(i)));
    if (node.wantsOutput(i - 2))
      node.setOutput(i - 2, next);
    if (failed(node.setNextValue(i, next)))
      return failure();
  }
  return node.finish(node.convert(y, OnnxNode::elementOf(node.input(0))));
}

/// Outputs beside y, the statistics, twice before version 14, stay as they are.
void keepStatistics(OnnxNode &node) {
  for (unsigned i = 1; i < node.numOutputs(); ++i)
    if (node.wantsOutput(i)) {
      node.setOutput(i, node.input(runningStatistic(i)));
      node.leaveOutOutput(i);
    }
}

LogicalResult batchNormalization(OnnxNode &node) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 2, 8)))
    return failure();
  int64_t channels = node.shape(0)[1];
  if (!node.getInt("spatial", 1))
    return node.error("spatial = 0 is not supported");
  if (failed(checkChannels(node, 1, 5, channels)))
    return failure();
  if (node.getInt("training_mode", 0) && !node.evaluates())
    return trainedBatchNormalization(node);
  if (node.trained())
    return frozenBatchNormalization(node);
  if (node.evaluates())
    keepStatistics(node);
  Value variance = node.binary(BinaryKind::Add, node.widened(node.input(4)),
                               node.getFloat("epsilon", 1e-5f));
  Value scale = node.binary(BinaryKind::Mul, node.widened(node.input(1)),
                            node.unary(UnaryKind::Rsqrt, variance));
  Value mean = node.widened(node.input(3)), x = node.input(0);
  Type element = OnnxNode::elementOf(x);
  // A convolution stays in its type; what is added to it is its bias.
  if (std::optional<ScaledConvolution> found = foldable(node)) {
    x = scaleConvolution(node, *found, scale);
    if (found->bias)
      mean = node.binary(BinaryKind::Sub, mean, node.widened(found->bias));
  } else {
    x = node.binaryAlong(BinaryKind::Mul, node.widened(x), scale, 1);
  }
  Value shift = node.binary(BinaryKind::Sub, node.widened(node.input(2)),
                            node.binary(BinaryKind::Mul, mean, scale));
  shift = node.convert(shift, OnnxNode::elementOf(x));
  x = node.binaryAlong(BinaryKind::Add, x, shift, 1);
  return node.finish(node.convert(x, element));
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
    {"BatchNormalization", "6", 5, 5,
     "epsilon:float is_test:int momentum:float spatial:int",
     batchNormalization},
    {"BatchNormalization", "7", 5, 5,
     "epsilon:float momentum:float spatial:int", batchNormalization},
    {"BatchNormalization", "9", 5, 5, "epsilon:float momentum:float",
     batchNormalization},
    {"BatchNormalization", "14 15", 5, 5,
     "epsilon:float momentum:float training_mode:int", batchNormalization},
};
} // namespace

ArrayRef<OnnxOp> normalizationOps() { return kOps; }

} // namespace autopar
