//===- Flattening.cpp - Reshapes that merge dimensions --------------------===//

#include "Canonicalize.h"

using namespace mlir;

namespace autopar {

std::optional<Flattening> flatteningOf(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return std::nullopt;
  ArrayRef<int64_t> from = shapeOf(reshape.getInput()), to = shapeOf(value);
  if (to.empty() || to.size() >= from.size() ||
      reshape.getType().getNumElements() == 0)
    return std::nullopt;
  Flattening flattening{reshape, {}, llvm::to_vector(from)};
  size_t dim = 0;
  for (int64_t size : to) {
    SmallVector<int64_t, 2> &group = flattening.groups.emplace_back();
    int64_t product = 1;
    do {
      if (dim == from.size())
        return std::nullopt;
      group.push_back(dim);
      product *= from[dim++];
    } while (product < size);
    if (product != size)
      return std::nullopt;
  }
  for (; dim < from.size(); ++dim) // all of size 1
    flattening.groups.back().push_back(dim);
  return flattening;
}

std::optional<Flattening> regroupingOf(Value value) {
  if (auto flattening = flatteningOf(value))
    return flattening;
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape || reshape.getType().getNumElements() == 0)
    return std::nullopt;
  Flattening regrouping{reshape, {}, {}};
  bool merges = false;
  int64_t left = 1; // of the input's dimension
  const auto *next = shapeOf(reshape.getInput()).begin();
  for (int64_t size : shapeOf(value)) {
    SmallVector<int64_t, 2> &group = regrouping.groups.emplace_back();
    do {
      while (left == 1 && size > 1)
        left = *next++;
      int64_t part = std::min(left, size);
      if (left % part != 0 || size % part != 0)
        return std::nullopt;
      left /= part;
      size /= part;
      group.push_back(regrouping.from.size());
      regrouping.from.push_back(part);
    } while (size > 1);
    merges |= group.size() > 1;
  }
  return merges ? std::optional(std::move(regrouping)) : std::nullopt;
}

Value reshapeTo(OpBuilder &builder, Location loc, Value value,
                ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  auto type = RankedTensorType::get(shape, elementOf(value));
  return ReshapeOp::create(builder, loc, type, value);
}

Value resplat(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  auto constant = value.getDefiningOp<ConstantOp>();
  Attribute element =
      constant ? splatElement(constant.getValue()) : Attribute();
  if (!element)
    return {};
  return ConstantOp::create(
      builder, constant.getLoc(),
      DenseElementsAttr::get(withShape(value, shape), element));
}

std::optional<SmallVector<int64_t>> placedDims(BroadcastOp broadcast,
                                               ArrayRef<int64_t> places) {
  SmallVector<int64_t> dims;
  for (int64_t dim : broadcast.getDims())
    dims.push_back(places[dim]);
  if (!llvm::is_sorted(dims))
    return std::nullopt;
  return dims;
}

RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, elementOf(value));
}

bool isElementwise(Operation *op) {
  return isa_and_nonnull<UnaryOp, BinaryOp, CompareOp, SelectOp, ConvertOp>(op);
}

} // namespace autopar
