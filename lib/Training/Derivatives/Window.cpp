//===- Window.cpp - Derivatives of convolution and pooling ----------------===//
//
// Convolution is closed under derivatives: both gradients are convolutions
// whose operands have other roles.
//
//===----------------------------------------------------------------------===//

#include "Derivatives.h"
#include "autopar/Dialect/StridePhases.h"
#include "autopar/Dialect/TransposedWindows.h"
#include <limits>

using namespace mlir;

namespace autopar {

namespace {

struct ConvolutionDerivative
    : Derivative<ConvolutionDerivative, ConvolutionOp> {
  static Gradients build(ConvolutionOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool> wanted) {
    SmallVector<Value> gradients(2);
    if (wanted[0])
      gradients[0] = transposedConvolution(
          b, g, op.getFilter(), op.getInput().getType(),
          {op.getStrides(), op.getDilations(), op.getPadLow()}, op.getGroups());
    if (wanted[1])
      gradients[1] =
          isPointwise(op) ? ofPointwise(op, b, g) : ofFilter(op, b, g);
    return gradients;
  }

private:
  /// Each element of the result is computed from one point of the image.
  static bool isPointwise(ConvolutionOp op) {
    return op.getGroups() == 1 &&
           llvm::all_of(shapeOf(op.getFilter()).drop_front(2),
                        [](int64_t size) { return size == 1; }) &&
           llvm::all_of(op.getPadLow(), [](int64_t pad) { return pad == 0; }) &&
           llvm::all_of(op.getPadHigh(), [](int64_t pad) { return pad == 0; });
  }

  static SmallVector<int64_t> stepsOf(ConvolutionOp op) {
    SmallVector<int64_t> steps{1, 1};
    llvm::append_range(steps, op.getStrides());
    return steps;
  }

  /// A contraction of the points that were read with the gradient.
  static Value ofPointwise(ConvolutionOp op, TensorBuilder &b, Value g) {
    SmallVector<int64_t> starts(shapeOf(g).size(), 0), shape(shapeOf(g));
    shape[1] = shapeOf(op.getInput())[1];
    Value points = b.slice(op.getInput(), starts, shape, stepsOf(op));
    Value filter = b.einsum("op,ip->oi", byChannel(b, g), byChannel(b, points));
    return b.reshape(filter, shapeOf(op.getFilter()));
  }

  /// [images, channels, space...] -> [channels, images * space].
  static Value byChannel(TensorBuilder &b, Value x) {
    ArrayRef<int64_t> shape = shapeOf(x);
    SmallVector<int64_t> perm =
        llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    std::swap(perm[0], perm[1]);
    int64_t rest = shape[1] ? elementsOf(x) / shape[1] : 0;
    return b.reshape(b.transpose(x, perm), {shape[1], rest});
  }

  /// The input with the gradient for a filter: the images of the batch are the
  /// channels that are summed, strides and dilations change places.
  static Value ofFilter(ConvolutionOp op, TensorBuilder &b, Value g) {
    Value x = op.getInput();
    ArrayRef<int64_t> from = shapeOf(x), to = shapeOf(op.getFilter());
    int64_t groups = op.getGroups(), c = to[1], images = from[0];
    SmallVector<int64_t> split{images, groups, c}, perm{2, 1, 0},
        merged{c, groups * images}, exchange{1, 0}, result{c, to[0]};
    for (unsigned d = 2; d < from.size(); ++d) {
      split.push_back(from[d]);
      perm.push_back(d + 1);
      merged.push_back(from[d]);
      exchange.push_back(d);
      result.push_back(to[d]);
    }
    x = b.reshape(b.transpose(b.reshape(x, split), perm), merged);
    SmallVector<int64_t> low(op.getPadLow()), high;
    for (unsigned i = 0; i < low.size(); ++i) {
      int64_t reach = (shapeOf(g)[i + 2] - 1) * op.getStrides()[i] + 1;
      high.push_back(reach + (to[i + 2] - 1) * op.getDilations()[i] -
                     from[i + 2] - low[i]);
      x = cutPadding(b, x, i + 2, low[i], high[i]);
    }
    if (elementsOf(x) == 0)
      return b.splatLike(op.getFilter(), 0);
    auto type = cast<RankedTensorType>(g.getType()).clone(result);
    Value turned = ConvolutionOp::create(
        b.builder, b.loc, type, x, b.transpose(g, exchange), op.getDilations(),
        op.getStrides(), low, high, groups);
    return b.transpose(turned, exchange);
  }
};

/// The gradient of max-pooling has a few ops for each place of the window.
constexpr int64_t kMostPlaces = 256;

struct PoolDerivative : Derivative<PoolDerivative, PoolOp> {
  static Gradients build(PoolOp op, TensorBuilder &b, Value g, ArrayRef<bool>) {
    if (op.getKind() == ReduceKind::Sum)
      return SmallVector<Value>{ofSum(op, b, g)};
    if (op.getKind() != ReduceKind::Max)
      return op.emitOpError("has a derivative for sum and max only");
    int64_t places = llvm::product_of(op.getWindow());
    if (places > kMostPlaces)
      return op.emitOpError() << "has a derivative for windows of at most "
                              << kMostPlaces << " places, not " << places;
    return SmallVector<Value>{ofMax(op, b, g)};
  }

private:
  /// Each element sums the gradients of the windows that it is in.
  static Value ofSum(PoolOp op, TensorBuilder &b, Value g) {
    TransposedWindows back(b, g, op.getWindow(),
                           {op.getStrides(), op.getDilations(), op.getPadLow()},
                           shapeOf(op.getInput()).drop_front(2));
    if (elementsOf(back.image) == 0)
      return b.splatLike(op.getInput(), 0);
    return PoolOp::create(b.builder, b.loc, op.getInput().getType(),
                          ReduceKind::Sum, back.image, op.getWindow(),
                          back.strides, op.getDilations(), back.low, back.high);
  }

