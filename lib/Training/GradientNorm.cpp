//===- GradientNorm.cpp - What all gradients come to together -------------===//
//
// Each gradient is reduced to a number, and one vector of them to the result:
// one all-reduce where shards hold parts of gradients.
//
//===----------------------------------------------------------------------===//

#include "GradientNorm.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {

static TensorBuilder builderAt(TensorBuilder &b, const TrainedParameter &item) {
  std::string name = (item.name.getValue() + "/norm").str();
  return {b.builder, NameLoc::get(b.builder.getStringAttr(name))};
}

/// Rows that threads share.
static constexpr int64_t kManyRows = 64;

/// The leading dimensions whose rows are many, or all but the last.
static int64_t rowDims(ArrayRef<int64_t> shape) {
  size_t dims = 1;
  for (int64_t rows = shape.empty() ? 0 : shape.front();
       dims + 1 < shape.size() && rows < kManyRows; ++dims)
    rows *= shape[dims];
  return dims;
}

/// Reduces a value to a vector of one element. Rows are reduced first, so that
/// threads can share them.
static Value reduceAll(TensorBuilder &b, ReduceKind kind, Value value) {
  auto from = [](int64_t first, size_t rank) {
    return llvm::to_vector(
        llvm::seq<int64_t>(first, std::max<int64_t>(first, rank)));
  };
  ArrayRef<int64_t> shape = shapeOf(value);
  Value rows = b.reduce(kind, value, from(rowDims(shape), shape.size()));
  Value all = b.reduce(kind, rows, from(0, shapeOf(rows).size()));
  return b.reshape(all, {1});
}

Value globalNorm(TensorBuilder &b, ArrayRef<TrainedParameter> trained) {
  SmallVector<Value> squares;
  for (const TrainedParameter &item : trained) {
    TensorBuilder own = builderAt(b, item);
    Value wide = own.convert(item.gradient, b.builder.getF64Type());
    squares.push_back(reduceAll(own, ReduceKind::Sum, own.mul(wide, wide)));
  }
  if (squares.empty()) // no gradient reaches a parameter
    return b.splat(RankedTensorType::get({}, b.builder.getF64Type()), 0);
  return b.unary(UnaryKind::Sqrt, b.sum(b.concat(squares, 0)));
}

/// 1 where an element is a NaN or an infinity.
static Value countNotFinite(TensorBuilder &b, Value gradient) {
  Value size =
      b.unary(UnaryKind::Abs, b.convert(gradient, b.builder.getF64Type()));
  Value isFinite =
      b.compare(ComparePredicate::Le, size, std::numeric_limits<double>::max());
  return b.convert(b.unary(UnaryKind::Not, isFinite), b.builder.getI32Type());
}

Value allFinite(TensorBuilder &b, ArrayRef<TrainedParameter> trained,
                Value norm) {
  Value finite =
      b.compare(ComparePredicate::Le, norm, std::numeric_limits<double>::max());
  auto isWide = [](const TrainedParameter &item) {
    return cast<ShapedType>(item.gradient.getType()).getElementType().isF64();
  };
  if (llvm::none_of(trained, isWide))
    return finite;
  SmallVector<Value> others;
  for (const TrainedParameter &item : trained) {
    TensorBuilder own = builderAt(b, item);
    others.push_back(
        reduceAll(own, ReduceKind::Max, countNotFinite(own, item.gradient)));
  }
  Value any = b.reduce(ReduceKind::Max, b.concat(others, 0), {0});
  return b.compare(ComparePredicate::Eq, any, 0.0);
}

} // namespace autopar
