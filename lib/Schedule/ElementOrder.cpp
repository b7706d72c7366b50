//===- ElementOrder.cpp - Which place in memory holds which element -------===//

#include "ElementOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar {

static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// The strides of an element's dimensions; nullopt if they are not known.
static std::optional<SmallVector<int64_t>> stridesOf(ShapedType type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || memref.getLayout().isIdentity())
    return rowMajorStrides(type.getShape());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(memref.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || offset < 0)
    return std::nullopt;
  return strides;
}

std::optional<ElementOrder> ElementOrder::of(ShapedType type) {
  ElementOrder order;
  if (type.getNumElements() == 0)
    return order;
  auto strides = stridesOf(type);
  if (!strides)
    return std::nullopt;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), *strides)) {
    if (size == 1)
      continue;
    if (!order.loops.empty() && order.loops.back().second == size * stride)
      order.loops.back() = {order.loops.back().first * size, stride};
    else
      order.loops.push_back({size, stride});
  }
  return order.isDense() ? std::optional(order) : std::nullopt;
}

/// Checks from the innermost loop on that each begins where the one inside it
/// ends.
bool ElementOrder::isDense() const {
  SmallVector<Loop, 4> inMemory(loops);
  llvm::sort(inMemory, llvm::less_second());
  int64_t next = 1;
  for (auto [size, stride] : inMemory) {
    if (stride != next)
      return false;
    next *= size;
  }
  return true;
}

bool ElementOrder::keepsRows(int64_t rows) const {
  int64_t elements = 1; // elements inside the loops seen so far
  for (auto [size, stride] : loops)
    elements *= size;
  if (rows == 0 || elements % rows != 0)
    return elements == 1;
  int64_t left = rows;
  for (auto [size, stride] : loops) {
    if (left == 1)
      break;
    int64_t steps = std::min(size, left); // of this loop, over rows
    if (size % steps != 0 || left % steps != 0)
      return false;
    elements /= steps;
    left /= steps;
    if (size / steps * stride != elements)
      return false;
    elements /= size / steps;
  }
  return true;
}

/// The dimensions of `type`, but those of size 1 in either, from the outermost
/// in memory.
static SmallVector<int64_t> commonDimensions(ShapedType type,
                                             ShapedType other) {
  SmallVector<int64_t> strides = *stridesOf(type), dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1 && other.getDimSize(dim) != 1)
      dims.push_back(dim);
  llvm::sort(dims,
             [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return dims;
}

bool sameDimensionOrder(ShapedType a, ShapedType b) {
  if (a.getNumElements() == 0 || b.getNumElements() == 0)
    return true;
  return commonDimensions(a, b) == commonDimensions(b, a);
}

} // namespace autopar
