//===- Layout.cpp - The order of a tensor's dimensions in memory ----------===//

#include "autopar/Dialect/Layout.h"
#include "OpHelpers.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/KernelFacts.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar {

Layout fullLayout(ArrayRef<int64_t> layout, size_t rank) {
  if (!layout.empty())
    return Layout(layout);
  return llvm::to_vector<4>(llvm::seq<int64_t>(0, rank));
}

Layout shortLayout(ArrayRef<int64_t> layout) {
  return llvm::is_sorted(layout) ? Layout() : Layout(layout);
}

Layout channelsLast(size_t rank) {
  Layout layout = fullLayout({}, rank);
  if (rank > 2)
    std::rotate(layout.begin() + 1, layout.begin() + 2, layout.end());
  return shortLayout(layout);
}

Layout batchExchanged(size_t rank) {
  Layout layout = fullLayout({}, rank);
  std::swap(layout[0], layout[1]);
  return layout;
}

/// `wide`, the dimensions that have more than one element, and the others.
static Layout addNarrowDims(ArrayRef<int64_t> shape, Layout wide) {
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size == 1)
      wide.insert(dim == 0 ? wide.begin()
                           : std::next(llvm::find(wide, int64_t(dim) - 1)),
                  dim);
  return shortLayout(wide);
}

Layout canonicalLayout(ArrayRef<int64_t> shape, ArrayRef<int64_t> layout) {
  if (layout.empty() || llvm::is_contained(shape, 0))
    return {};
  Layout wide(layout);
  llvm::erase_if(wide, [&](int64_t dim) { return shape[dim] == 1; });
  return addNarrowDims(shape, std::move(wide));
}

bool sameMemory(ArrayRef<int64_t> shape, ArrayRef<int64_t> a,
                ArrayRef<int64_t> b) {
  return canonicalLayout(shape, a) == canonicalLayout(shape, b);
}

/// Elements from one index of each dimension to the next.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> layout) {
  SmallVector<int64_t> strides(shape.size());
  Layout dims = fullLayout(layout, shape.size());
  int64_t stride = 1;
  for (int64_t dim : llvm::reverse(dims)) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// Neighbouring dimensions that step through memory as one would.
struct MemoryRun {
  int64_t size, stride; // the stride of the innermost of them
};
} // namespace

/// The runs from the innermost to the outermost; dimensions of size 1 are in
/// none.
static SmallVector<MemoryRun> runsOf(ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> layout) {
  SmallVector<int64_t> strides = stridesOf(shape, layout);
  SmallVector<MemoryRun> runs;
  for (int64_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 1)
      continue;
    if (!runs.empty() && strides[dim] == runs.back().stride * runs.back().size)
      runs.back().size *= shape[dim];
    else
      runs.push_back({shape[dim], strides[dim]});
  }
  return runs;
}

std::optional<Layout> viewLayout(ArrayRef<int64_t> from,
                                 ArrayRef<int64_t> layout,
                                 ArrayRef<int64_t> to) {
  if (layout.empty() || llvm::is_contained(from, 0))
    return Layout();
  SmallVector<MemoryRun> runs = runsOf(from, layout);
  SmallVector<std::pair<int64_t, int64_t>> wide; // stride, dimension
  MemoryRun *run = runs.begin();
  for (int64_t dim = to.size(); dim-- > 0;) {
    if (to[dim] == 1)
      continue;
    if (run->size == 1)
      ++run;
    if (run->size % to[dim] != 0)
      return std::nullopt; // a part of two runs
    wide.push_back({run->stride, dim});
    run->stride *= to[dim];
    run->size /= to[dim];
  }
  llvm::sort(wide, std::greater<>());
  return addNarrowDims(to, llvm::map_to_vector<4>(wide, [](const auto &step) {
                         return step.second;
                       }));
}

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

MemRefType bufferType(RankedTensorType tensor, ArrayRef<int64_t> layout) {
  ArrayRef<int64_t> shape = tensor.getShape();
  Type element = tensor.getElementType();
  if (layout.empty() || llvm::is_contained(shape, 0))
    return MemRefType::get(shape, element);
  return MemRefType::get(shape, element,
                         StridedLayoutAttr::get(tensor.getContext(),
                                                /*offset=*/0,
                                                stridesOf(shape, layout)));
}

Layout layoutOf(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || memref.getLayout().isIdentity())
    return {};
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return {};
  // If strides are equal, the dimension of size 1 is the inner one.
  Layout layout = fullLayout({}, strides.size());
  llvm::stable_sort(layout, [&](int64_t a, int64_t b) {
    if (strides[a] != strides[b])
      return strides[a] > strides[b];
    return memref.getDimSize(a) != 1 && memref.getDimSize(b) == 1;
  });
  return shortLayout(layout);
}

//===----------------------------------------------------------------------===//
// Through ops
//===----------------------------------------------------------------------===//

/// The factors of `value`'s dimensions that have more than one element.
static SmallVector<SmallVector<unsigned, 2>>
factorsOf(Operation *op, const ShardingRule &rule, Value value) {
  const TensorFactors *tensor = nullptr;
  if (auto result = dyn_cast<OpResult>(value);
      result && result.getOwner() == op)
    tensor = &rule.results[result.getResultNumber()];
  else
    tensor = &rule.operands[llvm::find(op->getOperands(), value).getIndex()];
  SmallVector<SmallVector<unsigned, 2>> factors;
  for (const DimFactors &dim : *tensor)
    factors.push_back(
        llvm::filter_to_vector<2>(dim.factors, [&](unsigned factor) {
          return rule.factors[factor].size != 1;
        }));
  return factors;
}

