//===- WindowOps.cpp - Convolution and pooling ----------------------------===//

#include "OpHelpers.h"
#include "autopar/Dialect/LibraryCall.h"

using namespace mlir;

namespace autopar {

namespace {
/// The windows of a convolution or pooling over [n, c, spatial...].
struct Windows {
  ArrayRef<int64_t> sizes, strides, dilations, padLow, padHigh;

  /// Result size of a spatial dimension; 0 if the window does not fit.
  int64_t resultSize(size_t i, int64_t size) const {
    int64_t reach = (sizes[i] - 1) * dilations[i] + 1;
    int64_t room = size + padLow[i] + padHigh[i] - reach;
    return room < 0 ? 0 : room / strides[i] + 1;
  }
};
} // namespace

static LogicalResult verifyWindows(Operation *op, const Windows &windows,
                                   size_t spatial) {
  if (failed(verifyCount(op, windows.sizes, spatial, "window")) ||
      failed(verifyCount(op, windows.strides, spatial, "strides")) ||
      failed(verifyCount(op, windows.dilations, spatial, "dilations")) ||
      failed(verifyCount(op, windows.padLow, spatial, "low")) ||
      failed(verifyCount(op, windows.padHigh, spatial, "high")))
    return failure();
  auto atLeast = [](ArrayRef<int64_t> list, int64_t bound) {
    return llvm::all_of(list, [&](int64_t v) { return v >= bound; });
  };
  if (!atLeast(windows.sizes, 1) || !atLeast(windows.strides, 1) ||
      !atLeast(windows.dilations, 1))
    return op->emitOpError("window, strides and dilations must be positive");
  if (!atLeast(windows.padLow, 0) || !atLeast(windows.padHigh, 0))
    return op->emitOpError("low and high must not be negative");
  return success();
}

/// Adds the spatial factors of operand 0 and result 0.
static void addWindowFactors(ShardingRule &rule, const Windows &windows,
                             ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                             double fill) {
  for (size_t i = 0; i < windows.sizes.size(); ++i) {
    Window window{windows.sizes[i], windows.strides[i], windows.dilations[i],
                  windows.padLow[i], fill};
    bool plain = window.size == 1 && window.stride == 1 && window.padLow == 0;
    // Padding behind a window of one element: the blocks would not match.
    if (plain && from[i + 2] != to[i + 2])
      continue;
    unsigned factor = addSharedFactor(rule, to[i + 2], 0, i + 2, i + 2);
    (void)factor;
    rule.operands[0][i + 2].window = window;
  }
}

/// A split dimension reads an interval that holds its own padding.
static void dropPadding(SmallVectorImpl<int64_t> &low,
                        SmallVectorImpl<int64_t> &high,
                        const Localization &localization) {
  const TensorFactors &input = localization.rule.operands[0];
  for (size_t i = 0; i < low.size(); ++i) {
    const DimFactors &dim = input[i + 2];
    if (!dim.window || localization.subAxes(dim.factors.front()).empty())
      continue;
    low[i] = 0;
    high[i] = 0;
  }
}

/// Sets the padding of a local convolution or pooling.
template <typename OpTy>
static void localizePadding(OpTy local, const Localization &localization) {
  SmallVector<int64_t> low(local.getPadLow()), high(local.getPadHigh());
  dropPadding(low, high, localization);
  local.setPadLow(low);
  local.setPadHigh(high);
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

static Windows windowsOf(ConvolutionOp op) {
  return {shapeOf(op.getFilter()).drop_front(2), op.getStrides(),
          op.getDilations(), op.getPadLow(), op.getPadHigh()};
}

LogicalResult ConvolutionOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput()), filter = shapeOf(getFilter());
  if (input.size() < 3 || filter.size() != input.size())
    return emitOpError("needs an input [n, c, spatial...] and a filter [o, "
                       "c/groups, window...] of the same rank");
  if (elementOf(getFilter()) != elementOf(getInput()))
    return emitOpError("input and filter must have one element type");
  Windows windows = windowsOf(*this);
  if (failed(verifyWindows(*this, windows, input.size() - 2)))
    return failure();
  int64_t groups = getGroups();
  if (groups < 1 || filter[0] % groups != 0 || filter[1] * groups != input[1])
    return emitOpError() << "groups = " << groups
                         << " does not fit an input of " << input[1]
                         << " channels and a filter of " << filter[0]
                         << " output and " << filter[1] << " input channels";
  SmallVector<int64_t> shape{input[0], filter[0]};
  for (size_t i = 0; i + 2 < input.size(); ++i)
    shape.push_back(windows.resultSize(i, input[i + 2]));
  return verifyResult(*this, shape, getInput());
}

