//===- TensorBuilder.cpp - A vocabulary to build ops with -----------------===//

#include "autopar/Dialect/TensorBuilder.h"
#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value TensorBuilder::splat(RankedTensorType type, double value) {
  return createSplat(builder, loc, type, value);
}

Value TensorBuilder::splatLike(Value like, double value) {
  return splat(typeOf(like), value);
}

Value TensorBuilder::scalar(Type element, double value) {
  return splat(RankedTensorType::get({}, element), value);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value TensorBuilder::convert(Value value, Type element) {
  if (elementOf(value) == element)
    return value;
  auto type = RankedTensorType::get(shapeOf(value), element);
  return ConvertOp::create(builder, loc, type, value);
}

Value TensorBuilder::unary(UnaryKind kind, Value value) {
  return UnaryOp::create(builder, loc, kind, value);
}

Value TensorBuilder::binary(BinaryKind kind, Value lhs, Value rhs) {
  return BinaryOp::create(builder, loc, kind, lhs, rhs);
}

Value TensorBuilder::binary(BinaryKind kind, Value lhs, double rhs) {
  return binary(kind, lhs, splatLike(lhs, rhs));
}

Value TensorBuilder::compare(ComparePredicate predicate, Value lhs, Value rhs) {
  auto type = RankedTensorType::get(shapeOf(lhs), builder.getI1Type());
  return CompareOp::create(builder, loc, type, predicate, lhs, rhs);
}

Value TensorBuilder::compare(ComparePredicate predicate, Value lhs,
                             double rhs) {
  return compare(predicate, lhs, splatLike(lhs, rhs));
}

Value TensorBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return SelectOp::create(builder, loc, condition, onTrue, onFalse);
}

Value TensorBuilder::selectOrZero(Value condition, Value value) {
  return select(condition, value, splatLike(value, 0));
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

Value TensorBuilder::iota(Sizes shape, Type element, int64_t dim) {
  return IotaOp::create(builder, loc, RankedTensorType::get(shape, element),
                        dim, Value());
}

Value TensorBuilder::reshape(Value value, Sizes shape) {
  if (shapeOf(value) == shape)
    return value;
  auto type = RankedTensorType::get(shape, elementOf(value));
  return ReshapeOp::create(builder, loc, type, value);
}

Value TensorBuilder::transpose(Value value, Sizes perm) {
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(shapeOf(value)[dim]);
  auto type = RankedTensorType::get(shape, elementOf(value));
  return TransposeOp::create(builder, loc, type, value, perm);
}

Value TensorBuilder::broadcast(Value value, Sizes shape, Sizes dims) {
  if (shapeOf(value) == shape)
    return value;
  auto type = RankedTensorType::get(shape, elementOf(value));
  return BroadcastOp::create(builder, loc, type, value, dims);
}

Value TensorBuilder::slice(Value value, Sizes starts, Sizes sizes,
                           Sizes steps) {
  auto type = RankedTensorType::get(sizes, elementOf(value));
  return SliceOp::create(builder, loc, type, value, starts, steps);
}

Value TensorBuilder::slice(Value value, int64_t dim, int64_t start,
                           int64_t size) {
  SmallVector<int64_t> sizes(shapeOf(value)), starts(sizes.size(), 0),
      steps(sizes.size(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  return slice(value, starts, sizes, steps);
}

Value TensorBuilder::concat(ValueRange values, int64_t dim) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> shape(shapeOf(values.front()));
  shape[dim] = 0;
  for (Value value : values)
    shape[dim] += shapeOf(value)[dim];
  auto type = RankedTensorType::get(shape, elementOf(values.front()));
  return ConcatOp::create(builder, loc, type, values, dim);
}

Value TensorBuilder::pad(Value value, Sizes low, Sizes high, double filled) {
  SmallVector<int64_t> shape(shapeOf(value));
  for (auto [dim, size] : llvm::enumerate(shape))
    size += low[dim] + high[dim];
  auto type = RankedTensorType::get(shape, elementOf(value));
  return PadOp::create(builder, loc, type, value, low, high, APFloat(filled));
}

Value TensorBuilder::reverse(Value value, int64_t dim) {
  SmallVector<int64_t> sizes(shapeOf(value)), starts(sizes.size(), 0),
      steps(sizes.size(), 1);
  starts[dim] = sizes[dim] - 1;
  steps[dim] = -1;
  return slice(value, starts, sizes, steps);
}

/// step - 1 zeros between the elements of `dim`.
Value TensorBuilder::spreadApart(Value value, int64_t dim, int64_t step) {
  int64_t count = shapeOf(value)[dim];
  if (step == 1 || count <= 1)
    return value;
  SmallVector<int64_t> split(shapeOf(value)), joined(split);
  split.insert(split.begin() + dim + 1, 1);
  joined[dim] *= step;
  SmallVector<int64_t> low(split.size(), 0), high(split.size(), 0);
  high[dim + 1] = step - 1;
  Value spread = reshape(pad(reshape(value, split), low, high), joined);
  return slice(spread, dim, 0, (count - 1) * step + 1);
}

Value TensorBuilder::place(Value value, Sizes starts, Sizes steps,
                           Sizes shape) {
  SmallVector<int64_t> low(shape.size(), 0), high(shape.size(), 0);
  for (auto [dim, step] : llvm::enumerate(steps)) {
    int64_t count = shapeOf(value)[dim];
    low[dim] = starts[dim] + (step < 0 ? (count - 1) * step : 0);
    if (step < 0)
      value = reverse(value, dim);
    value = spreadApart(value, dim, std::abs(step));
    high[dim] = shape[dim] - low[dim] - shapeOf(value)[dim];
  }
  return shapeOf(value) == shape ? value : pad(value, low, high);
}

//===----------------------------------------------------------------------===//
// Reductions and contractions
//===----------------------------------------------------------------------===//

Value TensorBuilder::reduce(ReduceKind kind, Value value, Sizes dims) {
  if (dims.empty())
    return value;
  SmallVector<int64_t> shape;
  for (int64_t dim : keptDims(shapeOf(value).size(), dims))
    shape.push_back(shapeOf(value)[dim]);
  auto type = RankedTensorType::get(shape, elementOf(value));
  return ReduceOp::create(builder, loc, type, kind, value, dims);
}

Value TensorBuilder::sum(Value value) {
  return reduce(ReduceKind::Sum, value, keptDims(shapeOf(value).size(), {}));
}

Value TensorBuilder::spread(Value reduced, Value like, Sizes dims) {
  return broadcast(reduced, shapeOf(like),
                   keptDims(shapeOf(like).size(), dims));
}

Value TensorBuilder::einsum(StringRef equation, Value lhs, Value rhs) {
  auto [operands, result] = equation.split("->");
  auto [lhsLetters, rhsLetters] = operands.split(',');
  SmallVector<int64_t> shape;
  for (char letter : result) {
    size_t at = lhsLetters.find(letter);
    shape.push_back(at != StringRef::npos
                        ? shapeOf(lhs)[at]
                        : shapeOf(rhs)[rhsLetters.find(letter)]);
  }
  auto type = RankedTensorType::get(shape, elementOf(lhs));
  return EinsumOp::create(builder, loc, type, equation, lhs, rhs);
}

} // namespace autopar
