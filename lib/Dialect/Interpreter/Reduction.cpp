//===- Reduction.cpp - Ops whose results depend on whole dimensions -------===//

#include "Evaluate.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace autopar::interpreter {

namespace {
/// The lines of a tensor along one dimension.
struct Lines {
  int64_t outer = 1, length, inner = 1;

  Lines(ArrayRef<int64_t> shape, int64_t dim) : length(shape[dim]) {
    for (int64_t d = 0; d < int64_t(shape.size()); ++d)
      (d < dim ? outer : inner) *= d == dim ? 1 : shape[d];
  }
  /// Position of the first element of a line; the stride is `inner`.
  int64_t start(int64_t line) const {
    return line / inner * length * inner + line % inner;
  }
  /// Calls visit(start, stride) per line.
  template <typename Visit> void forEach(Visit visit) const {
    for (int64_t line = 0; line < outer * inner; ++line)
      visit(start(line), inner);
  }
};
} // namespace

/// The position in a tensor without `dims` for each element of a tensor of
/// `shape`.
static std::vector<int64_t> reducedPositions(ArrayRef<int64_t> shape,
                                             ArrayRef<int64_t> dims) {
  std::vector<int64_t> positions;
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t) {
    int64_t position = 0;
    for (size_t d = 0; d < index.size(); ++d)
      if (!llvm::is_contained(dims, int64_t(d)))
        position = position * shape[d] + index[d];
    positions.push_back(position);
  });
  return positions;
}

static Tensor evaluate(ReduceOp op, Operands in) {
  Tensor result = emptyResult(op);
  result.fill(neutralElement(op.getKind()));
  auto positions = reducedPositions(in[0]->shape(), op.getDims());
  for (int64_t i = 0, e = in[0]->size(); i < e; ++i) {
    int64_t to = positions[i];
    if (result.isFloat())
      result.floats[to] =
          combine(op.getKind(), result.floats[to], in[0]->floats[i]);
    else
      result.setInt(to, combine(op.getKind(), result.ints[to], in[0]->ints[i]));
  }
  for (int64_t i = 0, e = result.floats.size(); i < e; ++i)
    result.set(i, result.floats[i]);
  return result;
}

static Tensor evaluate(ScanOp op, Operands in) {
  Tensor result = emptyResult(op);
  Tensor start(RankedTensorType::get({}, result.element()));
  start.set(0, neutralElement(op.getKind()));
  Lines lines(result.shape(), op.getDim());
  lines.forEach([&](int64_t base, int64_t stride) {
    double sum = start.getDouble(0);
    int64_t intSum = start.getInt(0);
    for (int64_t k = 0; k < lines.length; ++k) {
      int64_t step = op.getReverse() ? lines.length - 1 - k : k;
      int64_t i = base + step * stride;
      auto put = [&] {
        result.isFloat() ? result.set(i, sum) : result.setInt(i, intSum);
      };
      if (op.getExclusive())
        put();
      if (result.isFloat())
        sum = combine(op.getKind(), sum, in[0]->floats[i]);
      else
        intSum = combine(op.getKind(), intSum, in[0]->ints[i]);
      if (!op.getExclusive())
        put();
    }
  });
  return result;
}

/// Returns whether `a` comes before `b`; NaN is larger than any number.
template <typename T> static bool isBetter(T a, T b, bool smallest) {
  if (smallest)
    return a < b || (b != b && a == a);
  return a > b || (a != a && b == b);
}

static Tensor evaluate(TopKOp op, Operands in) {
  Tensor result = emptyResult(op);
  const Tensor &x = *in[0];
  bool isUnsigned = x.element().isUnsignedInteger();
  Lines from(x.shape(), op.getDim()), to(result.shape(), op.getDim());
  std::vector<int64_t> order(from.length);
  for (int64_t line = 0; line < from.outer * from.inner; ++line) {
    int64_t start = from.start(line), stride = from.inner;
    auto before = [&](int64_t a, int64_t b) {
      int64_t i = start + a * stride, j = start + b * stride;
      if (x.isFloat())
        return isBetter(x.floats[i], x.floats[j], op.getSmallest());
      if (isUnsigned)
        return isBetter(uint64_t(x.ints[i]), uint64_t(x.ints[j]),
                        op.getSmallest());
      return isBetter(x.ints[i], x.ints[j], op.getSmallest());
    };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), before);
    for (int64_t k = 0; k < to.length; ++k)
      result.setInt(to.start(line) + k * stride, order[k]);
  }
  return result;
}

static Tensor evaluate(SoftmaxOp op, Operands in) {
  Tensor result = emptyResult(op);
  const std::vector<double> &x = in[0]->floats;
  Lines lines(result.shape(), op.getDim());
  lines.forEach([&](int64_t base, int64_t stride) {
    double max = neutralElement(ReduceKind::Max), sum = 0;
    for (int64_t k = 0; k < lines.length; ++k)
      max = combine(ReduceKind::Max, max, x[base + k * stride]);
    for (int64_t k = 0; k < lines.length; ++k)
      sum += std::exp(x[base + k * stride] - max);
    for (int64_t k = 0; k < lines.length; ++k) {
      double shifted = x[base + k * stride] - max;
      result.set(base + k * stride, op.getLog() ? shifted - std::log(sum)
                                                : std::exp(shifted) / sum);
    }
  });
  return result;
}

static Tensor evaluate(NormalizeOp op, Operands in) {
  Tensor result = emptyResult(op);
  const std::vector<double> &x = in[0]->floats;
  auto positions = reducedPositions(in[0]->shape(), op.getDims());
  int64_t count = 1;
  for (int64_t dim : op.getDims())
    count *= in[0]->dim(dim);
  std::vector<double> mean(count ? x.size() / count : 0, 0.0);
  std::vector<double> square(mean.size(), 0.0);
  if (op.getKind() == NormKind::Layer)
    for (size_t i = 0; i < x.size(); ++i)
      mean[positions[i]] += x[i] / count;
  for (size_t i = 0; i < x.size(); ++i) {
    double centered = x[i] - mean[positions[i]];
    square[positions[i]] += centered * centered / count;
  }
  double epsilon = op.getEpsilon().convertToDouble();
  for (size_t i = 0; i < x.size(); ++i)
    result.set(i, (x[i] - mean[positions[i]]) /
                      std::sqrt(square[positions[i]] + epsilon));
  return result;
}

void addReduction(EvaluateTable &table) {
  table.add([](auto op, Operands in) -> decltype(evaluate(op, in)) {
    return evaluate(op, in);
  });
}

} // namespace autopar::interpreter
