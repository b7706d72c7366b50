//===- Blocks.cpp - Cuts global tensors into local blocks and back --------===//

#include "autopar/Dialect/Interpreter/Tensor.h"
#include <cmath>

using namespace mlir;

namespace autopar::interpreter {

/// The start of the block of `point` in each dimension of the whole.
static SmallVector<int64_t> blockStart(ArrayRef<int64_t> shape,
                                       const Sharding &sharding,
                                       const Mesh &mesh, int64_t point) {
  SmallVector<int64_t> start;
  for (const auto &[size, dim] : llvm::zip_equal(shape, sharding.dims)) {
    int64_t index = mesh.linearIndex(dim.subAxes, point);
    start.push_back(dim.interval
                        ? index * dim.interval->step + dim.interval->offset
                        : index * localSize(size, dim, mesh));
  }
  return start;
}

/// Position in the whole of element `index` of a block, or nullopt outside.
static std::optional<int64_t> globalPosition(ArrayRef<int64_t> index,
                                             ArrayRef<int64_t> start,
                                             ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [i, first, size] : llvm::zip_equal(index, start, shape)) {
    if (first + i < 0 || first + i >= size)
      return std::nullopt;
    position = position * size + first + i;
  }
  return position;
}

/// An element outside the whole is a fill value if it is so in an interval.
static bool outsideInterval(ArrayRef<int64_t> index, ArrayRef<int64_t> start,
                            ArrayRef<int64_t> shape, const Sharding &sharding) {
  for (auto [i, first, size, dim] :
       llvm::zip_equal(index, start, shape, sharding.dims))
    if ((first + i < 0 || first + i >= size) && dim.interval)
      return true;
  return false;
}

Tensor cutBlock(const Tensor &whole, const Sharding &sharding, const Mesh &mesh,
                int64_t point, double fill) {
  ArrayRef<int64_t> shape = whole.shape();
  Tensor block(RankedTensorType::get(localShape(shape, sharding, mesh),
                                     whole.element()));
  SmallVector<int64_t> start = blockStart(shape, sharding, mesh, point);
  forEachIndex(block.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    if (std::optional<int64_t> from = globalPosition(index, start, shape))
      block.copy(i, whole, *from);
    else if (outsideInterval(index, start, shape, sharding))
      block.set(i, fill);
    else
      block.setGarbage(i);
  });
  return block;
}

/// The reduction, at each point, over the partial axes of the value.
static std::vector<TensorRef> reducePartials(ArrayRef<TensorRef> blocks,
                                             const Sharding &sharding,
                                             const Mesh &mesh) {
  std::vector<TensorRef> current(blocks);
  for (const Partial &partial : sharding.partial) {
    std::vector<TensorRef> next;
    for (int64_t point = 0; point < mesh.pointCount(); ++point) {
      SmallVector<const Tensor *> parts;
      for (int64_t member : mesh.group(partial.subAxis, point))
        parts.push_back(current[member].get());
      next.push_back(
          std::make_shared<Tensor>(reduceTensors(partial.kind, parts)));
    }
    current = std::move(next);
  }
  return current;
}

static bool sameElement(const Tensor &a, int64_t i, const Tensor &b,
                        int64_t j) {
  if (!a.isFloat())
    return a.ints[i] == b.ints[j];
  return a.floats[i] == b.floats[j] ||
         (std::isnan(a.floats[i]) && std::isnan(b.floats[j]));
}

Assembled assembleBlocks(ArrayRef<TensorRef> blocks, RankedTensorType wholeType,
                         const Sharding &sharding, const Mesh &mesh) {
  Assembled result{Tensor(wholeType), std::nullopt};
  result.whole.fillGarbage();
  ArrayRef<int64_t> shape = wholeType.getShape();
  std::vector<bool> written(result.whole.size(), false);
  std::vector<TensorRef> reduced = reducePartials(blocks, sharding, mesh);
  for (int64_t point = 0; point < mesh.pointCount(); ++point) {
    SmallVector<int64_t> start = blockStart(shape, sharding, mesh, point);
    const Tensor &block = *reduced[point];
    forEachIndex(block.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
      std::optional<int64_t> to = globalPosition(index, start, shape);
      if (!to)
        return;
      if (written[*to] && !sameElement(result.whole, *to, block, i) &&
          !result.conflictAt)
        result.conflictAt = point;
      if (!written[*to])
        result.whole.copy(*to, block, i);
      written[*to] = true;
    });
  }
  return result;
}

} // namespace autopar::interpreter
