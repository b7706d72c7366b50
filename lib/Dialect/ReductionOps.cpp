//===- ReductionOps.cpp - Reductions and the composites made of them ------===//

#include "OpHelpers.h"
#include "autopar/Dialect/TensorBuilder.h"

using namespace mlir;

namespace autopar {

/// The first of `dims` if every later dimension of `shape` is one of them or
/// has size 1.
static std::optional<int64_t> rowRank(ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> dims) {
  if (dims.empty())
    return std::nullopt;
  int64_t first = *llvm::min_element(dims);
  for (int64_t dim = first, rank = shape.size(); dim < rank; ++dim)
    if (shape[dim] != 1 && !llvm::is_contained(dims, dim))
      return std::nullopt;
  return first;
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput());
  if (failed(verifyIncreasing(*this, getDims(), from.size())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : keptDims(from.size(), getDims()))
    shape.push_back(from[dim]);
  return verifyResult(*this, shape, getInput());
}

ShardingRule ReduceOp::getShardingRule() {
  ArrayRef<int64_t> from = shapeOf(getInput());
  ShardingRule rule = wholeRule(*this);
  for (auto [to, dim] : llvm::enumerate(keptDims(from.size(), getDims())))
    addSharedFactor(rule, from[dim], 0, dim, to);
  for (int64_t dim : getDims()) {
    unsigned factor = rule.addFactor(from[dim], FactorKind::Reduce);
    rule.factors[factor].reduce = getKind();
    rule.factors[factor].mask =
        neutralElement(getKind(), elementOf(getInput()));
    rule.operands[0][dim] = factor;
  }
  addPass(rule, {0}, getKind());
  return rule;
}

KernelClass ReduceOp::getKernelClass() { return KernelClass::Reduction; }

std::optional<int64_t> ReduceOp::getRowRank() {
  return rowRank(shapeOf(getInput()), getDims());
}

PrecisionClass ReduceOp::getPrecisionClass() {
  return precisionClass(getKind());
}

bool ReduceOp::roundsResult() { return rounds(getKind()); }

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  return verifyDim(*this, getDim(), getType().getRank());
}

ShardingRule ScanOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    if (int64_t(dim) != int64_t(getDim()))
      addSharedFactor(rule, size, 0, dim, dim);
  addPass(rule, {0}, getKind());
  return rule;
}

KernelClass ScanOp::getKernelClass() { return KernelClass::Reduction; }

std::optional<int64_t> ScanOp::getRowDim() { return getDim(); }

PrecisionClass ScanOp::getPrecisionClass() { return precisionClass(getKind()); }

bool ScanOp::roundsResult() { return rounds(getKind()); }

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput()), to = shapeOf(getResult());
  if (elementOf(getInput()).isInteger(1))
    return emitOpError("is not defined on i1");
  if (failed(verifyDim(*this, getDim(), from.size())))
    return failure();
  SmallVector<int64_t> shape(from);
  if (to.size() == from.size())
    shape[getDim()] = to[getDim()];
  if (ArrayRef<int64_t>(shape) != to)
    return emitOpError("operand and result must agree in all dimensions but "
                       "dim");
  if (to[getDim()] > from[getDim()])
    return emitOpError() << "finds " << to[getDim()] << " of " << from[getDim()]
                         << " elements";
  return success();
}

ShardingRule TopKOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  for (auto [dim, size] : llvm::enumerate(shapeOf(getInput())))
    if (int64_t(dim) != int64_t(getDim()))
      addSharedFactor(rule, size, 0, dim, dim);
  return rule;
}

KernelClass TopKOp::getKernelClass() { return KernelClass::Reduction; }

std::optional<int64_t> TopKOp::getRowDim() { return getDim(); }

/// One comparison per element.
int64_t TopKOp::getFlops() { return getInput().getType().getNumElements(); }

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

/// Elementwise but for `dims`, which split only once the op is decomposed.
static ShardingRule compositeRule(ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> dims) {
  ShardingRule rule = elementwiseRule(shape, 1);
  for (int64_t dim : dims)
    rule.factors[dim].kind = FactorKind::Decompose;
  return rule;
}

namespace {
/// Builds the parts of a composite at one place, on elements of at least 32
/// bits.
struct Parts : TensorBuilder {
  SmallVector<int64_t> dims; // reduced

  Parts(OpBuilder &builder, Location loc, ArrayRef<int64_t> dims)
      : TensorBuilder(builder, loc), dims(dims) {}

