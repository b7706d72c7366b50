//===- OnnxOpsReduction.cpp - ONNX reductions -----------------------------===//

#include "Norms.h"
#include "OnnxNode.h"

using namespace mlir;

namespace autopar {
namespace {

/// The reduced dimensions: of the attribute or input `axes`, all without it.
/// None if the node is then the identity (noop_with_empty_axes).
FailureOr<std::optional<SmallVector<int64_t>>> reducedDims(OnnxNode &node) {
  SmallVector<int64_t> axes = node.getInts("axes");
  if (node.has(1)) {
    FailureOr<SmallVector<int64_t>> given = node.ints(1);
    if (failed(given))
      return failure();
    axes = *given;
  }
  if (axes.empty() && node.getInt("noop_with_empty_axes", 0))
    return std::optional<SmallVector<int64_t>>();
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  FailureOr<SmallVector<int64_t>> dims = node.normalizeAxes(axes, node.rank(0));
  if (failed(dims))
    return failure();
  axes = *dims;
  return std::optional(std::move(axes));
}

/// Gives reduced dimensions back as size 1.
Value keepDims(OnnxNode &node, Value x, ArrayRef<int64_t> original,
               ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(original);
  for (int64_t dim : dims)
    shape[dim] = 1;
  return node.reshape(x, shape);
}

/// A function that a reduction applies before or after it.
using Step = Value (*)(OnnxNode &, Value);
Value same(OnnxNode &, Value x) { return x; }
Value absolute(OnnxNode &node, Value x) {
  return node.unary(UnaryKind::Abs, x);
}
Value square(OnnxNode &node, Value x) {
  return node.binary(BinaryKind::Mul, x, x);
}
Value root(OnnxNode &node, Value x) {
  return rootOf(node, node.unary(UnaryKind::Sqrt, x), x, 0.5);
}
Value logarithm(OnnxNode &node, Value x) {
  return node.unary(UnaryKind::Log, x);
}

/// i1 reduces as an integer: max is "any", min is "all", also of nothing.
Value reduceAny(OnnxNode &node, ReduceKind kind, Value x,
                ArrayRef<int64_t> dims) {
  Type element = OnnxNode::elementOf(x);
  if (!element.isInteger(1))
    return node.reduce(kind, x, dims);
  Value wide = node.convert(x, node.builder.getI32Type());
  Value result = node.reduce(kind, wide, dims);
  return node.compare(ComparePredicate::Gt, result, node.splatLike(result, 0));
}

/// Converts x to floats that hold its sum, for a reduction that ends with a
/// function of floats. If x has integers, the caller takes the result's whole
/// part.
Value forFunction(OnnxNode &node, Value x) {
  if (isa<FloatType>(OnnxNode::elementOf(x)))
    return node.widened(x);
  return node.convert(x, node.builder.getF64Type());
}

template <Step before, ReduceKind kind, Step after>
LogicalResult reduction(OnnxNode &node) {
  FailureOr<std::optional<SmallVector<int64_t>>> dims = reducedDims(node);
  if (failed(dims))
    return failure();
  Value x = node.input(0);
  Type element = OnnxNode::elementOf(x);
  x = after != same      ? forFunction(node, x)
      : before == square ? node.widened(x)
                         : x;
  x = before(node, x);
  if (!*dims)
    return node.finish(node.convert(after(node, x), element));
  Value result =
      node.convert(after(node, reduceAny(node, kind, x, **dims)), element);
  if (node.getInt("keepdims", 1))
    result = keepDims(node, result, node.shape(0), **dims);
  return node.finish(result);
}

LogicalResult mean(OnnxNode &node) {
  FailureOr<std::optional<SmallVector<int64_t>>> dims = reducedDims(node);
  if (failed(dims))
    return failure();
  if (!*dims)
    return node.finish(node.input(0));
  Value result = node.mean(node.input(0), **dims);
  if (node.getInt("keepdims", 1))
    result = keepDims(node, result, node.shape(0), **dims);
  return node.finish(result);
}

/// max + log(sum(exp(x - max)))
LogicalResult logSumExp(OnnxNode &node) {
  FailureOr<std::optional<SmallVector<int64_t>>> dims = reducedDims(node);
  if (failed(dims))
    return failure();
  if (!*dims)
    return node.finish(node.input(0));
  Value x = forFunction(node, node.input(0));
  Value top = keepDims(node, node.reduce(ReduceKind::Max, x, **dims),
                       node.shape(0), **dims);
  // An infinite maximum would make NaN of inf - inf.
  auto type = cast<FloatType>(OnnxNode::elementOf(x));
  double largest =
      llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  top = node.binary(BinaryKind::Max, top, -largest);
  top = node.binary(BinaryKind::Min, top, largest);
  Value shifted =
      node.binary(BinaryKind::Sub, x, node.broadcastTo(top, node.shape(0)));
  Value sum =
      node.reduce(ReduceKind::Sum, node.unary(UnaryKind::Exp, shifted), **dims);
  Value result = node.binary(BinaryKind::Add, node.unary(UnaryKind::Log, sum),
                             node.reshape(top, OnnxNode::shapeOf(sum)));
  result = node.function("log_sum_exp", {x}, result, {node.dims(**dims)});
  result = node.convert(result, OnnxNode::elementOf(node.input(0)));
  if (node.getInt("keepdims", 1))
    result = keepDims(node, result, node.shape(0), **dims);
  return node.finish(result);
}

/// Longer running sums are made of blocks of so many elements, for an element
/// of one alone looks at all before it, or a row of them is kept.
constexpr int64_t kLongScan = 8192, kScanBlock = 512;

/// A running sum or product along `axis`: of each block, combined with that of
/// all blocks before it.
Value runningFold(OnnxNode &node, ReduceKind kind, Value x, int64_t axis,
                  bool exclusive, bool reverse) {
  auto scan = [&](Value of, int64_t dim, bool without) {
    return node.create<ScanOp>(OnnxNode::typeOf(of), kind, of, dim, without,
                               reverse);
  };
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x));
  if (shape[axis] <= kLongScan)
    return scan(x, axis, exclusive);
  bool isSum = kind == ReduceKind::Sum;
  int64_t count = llvm::divideCeil(shape[axis], kScanBlock);
  SmallVector<int64_t> low(shape.size(), 0), high(low), blocks(shape);
  high[axis] = count * kScanBlock - shape[axis];
  blocks[axis] += high[axis];
  if (high[axis] > 0)
    x = node.create<PadOp>(OnnxNode::typeOf(x).clone(blocks), x, low, high,
                           llvm::APFloat(isSum ? 0.0 : 1.0));
  SmallVector<int64_t> padded(blocks);
  blocks[axis] = kScanBlock;
  blocks.insert(blocks.begin() + axis, count);
  x = node.reshape(x, blocks);
  Value totals = runningFold(node, kind, node.reduce(kind, x, {axis + 1}), axis,
                             /*exclusive=*/true, reverse);
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < int64_t(blocks.size()); ++d)
    if (d != axis + 1)
      dims.push_back(d);
  Value own = scan(x, axis + 1, exclusive);
  Value running = node.binary(isSum ? BinaryKind::Add : BinaryKind::Mul,
                              node.broadcastDims(totals, blocks, dims), own);
  return node.slice(node.reshape(running, padded), low, shape);
}