  /// The places of a window in the padded operand, in row-major order.
  static SmallVector<SmallVector<int64_t>> placesOf(PoolOp op) {
    SmallVector<SmallVector<int64_t>> places{{0, 0}};
    for (auto [size, dilation] :
         llvm::zip_equal(op.getWindow(), op.getDilations())) {
      SmallVector<SmallVector<int64_t>> longer;
      for (const SmallVector<int64_t> &place : places)
        for (int64_t k = 0; k < size; ++k) {
          longer.push_back(place);
          longer.back().push_back(k * dilation);
        }
      places = std::move(longer);
    }
    return places;
  }

  /// The first largest element of a window gets its gradient, as in PyTorch:
  /// one place of the window after the other.
  static Value ofMax(PoolOp op, TensorBuilder &b, Value g) {
    SmallVector<int64_t> low{0, 0}, high{0, 0}, steps{1, 1};
    llvm::append_range(low, op.getPadLow());
    llvm::append_range(high, op.getPadHigh());
    llvm::append_range(steps, op.getStrides());
    Value x = op.getInput(), y = op.getResult(), taken;
    Interleaving whole(b, steps, op.getInput().getType());
    if (llvm::any_of(llvm::concat<int64_t>(low, high),
                     [](int64_t pad) { return pad > 0; }))
      x = b.pad(x, low, high, -std::numeric_limits<double>::infinity());
    for (SmallVector<int64_t> starts : placesOf(op)) {
      Value hit = b.compare(ComparePredicate::Eq,
                            b.slice(x, starts, shapeOf(y), steps), y);
      Value first = hit;
      if (taken)
        first = b.binary(BinaryKind::And, hit, b.unary(UnaryKind::Not, taken));
      taken = taken ? b.binary(BinaryKind::Or, taken, hit) : hit;
      for (auto [start, pad] : llvm::zip_equal(starts, low))
        start -= pad;
      whole.add(starts, b.selectOrZero(first, g));
    }
    return whole.join();
  }
};

} // namespace

void registerWindowDerivatives(MLIRContext *context) {
  ConvolutionOp::attachInterface<ConvolutionDerivative>(*context);
  PoolOp::attachInterface<PoolDerivative>(*context);
}

} // namespace autopar
