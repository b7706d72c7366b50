//===- TransposedWindows.cpp - From what windows gave to what they read ---===//

#include "autopar/Dialect/TransposedWindows.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Dialect/StridePhases.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace mlir;

namespace autopar {

Value cutPadding(TensorBuilder &b, Value x, int64_t dim, int64_t &low,
                 int64_t &high) {
  int64_t size = shapeOf(x)[dim];
  int64_t first = std::min(size, std::max<int64_t>(0, -low));
  int64_t end = std::max(first, size - std::max<int64_t>(0, -high));
  low = std::max<int64_t>(0, low);
  high = std::max<int64_t>(0, high);
  return end - first == size ? x : b.slice(x, dim, first, end - first);
}

TransposedWindows::TransposedWindows(TensorBuilder &b, Value x,
                                     ArrayRef<int64_t> window,
                                     const WindowSteps &steps,
                                     ArrayRef<int64_t> to)
    : strides(window.size(), 1) {
  SmallVector<int64_t> shape(shapeOf(x)), starts(shape.size(), 0),
      apart(shape.size(), 1);
  for (auto [i, stride] : llvm::enumerate(steps.strides)) {
    apart[i + 2] = stride;
    shape[i + 2] = (shape[i + 2] - 1) * stride + 1;
  }
  image = b.place(x, starts, apart, shape);
  for (auto [i, size] : llvm::enumerate(window)) {
    int64_t reach = (size - 1) * steps.dilations[i];
    low.push_back(reach - steps.padLow[i]);
    high.push_back(to[i] + reach - shape[i + 2] - low[i]);
    image = cutPadding(b, image, i + 2, low[i], high[i]);
  }
}

namespace {

/// The phases of each spatial dimension.
using PhaseLists = SmallVector<SmallVector<StridePhase>>;

/// If there are more phases, one convolution of an image that is spread apart
/// by the strides computes all.
constexpr int64_t kMostPhases = 16;

class Transposition {
public:
  Transposition(TensorBuilder &b, Value x, Value filter, RankedTensorType to,
                const WindowSteps &steps, int64_t groups)
      : b(b), x(x), filter(filter), to(to), steps(steps), groups(groups),
        window(shapeOf(filter).drop_front(2)) {}

  /// Zero where the windows read nothing but padding.
  Value build() {
    std::optional<PhaseLists> phases = phasesOf();
    if (phases)
      return ofPhases(*phases);
    TransposedWindows back(b, x, window, steps, space());
    if (elementsOf(back.image) == 0)
      return b.splat(to, 0);
    auto whole = llvm::map_to_vector(
        window, [](int64_t size) { return Positions{0, 1, size}; });
    return ConvolutionOp::create(b.builder, b.loc, to, back.image,
                                 turnedFilter(whole), back.strides,
                                 steps.dilations, back.low, back.high, groups);
  }

private:
  ArrayRef<int64_t> space() const { return to.getShape().drop_front(2); }
  /// `positions` of the window, one list for each spatial dimension, of the
  /// filter: [groups * o, c, window...] -> [groups * c, o, positions...],
  /// mirrored.
  Value turnedFilter(ArrayRef<Positions> positions) {
    Value w = filter;
    SmallVector<int64_t> shape(shapeOf(w)), starts(shape.size(), 0),
        steps(shape.size(), 1);
    for (auto [i, list] : llvm::enumerate(positions)) {
      starts[i + 2] = list.first + (list.count - 1) * list.step;
      steps[i + 2] = list.count > 1 ? -list.step : 1;
      shape[i + 2] = list.count;
    }
    w = b.slice(w, starts, shape, steps);
    int64_t o = shape[0] / groups, c = shape[1];
    SmallVector<int64_t> split{groups, o, c}, perm{0, 2, 1},
        merged{groups * c, o};
    for (unsigned d = 2; d < shape.size(); ++d) {
      split.push_back(shape[d]);
      perm.push_back(d + 1);
      merged.push_back(shape[d]);
    }
    return b.reshape(b.transpose(b.reshape(w, split), perm), merged);
  }

  /// The phases of each spatial dimension; nullopt if the strides are 1 or
  /// there are too many phases.
  std::optional<PhaseLists> phasesOf() const {
    int64_t count = 1;
    for (auto [stride, size] : llvm::zip_equal(steps.strides, window)) {
      count *= std::min(stride, size);
      if (count > kMostPhases)
        return std::nullopt;
    }
    PhaseLists phases;
    for (auto [i, stride] : llvm::enumerate(steps.strides)) {
      phases.emplace_back();
      for (int64_t first = 0; first < std::min(stride, window[i]); ++first)
        if (auto phase =
                StridePhase::of(first, window[i], stride, steps.dilations[i],
                                steps.padLow[i], space()[i]))
          phases.back().push_back(*phase);
    }
    bool strided =
        llvm::any_of(steps.strides, [](int64_t stride) { return stride > 1; });
    return strided ? std::optional(phases) : std::nullopt;
  }

  Value ofPhases(const PhaseLists &phases) {
    SmallVector<int64_t> strides{1, 1};
    llvm::append_range(strides, steps.strides);
    Interleaving whole(b, strides, to);
    SmallVector<const StridePhase *> chosen(phases.size());
    std::function<void(size_t)> choose = [&](size_t i) {
      if (i == phases.size())
        return addPhase(chosen, whole);
      for (const StridePhase &phase : phases[i]) {
        chosen[i] = &phase;
        choose(i + 1);
      }
    };
    choose(0);
    return whole.join();
  }

  /// The points of one phase, if windows read any of them.
  void addPhase(ArrayRef<const StridePhase *> phases, Interleaving &whole) {
    Value image = x;
    SmallVector<Positions> positions;
    SmallVector<int64_t> ones(phases.size(), 1), dilations, low, high,
        starts{0, 0}, shape(to.getShape().take_front(2));
    for (auto [i, phase] : llvm::enumerate(phases)) {
      int64_t reach = (phase->positions.count - 1) * phase->dilation;
      positions.push_back(phase->positions);
      dilations.push_back(phase->dilation);
      starts.push_back(phase->start);
      shape.push_back(phase->count);
      low.push_back(reach - phase->offset);
      high.push_back(phase->count - shapeOf(image)[i + 2] - low.back() + reach);
      image = cutPadding(b, image, i + 2, low.back(), high.back());
    }
    if (elementsOf(image) == 0)
      return;
    Value part = ConvolutionOp::create(b.builder, b.loc, to.clone(shape), image,
                                       turnedFilter(positions), ones, dilations,
                                       low, high, groups);
    whole.add(starts, part);
  }

  TensorBuilder &b;
  Value x, filter;
  RankedTensorType to;
  const WindowSteps &steps;
  int64_t groups;
  ArrayRef<int64_t> window;
};

} // namespace

Value transposedConvolution(TensorBuilder &b, Value x, Value filter,
                            RankedTensorType to, const WindowSteps &steps,
                            int64_t groups) {
  return Transposition(b, x, filter, to, steps, groups).build();
}

} // namespace autopar