template <ReduceKind kind> LogicalResult cumulative(OnnxNode &node) {
  FailureOr<int64_t> given = node.scalarInt(1);
  if (failed(given))
    return failure();
  FailureOr<int64_t> axis = node.normalizeAxis(*given, node.rank(0));
  if (failed(axis))
    return failure();
  bool isLong = node.shape(0)[*axis] > kLongScan;
  Value x = isLong ? node.widened(node.input(0)) : node.input(0);
  Value running = runningFold(node, kind, x, *axis, node.getInt("exclusive", 0),
                              node.getInt("reverse", 0));
  return node.finish(node.convert(running, OnnxNode::elementOf(node.input(0))));
}

constexpr StringLiteral kAxes = "axes:ints keepdims:int";
constexpr StringLiteral kAxesInput = "keepdims:int noop_with_empty_axes:int";

constexpr auto sum = reduction<same, ReduceKind::Sum, same>;
constexpr auto product = reduction<same, ReduceKind::Prod, same>;
constexpr auto maximum = reduction<same, ReduceKind::Max, same>;
constexpr auto minimum = reduction<same, ReduceKind::Min, same>;
constexpr auto norm1 = reduction<absolute, ReduceKind::Sum, same>;
constexpr auto norm2 = reduction<square, ReduceKind::Sum, root>;
constexpr auto sumSquare = reduction<square, ReduceKind::Sum, same>;
constexpr auto logSum = reduction<same, ReduceKind::Sum, logarithm>;

const OnnxOp kOps[] = {
    {"ReduceSum", "1 11", 1, 1, kAxes, sum},
    {"ReduceSum", "13", 1, 2, kAxesInput, sum},
    {"ReduceMean", "1 11 13", 1, 1, kAxes, mean},
    {"ReduceMean", "18", 1, 2, kAxesInput, mean},
    {"ReduceProd", "1 11 13", 1, 1, kAxes, product},
    {"ReduceProd", "18", 1, 2, kAxesInput, product},
    {"ReduceMax", "1 11 12 13", 1, 1, kAxes, maximum},
    {"ReduceMax", "18 20", 1, 2, kAxesInput, maximum},
    {"ReduceMin", "1 11 12 13", 1, 1, kAxes, minimum},
    {"ReduceMin", "18 20", 1, 2, kAxesInput, minimum},
    {"ReduceL1", "1 11 13", 1, 1, kAxes, norm1},
    {"ReduceL1", "18", 1, 2, kAxesInput, norm1},
    {"ReduceL2", "1 11 13", 1, 1, kAxes, norm2},
    {"ReduceL2", "18", 1, 2, kAxesInput, norm2},
    {"ReduceSumSquare", "1 11 13", 1, 1, kAxes, sumSquare},
    {"ReduceSumSquare", "18", 1, 2, kAxesInput, sumSquare},
    {"ReduceLogSum", "1 11 13", 1, 1, kAxes, logSum},
    {"ReduceLogSum", "18 28", 1, 2, kAxesInput, logSum},
    {"ReduceLogSumExp", "1 11 13", 1, 1, kAxes, logSumExp},
    {"ReduceLogSumExp", "18 28", 1, 2, kAxesInput, logSumExp},
    {"CumSum", "11 14", 2, 2, "exclusive:int reverse:int",
     cumulative<ReduceKind::Sum>},
    {"CumProd", "26", 2, 2, "exclusive:int reverse:int",
     cumulative<ReduceKind::Prod>},
};
} // namespace

ArrayRef<OnnxOp> reductionOps() { return kOps; }

} // namespace autopar