  Value widen(Value value) {
    Type element = elementOf(value);
    return convert(value, element.getIntOrFloatBitWidth() < 32
                              ? builder.getF32Type()
                              : element);
  }
  Value reduce(ReduceKind kind, Value value) {
    return TensorBuilder::reduce(kind, value, dims);
  }
  /// A reduced value back on the shape of `like`.
  Value spread(Value reduced, Value like) {
    return TensorBuilder::spread(reduced, like, dims);
  }
  Value mean(Value value) {
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= shapeOf(value)[dim];
    return binary(BinaryKind::Div, reduce(ReduceKind::Sum, value),
                  double(count));
  }
};
} // namespace

/// Gives the last part the composite's discardable attributes (its ONNX name).
static SmallVector<Value> finishParts(Operation *composite, Value value) {
  if (Operation *last = value.getDefiningOp())
    last->setDiscardableAttrs(composite->getDiscardableAttrDictionary());
  return {value};
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  return verifyDim(*this, getDim(), getType().getRank());
}

ShardingRule SoftmaxOp::getShardingRule() {
  ShardingRule rule = compositeRule(getType().getShape(), int64_t(getDim()));
  rule.factors[getDim()].mask =
      neutralElement(ReduceKind::Max, elementOf(getInput()));
  return rule;
}

KernelClass SoftmaxOp::getKernelClass() { return KernelClass::Reduction; }

std::optional<int64_t> SoftmaxOp::getRowRank() {
  return rowRank(shapeOf(getInput()), int64_t(getDim()));
}

std::optional<int64_t> SoftmaxOp::getRowDim() { return getDim(); }

PrecisionClass SoftmaxOp::getPrecisionClass() { return PrecisionClass::Full; }

int64_t SoftmaxOp::getFlops() {
  return (kExpFlops + 4) * getType().getNumElements();
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  Parts parts(builder, getLoc(), int64_t(getDim()));
  Value x = parts.widen(getInput());
  Value max = parts.spread(parts.reduce(ReduceKind::Max, x), x);
  Value shifted = parts.binary(BinaryKind::Sub, x, max);
  Value exp = parts.unary(UnaryKind::Exp, shifted);
  Value sum = parts.reduce(ReduceKind::Sum, exp);
  Value result =
      getLog() ? parts.binary(BinaryKind::Sub, shifted,
                              parts.spread(parts.unary(UnaryKind::Log, sum), x))
               : parts.binary(BinaryKind::Div, exp, parts.spread(sum, x));
  return finishParts(*this, parts.convert(result, elementOf(getInput())));
}

/// The largest element, then the sum.
int64_t SoftmaxOp::getReductionCount() { return 2; }

//===----------------------------------------------------------------------===//
// normalize
//===----------------------------------------------------------------------===//

LogicalResult NormalizeOp::verify() {
  if (getDims().empty())
    return emitOpError("needs at least one dimension to normalize over");
  return verifyIncreasing(*this, getDims(), getType().getRank());
}

ShardingRule NormalizeOp::getShardingRule() {
  return compositeRule(getType().getShape(), getDims());
}

KernelClass NormalizeOp::getKernelClass() { return KernelClass::Reduction; }

std::optional<int64_t> NormalizeOp::getRowRank() {
  return rowRank(shapeOf(getInput()), getDims());
}

PrecisionClass NormalizeOp::getPrecisionClass() { return PrecisionClass::Full; }

int64_t NormalizeOp::getFlops() { return 5 * getType().getNumElements(); }

SmallVector<Value> NormalizeOp::decompose(OpBuilder &builder) {
  Parts parts(builder, getLoc(), getDims());
  Value x = parts.widen(getInput());
  if (getKind() == NormKind::Layer)
    x = parts.binary(BinaryKind::Sub, x, parts.spread(parts.mean(x), x));
  Value variance = parts.mean(parts.binary(BinaryKind::Mul, x, x));
  Value scale = parts.unary(
      UnaryKind::Rsqrt,
      parts.binary(BinaryKind::Add, variance, getEpsilon().convertToDouble()));
  Value result = parts.binary(BinaryKind::Mul, x, parts.spread(scale, x));
  return finishParts(*this, parts.convert(result, elementOf(getInput())));
}

/// The mean, if it is taken off, then the mean of squares.
int64_t NormalizeOp::getReductionCount() {
  return getKind() == NormKind::Layer ? 2 : 1;
}

} // namespace autopar
