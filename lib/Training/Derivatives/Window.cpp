//===- Window.cpp - Derivatives of convolution and pooling ----------------===//
//
// Convolution is closed under derivatives: both gradients are convolutions
// whose operands have other roles.
//
//===----------------------------------------------------------------------===//

#include "Derivatives.h"
#include "Phases.h"
#include <functional>
#include <limits>

using namespace mlir;

namespace autopar {

namespace {

/// Padding of dimension `dim` that a window may have: what is negative is cut
/// off the operand.
Value cut(TensorBuilder &b, Value x, int64_t dim, int64_t &low, int64_t &high) {
  int64_t size = shapeOf(x)[dim];
  int64_t first = std::min(size, std::max<int64_t>(0, -low));
  int64_t end = std::max(first, size - std::max<int64_t>(0, -high));
  low = std::max<int64_t>(0, low);
  high = std::max<int64_t>(0, high);
  return end - first == size ? x : b.slice(x, dim, first, end - first);
}

/// The gradient of what windows gave, as what windows read it again: spread
/// apart by the strides, with padding from which it gets the shape `to`.
struct Backward {
  Value gradient;
  SmallVector<int64_t> low, high, strides;

  Backward(TensorBuilder &b, Value g, ArrayRef<int64_t> window,
           ArrayRef<int64_t> by, ArrayRef<int64_t> dilations,
           ArrayRef<int64_t> padLow, ArrayRef<int64_t> to)
      : strides(window.size(), 1) {
    SmallVector<int64_t> shape(shapeOf(g)), starts(shape.size(), 0),
        steps(shape.size(), 1);
    for (auto [i, stride] : llvm::enumerate(by)) {
      steps[i + 2] = stride;
      shape[i + 2] = (shape[i + 2] - 1) * stride + 1;
    }
    gradient = b.place(g, starts, steps, shape);
    for (auto [i, size] : llvm::enumerate(window)) {
      int64_t reach = (size - 1) * dilations[i];
      low.push_back(reach - padLow[i]);
      high.push_back(to[i + 2] + reach - shape[i + 2] - low[i]);
      gradient = cut(b, gradient, i + 2, low[i], high[i]);
    }
  }
};

/// Of each spatial dimension.
using PhaseLists = SmallVector<SmallVector<Phase>>;

/// More are one convolution of a gradient that is spread apart by the strides.
constexpr int64_t kMostPhases = 16;

struct ConvolutionDerivative
    : Derivative<ConvolutionDerivative, ConvolutionOp> {
  static Gradients build(ConvolutionOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool> wanted) {
    SmallVector<Value> gradients(2);
    bool pointwise = isPointwise(op);
    if (wanted[0])
      gradients[0] = pointwise ? ofPoints(op, b, g) : ofInput(op, b, g);
    if (wanted[1])
      gradients[1] = pointwise ? ofPointwise(op, b, g) : ofFilter(op, b, g);
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

  /// The gradient times the filter, at the points that were read.
  static Value ofPoints(ConvolutionOp op, TensorBuilder &b, Value g) {
    SmallVector<int64_t> shape(shapeOf(g)), ones(op.getStrides().size(), 1),
        zeros(ones.size(), 0), starts(shape.size(), 0);
    shape[1] = shapeOf(op.getInput())[1];
    Value points = ConvolutionOp::create(
        b.builder, b.loc, cast<RankedTensorType>(g.getType()).clone(shape), g,
        turnedFilter(op, b, wholeWindow(op)), ones, ones, zeros, zeros,
        /*groups=*/1);
    return b.place(points, starts, stepsOf(op), shapeOf(op.getInput()));
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

  /// `positions` of the window, one list for each spatial dimension, of the
  /// filter: [groups * o, c, window...] -> [groups * c, o, positions...],
  /// mirrored.
  static Value turnedFilter(ConvolutionOp op, TensorBuilder &b,
                            ArrayRef<Positions> positions) {
    Value w = op.getFilter();
    SmallVector<int64_t> shape(shapeOf(w)), starts(shape.size(), 0),
        steps(shape.size(), 1);
    for (auto [i, list] : llvm::enumerate(positions)) {
      starts[i + 2] = list.first + (list.count - 1) * list.step;
      steps[i + 2] = list.count > 1 ? -list.step : 1;
      shape[i + 2] = list.count;
    }
    w = b.slice(w, starts, shape, steps);
    int64_t groups = op.getGroups(), o = shape[0] / groups, c = shape[1];
    SmallVector<int64_t> split{groups, o, c}, perm{0, 2, 1},
        merged{groups * c, o};
    for (unsigned d = 2; d < shape.size(); ++d) {
      split.push_back(shape[d]);
      perm.push_back(d + 1);
      merged.push_back(shape[d]);
    }
    return b.reshape(b.transpose(b.reshape(w, split), perm), merged);
  }

  /// All positions of the window.
  static SmallVector<Positions> wholeWindow(ConvolutionOp op) {
    return llvm::map_to_vector(
        shapeOf(op.getFilter()).drop_front(2),
        [](int64_t size) { return Positions{0, 1, size}; });
  }

  /// Zero where the windows read nothing but padding.
  static Value ofInput(ConvolutionOp op, TensorBuilder &b, Value g) {
    if (std::optional<PhaseLists> phases = phasesOf(op))
      return ofPhases(op, b, g, *phases);
    Backward back(b, g, shapeOf(op.getFilter()).drop_front(2), op.getStrides(),
                  op.getDilations(), op.getPadLow(), shapeOf(op.getInput()));
    if (elementsOf(back.gradient) == 0)
      return b.splatLike(op.getInput(), 0);
    return ConvolutionOp::create(
        b.builder, b.loc, op.getInput().getType(), back.gradient,
        turnedFilter(op, b, wholeWindow(op)), back.strides, op.getDilations(),
        back.low, back.high, op.getGroups());
  }

  /// The phases of each spatial dimension; nullopt if the strides are 1 or
  /// there are too many phases.
  static std::optional<PhaseLists> phasesOf(ConvolutionOp op) {
    ArrayRef<int64_t> from = shapeOf(op.getInput()).drop_front(2),
                      window = shapeOf(op.getFilter()).drop_front(2);
    int64_t count = 1;
    for (auto [stride, size] : llvm::zip_equal(op.getStrides(), window)) {
      count *= std::min(stride, size);
      if (count > kMostPhases)
        return std::nullopt;
    }
    PhaseLists phases;
    for (auto [i, stride] : llvm::enumerate(op.getStrides())) {
      phases.emplace_back();
      for (int64_t first = 0; first < std::min(stride, window[i]); ++first)
        if (auto phase =
                Phase::of(first, window[i], stride, op.getDilations()[i],
                          op.getPadLow()[i], from[i]))
          phases.back().push_back(*phase);
    }
    bool strided = llvm::any_of(op.getStrides(),
                                [](int64_t stride) { return stride > 1; });
    return strided ? std::optional(phases) : std::nullopt;
  }

  /// The points of the input that are as many strides apart read the same
  /// positions of the window: their gradient is a convolution of stride 1.
  static Value ofPhases(ConvolutionOp op, TensorBuilder &b, Value g,
                        const PhaseLists &phases) {
    Interleaving whole(b, stepsOf(op), op.getInput());
    SmallVector<const Phase *> chosen(phases.size());
    std::function<void(size_t)> choose = [&](size_t i) {
      if (i == phases.size())
        return addPhase(op, b, g, chosen, whole);
      for (const Phase &phase : phases[i]) {
        chosen[i] = &phase;
        choose(i + 1);
      }
    };
    choose(0);
    return whole.join();
  }

  /// The gradient at the points of one phase, if windows read any of them.
  static void addPhase(ConvolutionOp op, TensorBuilder &b, Value g,
                       ArrayRef<const Phase *> phases, Interleaving &whole) {
    ArrayRef<int64_t> input = shapeOf(op.getInput());
    SmallVector<Positions> positions;
    SmallVector<int64_t> ones(phases.size(), 1), dilations, low, high,
        starts{0, 0}, shape{input[0], input[1]};
    for (auto [i, phase] : llvm::enumerate(phases)) {
      int64_t reach = (phase->positions.count - 1) * phase->dilation;
      positions.push_back(phase->positions);
      dilations.push_back(phase->dilation);
      starts.push_back(phase->start);
      shape.push_back(phase->count);
      low.push_back(reach - phase->offset);
      high.push_back(phase->count - shapeOf(g)[i + 2] - low.back() + reach);
      g = cut(b, g, i + 2, low.back(), high.back());
    }
    if (elementsOf(g) == 0)
      return;
    Value part = ConvolutionOp::create(
        b.builder, b.loc, cast<RankedTensorType>(g.getType()).clone(shape), g,
        turnedFilter(op, b, positions), ones, dilations, low, high,
        op.getGroups());
    whole.add(starts, part);
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
      x = cut(b, x, i + 2, low[i], high[i]);
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
    Backward back(b, g, op.getWindow(), op.getStrides(), op.getDilations(),
                  op.getPadLow(), shapeOf(op.getInput()));
    if (elementsOf(back.gradient) == 0)
      return b.splatLike(op.getInput(), 0);
    return PoolOp::create(b.builder, b.loc, op.getInput().getType(),
                          ReduceKind::Sum, back.gradient, op.getWindow(),
                          back.strides, op.getDilations(), back.low, back.high);
  }

  /// Where the places of a window are in the padded operand, row-major.
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
    Interleaving whole(b, steps, x);
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
