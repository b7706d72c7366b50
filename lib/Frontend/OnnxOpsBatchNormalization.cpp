//===- OnnxOpsBatchNormalization.cpp - ONNX batch norm --------------------===//

#include "ElementTypes.h"
#include "EvaluationForm.h"
#include "Norms.h"
#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

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

/// Batch norm with the running statistics, which do not change. They are not
/// folded, so that scale and bias are operands beside the input.
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

/// A running variance takes this much of the population's, of so many values: n
/// / (n - 1) of it, as PyTorch does, where the recipe asks for that.
FailureOr<double> runningShare(OnnxNode &node, double count) {
  if (!node.trained() || !node.trained()->unbiasedVariance)
    return 1.0;
  if (count > 1)
    return count / (count - 1);
  return node.error("recipe: 'running_variance': a channel has one value in a "
                    "batch, of which there is no unbiased variance");
}

/// The statistics of the batch, and the running ones: old * momentum + new *
/// (1 - momentum).
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
  FailureOr<double> share = runningShare(node, count);
  if (failed(share))
    return failure();
  for (auto [i, seen, part] :
       {std::tuple(3u, mean, 1.0), {4u, variance, *share}}) {
    Value old = node.widened(node.input(i));
    Value next = node.convert(
        node.binary(BinaryKind::Add,
                    node.binary(BinaryKind::Mul, old, momentum),
                    node.binary(BinaryKind::Mul, seen, (1 - momentum) * part)),
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

const OnnxOp kOps[] = {
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

ArrayRef<OnnxOp> batchNormalizationOps() { return kOps; }

} // namespace autopar
