//===- StridePhases.cpp - Points that are as many strides apart -----------===//

#include "autopar/Dialect/StridePhases.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace autopar {

std::optional<StridePhase> StridePhase::of(int64_t first, int64_t window,
                                           int64_t stride, int64_t dilation,
                                           int64_t padLow, int64_t size) {
  int64_t step = stride / std::gcd(stride, dilation);
  if (first >= step)
    return std::nullopt;
  // Point offset * stride + first * dilation - padLow.
  int64_t shift = padLow - first * dilation;
  int64_t offset = llvm::divideCeilSigned(shift, stride);
  int64_t start = offset * stride - shift;
  if (start >= size)
    return std::nullopt;
  return StridePhase{{first, step, (window - first + step - 1) / step},
                     start,
                     (size - start + stride - 1) / stride,
                     offset,
                     step * dilation / stride};
}

/// Element k of value i becomes element k * values.size() + i of `dim`.
static Value alternating(TensorBuilder &b, ValueRange values, int64_t dim) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> split(shapeOf(values.front())), joined(split);
  split.insert(split.begin() + dim + 1, 1);
  joined[dim] *= values.size();
  SmallVector<Value> columns;
  for (Value value : values)
    columns.push_back(b.reshape(value, split));
  return b.reshape(b.concat(columns, dim + 1), joined);
}

/// Phases are all as long as the longest.
void Interleaving::add(Sizes starts, Value part) {
  ArrayRef<int64_t> shape = type.getShape();
  Starts first;
  bool isInside = true;
  SmallVector<int64_t> cut, kept, low, high, ones(shape.size(), 1);
  for (auto [dim, start] : llvm::enumerate(starts)) {
    int64_t stride = strides[dim], size = shapeOf(part)[dim],
            points = llvm::divideCeilSigned(shape[dim], stride),
            before = llvm::divideFloorSigned(start, stride);
    first.push_back(start - before * stride);
    cut.push_back(std::min(size, std::max<int64_t>(0, -before)));
    low.push_back(std::min(points, std::max<int64_t>(0, before)));
    kept.push_back(std::min(size - cut.back(), points - low.back()));
    high.push_back(points - low.back() - kept.back());
    isInside &= first.back() < shape[dim] && kept.back() > 0;
  }
  if (!isInside)
    return;
  if (ArrayRef(kept) != shapeOf(part))
    part = b.slice(part, cut, kept, ones);
  if (llvm::any_of(llvm::concat<int64_t>(low, high),
                   [](int64_t points) { return points > 0; }))
    part = b.pad(part, low, high);
  Value &phase = phases[first];
  phase = phase ? b.add(phase, part) : part;
}

/// The phases that have these starts before `dim`.
Value Interleaving::joined(Starts &starts, size_t dim) const {
  if (dim == starts.size())
    return phases.at(starts);
  SmallVector<Value> values;
  for (starts[dim] = 0; starts[dim] < strides[dim]; ++starts[dim])
    values.push_back(joined(starts, dim + 1));
  return alternating(b, values, dim);
}

Value Interleaving::join() const {
  ArrayRef<int64_t> shape = type.getShape();
  Starts zeros(shape.size(), 0);
  SmallVector<int64_t> ones(shape.size(), 1);
  if (int64_t(phases.size()) == llvm::product_of(strides)) {
    Starts starts = zeros;
    Value whole = joined(starts, 0);
    return shapeOf(whole) == shape ? whole : b.slice(whole, zeros, shape, ones);
  }
  Value sum;
  for (const auto &[starts, phase] : phases) {
    SmallVector<int64_t> points;
    for (auto [start, stride, size] : llvm::zip_equal(starts, strides, shape))
      points.push_back(llvm::divideCeilSigned(size - start, stride));
    Value placed =
        b.place(b.slice(phase, zeros, points, ones), starts, strides, shape);
    sum = sum ? b.add(sum, placed) : placed;
  }
  return sum ? sum : b.splat(type, 0);
}

} // namespace autopar
