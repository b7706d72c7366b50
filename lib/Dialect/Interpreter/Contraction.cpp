//===- Contraction.cpp - Sums of products and windows ---------------------===//

#include "Evaluate.h"

using namespace mlir;

namespace autopar::interpreter {

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

static double multiplyAdd(double sum, double a, double b) {
  return sum + a * b;
}
static int64_t multiplyAdd(int64_t sum, int64_t a, int64_t b) {
  return uint64_t(sum) + uint64_t(a) * uint64_t(b);
}

namespace {
/// An index of a loop nest, and the distance that a step of it moves in each
/// operand.
struct Loop {
  int64_t size, lhsStride, rhsStride;
};
} // namespace

static int64_t strideOf(StringRef letters, const Tensor &tensor, char letter) {
  size_t at = letters.find(letter);
  return at == StringRef::npos ? 0 : stridesOf(tensor.shape())[at];
}

static Loop loopOf(char letter, StringRef lhs, StringRef rhs, Operands in) {
  size_t at = lhs.find(letter);
  int64_t size =
      at != StringRef::npos ? in[0]->dim(at) : in[1]->dim(rhs.find(letter));
  return {size, strideOf(lhs, *in[0], letter), strideOf(rhs, *in[1], letter)};
}

/// Offsets in both operands at every index of the loops.
static std::vector<std::pair<int64_t, int64_t>> offsets(ArrayRef<Loop> loops) {
  std::vector<std::pair<int64_t, int64_t>> list{{0, 0}};
  for (const Loop &loop : loops) {
    std::vector<std::pair<int64_t, int64_t>> next;
    next.reserve(list.size() * loop.size);
    for (auto [lhs, rhs] : list)
      for (int64_t i = 0; i < loop.size; ++i)
        next.push_back({lhs + i * loop.lhsStride, rhs + i * loop.rhsStride});
    list = std::move(next);
  }
  return list;
}

template <typename T, typename Store>
static void contract(ArrayRef<Loop> kept, ArrayRef<Loop> summed, const T *lhs,
                     const T *rhs, Store store) {
  auto inner = offsets(summed);
  int64_t position = 0;
  for (auto [lhsBase, rhsBase] : offsets(kept)) {
    T sum = 0;
    for (auto [lhsOffset, rhsOffset] : inner)
      sum =
          multiplyAdd(sum, lhs[lhsBase + lhsOffset], rhs[rhsBase + rhsOffset]);
    store(position++, sum);
  }
}

static Tensor evaluate(EinsumOp op, Operands in) {
  StringRef lhs = op.getLhsLetters(), rhs = op.getRhsLetters(),
            kept = op.getResultLetters();
  SmallVector<Loop> keptLoops, summedLoops;
  for (char letter : kept)
    keptLoops.push_back(loopOf(letter, lhs, rhs, in));
  for (char letter : lhs)
    if (!kept.contains(letter))
      summedLoops.push_back(loopOf(letter, lhs, rhs, in));
  Tensor result = emptyResult(op);
  if (result.isFloat())
    contract(keptLoops, summedLoops, in[0]->floats.data(), in[1]->floats.data(),
             [&](int64_t i, double sum) { result.set(i, sum); });
  else
    contract(keptLoops, summedLoops, in[0]->ints.data(), in[1]->ints.data(),
             [&](int64_t i, int64_t sum) { result.setInt(i, sum); });
  return result;
}

//===----------------------------------------------------------------------===//
// Windows over the spatial dimensions of [n, c, spatial...]
//===----------------------------------------------------------------------===//

namespace {
struct Windows {
  ArrayRef<int64_t> size, strides, dilations, padLow, input;

  /// Calls visit(window position, input position) for each element of the
  /// window of spatial result index `at` that is inside the input.
  template <typename Visit> void forEach(ArrayRef<int64_t> at, Visit visit) {
    forEachIndex(size, [&](ArrayRef<int64_t> k, int64_t position) {
      int64_t from = 0;
      for (size_t d = 0; d < k.size(); ++d) {
        int64_t i = at[d] * strides[d] + k[d] * dilations[d] - padLow[d];
        if (i < 0 || i >= input[d])
          return;
        from = from * input[d] + i;
      }
      visit(position, from);
    });
  }
};
} // namespace

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

static Tensor evaluate(ConvolutionOp op, Operands in) {
  const Tensor &input = *in[0], &filter = *in[1];
  Tensor result = emptyResult(op);
  Windows windows{filter.shape().drop_front(2), op.getStrides(),
                  op.getDilations(), op.getPadLow(),
                  input.shape().drop_front(2)};
  int64_t plane = product(windows.input), taps = product(windows.size);
  int64_t outPlane = product(result.shape().drop_front(2));
  int64_t perGroup = filter.dim(1), outputs = filter.dim(0);
  int64_t outputsPerGroup = outputs / int64_t(op.getGroups());
  forEachIndex(result.shape().drop_front(2), [&](ArrayRef<int64_t> at,
                                                 int64_t position) {
    SmallVector<std::pair<int64_t, int64_t>> inside;
    windows.forEach(
        at, [&](int64_t tap, int64_t from) { inside.push_back({tap, from}); });
    for (int64_t n = 0; n < result.dim(0); ++n)
      for (int64_t o = 0; o < outputs; ++o) {
        int64_t channel = n * input.dim(1) + o / outputsPerGroup * perGroup;
        double sum = 0;
        for (int64_t c = 0; c < perGroup; ++c)
          for (auto [tap, from] : inside)
            sum += input.floats[(channel + c) * plane + from] *
                   filter.floats[(o * perGroup + c) * taps + tap];
        result.set((n * outputs + o) * outPlane + position, sum);
      }
  });
  return result;
}

static Tensor evaluate(PoolOp op, Operands in) {
  const Tensor &input = *in[0];
  Tensor result = emptyResult(op);
  Windows windows{op.getWindow(), op.getStrides(), op.getDilations(),
                  op.getPadLow(), input.shape().drop_front(2)};
  int64_t plane = product(windows.input);
  int64_t outPlane = product(result.shape().drop_front(2));
  Tensor cell(RankedTensorType::get({}, result.element()));
  for (int64_t nc = 0; nc < result.dim(0) * result.dim(1); ++nc)
    forEachIndex(result.shape().drop_front(2), [&](ArrayRef<int64_t> at,
                                                   int64_t position) {
      cell.set(0, neutralElement(op.getKind()));
      double sum = cell.getDouble(0);
      int64_t intSum = cell.getInt(0);
      windows.forEach(at, [&](int64_t, int64_t from) {
        if (input.isFloat())
          sum = combine(op.getKind(), sum, input.floats[nc * plane + from]);
        else
          intSum = combine(op.getKind(), intSum, input.ints[nc * plane + from]);
      });
      if (input.isFloat())
        result.set(nc * outPlane + position, sum);
      else
        result.setInt(nc * outPlane + position, intSum);
    });
  return result;
}

void addContraction(EvaluateTable &table) {
  table.add([](auto op, Operands in) -> decltype(evaluate(op, in)) {
    return evaluate(op, in);
  });
}

} // namespace autopar::interpreter