ShardingRule ConvolutionOp::getShardingRule() {
  ArrayRef<int64_t> input = shapeOf(getInput()), filter = shapeOf(getFilter());
  int64_t groups = getGroups();
  ShardingRule rule = wholeRule(*this);
  addSharedFactor(rule, input[0], 0, 0, 0);
  DimFactors inputChannels, outputChannels;
  if (groups > 1) {
    unsigned group = rule.addFactor(groups);
    inputChannels.factors.push_back(group);
    outputChannels.factors.push_back(group);
  }
  outputChannels.factors.push_back(rule.addFactor(filter[0] / groups));
  unsigned channel = rule.addFactor(filter[1], FactorKind::Reduce);
  rule.factors[channel].mask = 0.0;
  inputChannels.factors.push_back(channel);
  rule.operands[0][1] = inputChannels;
  rule.operands[1][0] = outputChannels;
  rule.operands[1][1] = channel;
  rule.results[0][1] = outputChannels;
  addWindowFactors(rule, windowsOf(*this), input, getType().getShape(), 0.0);
  addPass(rule, {0}, ReduceKind::Sum);
  addPass(rule, {1}, ReduceKind::Sum);
  return rule;
}

Operation *ConvolutionOp::localize(OpBuilder &builder, ValueRange operands,
                                   TypeRange resultTypes,
                                   const Localization &localization) {
  Operation *op = cloneLocal(*this, builder, operands, resultTypes);
  auto local = cast<ConvolutionOp>(op);
  localizePadding(local, localization);
  int64_t channels = shapeOf(local.getInput())[1];
  local.setGroups(channels / shapeOf(local.getFilter())[1]);
  return op;
}

KernelClass ConvolutionOp::getKernelClass() { return KernelClass::Convolution; }

PrecisionClass ConvolutionOp::getPrecisionClass() {
  return PrecisionClass::Low;
}

SmallVector<CallKind, 2> ConvolutionOp::getCallKinds() {
  SmallVector<CallKind, 2> kinds;
  if (getStrides().empty() || getStrides().size() > 3)
    return kinds;
  if (filterGradientOf(*this))
    kinds.push_back(CallKind::FilterGradient);
  kinds.push_back(CallKind::Convolution);
  return kinds;
}

SmallVector<Value, 2> ConvolutionOp::getCallOperands(CallKind kind) {
  if (kind == CallKind::Convolution)
    return {getInput(), getFilter()};
  FilterGradient filter = *filterGradientOf(*this);
  return {filter.images.getInput(), filter.gradient.getInput()};
}

bool ConvolutionOp::takesBias(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims,
                              ArrayRef<int64_t> shape) {
  return shape == shapeOf(getResult()) && dims.size() == 1 && dims[0] == 1 &&
         sizes[0] == shape[1];
}

int64_t ConvolutionOp::getFlops() {
  int64_t flops = 2 * getType().getNumElements();
  for (int64_t size : shapeOf(getFilter()).drop_front())
    flops *= size;
  return flops;
}

//===----------------------------------------------------------------------===//
// pool
//===----------------------------------------------------------------------===//

static Windows windowsOf(PoolOp op) {
  return {op.getWindow(), op.getStrides(), op.getDilations(), op.getPadLow(),
          op.getPadHigh()};
}

LogicalResult PoolOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput());
  if (input.size() < 3)
    return emitOpError("needs an input [n, c, spatial...]");
  if (getKind() != ReduceKind::Sum && getKind() != ReduceKind::Max)
    return emitOpError("kind must be sum or max");
  Windows windows = windowsOf(*this);
  if (failed(verifyWindows(*this, windows, input.size() - 2)))
    return failure();
  SmallVector<int64_t> shape(input.take_front(2));
  for (size_t i = 0; i + 2 < input.size(); ++i)
    shape.push_back(windows.resultSize(i, input[i + 2]));
  return verifyResult(*this, shape, getInput());
}

ShardingRule PoolOp::getShardingRule() {
  ArrayRef<int64_t> input = shapeOf(getInput());
  ShardingRule rule = wholeRule(*this);
  addSharedFactor(rule, input[0], 0, 0, 0);
  addSharedFactor(rule, input[1], 0, 1, 1);
  addWindowFactors(rule, windowsOf(*this), input, getType().getShape(),
                   neutralElement(getKind(), elementOf(getInput())));
  addPass(rule, {0}, getKind());
  return rule;
}

Operation *PoolOp::localize(OpBuilder &builder, ValueRange operands,
                            TypeRange resultTypes,
                            const Localization &localization) {
  Operation *local = cloneLocal(*this, builder, operands, resultTypes);
  localizePadding(cast<PoolOp>(local), localization);
  return local;
}

KernelClass PoolOp::getKernelClass() { return KernelClass::Window; }

PrecisionClass PoolOp::getPrecisionClass() { return precisionClass(getKind()); }

bool PoolOp::roundsResult() { return rounds(getKind()); }

int64_t PoolOp::getFlops() {
  int64_t flops = getType().getNumElements();
  for (int64_t size : getWindow())
    flops *= size;
  return flops;
}

} // namespace autopar