namespace {
/// The places of one value's dimensions in the memory of another.
class Correspondence {
public:
  Correspondence(Operation *op, Value from, ArrayRef<int64_t> layout, Value to)
      : from(from), to(to) {
    Layout order = fullLayout(layout, shapeOf(from).size());
    placeOf.resize(order.size());
    for (auto [place, dim] : llvm::enumerate(order))
      placeOf[dim] = place * kSpread;
    fromFactors.resize(shapeOf(from).size());
    toFactors.resize(shapeOf(to).size());
    if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op)) {
      ShardingRule rule = ruled.getShardingRule();
      fromFactors = factorsOf(op, rule, from);
      toFactors = factorsOf(op, rule, to);
    }
  }
  std::optional<Layout> run();

private:
  /// Room for the factors of one dimension.
  static constexpr int64_t kSpread = 64;
  bool placeKnown(SmallVectorImpl<int64_t> &places,
                  SmallVectorImpl<int64_t> &fresh);
  SmallVector<int64_t> lostDims() const;

  Value from, to;
  SmallVector<int64_t> placeOf; // of each dimension of `from`
  SmallVector<SmallVector<unsigned, 2>> fromFactors, toFactors;
  llvm::DenseMap<unsigned, int64_t> factorPlaces;
};
} // namespace

/// Dimensions of `from` of which nothing is in `to`.
SmallVector<int64_t> Correspondence::lostDims() const {
  SmallVector<int64_t> lost;
  for (auto [dim, size] : llvm::enumerate(shapeOf(from))) {
    bool kept = llvm::any_of(fromFactors[dim], [&](unsigned factor) {
      return llvm::any_of(toFactors, [&](auto &dims) {
        return llvm::is_contained(dims, factor);
      });
    });
    if (size != 1 && !kept)
      lost.push_back(dim);
  }
  return lost;
}

/// Places dimensions of `to` by their factors; `fresh` are those that have none
/// of `from`. False if a dimension is not in one piece.
bool Correspondence::placeKnown(SmallVectorImpl<int64_t> &places,
                                SmallVectorImpl<int64_t> &fresh) {
  llvm::DenseMap<unsigned, int64_t> sequence; // number in the order of memory
  SmallVector<int64_t> order =
      llvm::to_vector<6>(llvm::seq<int64_t>(0, placeOf.size()));
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return placeOf[a] < placeOf[b]; });
  int64_t next = 0;
  for (int64_t dim : order) {
    for (auto [number, factor] : llvm::enumerate(fromFactors[dim])) {
      factorPlaces[factor] = placeOf[dim] + number;
      sequence[factor] = next++;
    }
    next += fromFactors[dim].empty();
  }
  for (auto [dim, factors] : llvm::enumerate(toFactors)) {
    int64_t known = llvm::count_if(
        factors, [&](unsigned factor) { return sequence.count(factor); });
    if (known == 0) {
      if (shapeOf(to)[dim] != 1)
        fresh.push_back(dim);
      continue;
    }
    if (known != int64_t(factors.size()))
      return false;
    for (auto [number, factor] : llvm::enumerate(factors))
      if (sequence[factor] != sequence[factors.front()] + int64_t(number))
        return false;
    places[dim] = factorPlaces[factors.front()];
  }
  return true;
}

std::optional<Layout> Correspondence::run() {
  SmallVector<int64_t> places(shapeOf(to).size(), -1), fresh;
  if (!placeKnown(places, fresh))
    return std::nullopt;
  SmallVector<int64_t> lost = lostDims();
  bool sameRank = places.size() == placeOf.size();
  if (fresh.size() == lost.size())
    for (auto [dim, other] : llvm::zip_equal(fresh, lost))
      places[dim] = placeOf[other];
  else if (!fresh.empty() && !sameRank)
    return std::nullopt;
  // Others, such as those of size 1, stay where they are in the shape.
  for (size_t dim = 0; dim < places.size(); ++dim)
    if (places[dim] < 0)
      places[dim] = sameRank ? placeOf[dim] : dim ? places[dim - 1] : 0;
  Layout layout = fullLayout({}, places.size());
  llvm::stable_sort(
      layout, [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  return shortLayout(layout);
}

std::optional<Layout> carryLayout(Operation *op, Value from,
                                  ArrayRef<int64_t> layout, Value to) {
  if (loopRoleOf(op) == LoopRole::View)
    return viewLayout(shapeOf(from), layout, shapeOf(to));
  return Correspondence(op, from, layout, to).run();
}

std::optional<Value> imageOperandOf(Operation *op) {
  if (auto convolution = dyn_cast<ConvolutionOp>(op))
    return convolution.getInput();
  return std::nullopt;
}

std::optional<int64_t> depthwiseTerms(Operation *op) {
  auto convolution = cast<ConvolutionOp>(op);
  ArrayRef<int64_t> filter = shapeOf(convolution.getFilter());
  if (convolution.getGroups() == 1 || filter[1] != 1)
    return std::nullopt;
  return ShapedType::getNumElements(filter.drop_front(2));
}

} // namespace autopar
