//===- GraphMovement.cpp - Random ops that move elements ------------------===//

#include "GraphBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar::property {

static RankedTensorType like(Value x, ArrayRef<int64_t> shape) {
  return cast<RankedTensorType>(x.getType()).clone(shape);
}

/// A float, sometimes an integer or bool.
static Value pickAny(GraphBuilder &graph, int64_t minRank) {
  int64_t kind = graph.random.below(10);
  Type element = kind == 0   ? graph.builder.getI1Type()
                 : kind <= 2 ? graph.indexType()
                             : graph.floatType();
  return graph.pick(element, minRank);
}

Value makeBroadcast(GraphBuilder &graph) {
  Value x = pickAny(graph, 0);
  SmallVector<int64_t> shape, dims;
  for (int64_t size : shapeOf(x)) {
    if (graph.random.chance(30))
      shape.push_back(graph.random.between(1, 5));
    dims.push_back(shape.size());
    shape.push_back(size == 1 && graph.random.chance(50)
                        ? graph.random.between(2, 5)
                        : size);
  }
  if (graph.random.chance(30))
    shape.push_back(graph.random.between(2, 4));
  if (elementCount(shape) > kMaxElements || shape.size() > kMaxRank)
    return {};
  return BroadcastOp::create(graph.builder, graph.loc, like(x, shape), x, dims);
}

static Value reshapedTo(GraphBuilder &graph, Value x, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(graph.builder, graph.loc, like(x, shape), x);
}

static Value transposed(GraphBuilder &graph, Value x, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(shapeOf(x)[dim]);
  return TransposeOp::create(graph.builder, graph.loc, like(x, shape), x, perm);
}

/// The prime factors of the number of elements, dealt anew to dimensions: what
/// was a dimension may be cut and joined at once.
static Value refactored(GraphBuilder &graph, Value x) {
  SmallVector<int64_t> primes;
  int64_t rest = elementCount(shapeOf(x));
  for (int64_t prime = 2; rest > 1; ++prime)
    for (; rest % prime == 0; rest /= prime)
      primes.push_back(prime);
  graph.random.shuffle(primes);
  SmallVector<int64_t> shape(graph.random.between(1, kMaxRank - 1), 1);
  for (int64_t prime : primes)
    shape[graph.random.below(shape.size())] *= prime;
  return reshapedTo(graph, x, shape);
}

/// Merges two neighbours, splits a dimension, flattens, or adds a dimension
/// of 1.
static Value reshaped(GraphBuilder &graph, Value x) {
  if (graph.random.chance(30))
    return refactored(graph, x);
  SmallVector<int64_t> shape(shapeOf(x));
  for (int64_t step = graph.random.between(1, 2); step > 0; --step) {
    size_t dim = graph.random.below(shape.size());
    int64_t what = graph.random.below(4);
    if (what == 0 && dim + 1 < shape.size()) {
      shape[dim] *= shape[dim + 1];
      shape.erase(shape.begin() + dim + 1);
    } else if (what == 1 && shape.size() < kMaxRank) {
      int64_t part = graph.random.between(2, 4);
      if (shape[dim] % part != 0)
        continue;
      shape[dim] /= part;
      shape.insert(shape.begin() + dim, part);
    } else if (what == 2 && graph.random.chance(30)) {
      shape.assign({elementCount(shape)});
    } else if (what == 3 && shape.size() < kMaxRank) {
      shape.insert(shape.begin() + dim, 1);
    }
  }
  return reshapedTo(graph, x, shape);
}

Value makeReshape(GraphBuilder &graph) {
  return reshaped(graph, pickAny(graph, 1));
}

static Value transposed(GraphBuilder &graph, Value x) {
  SmallVector<int64_t> perm =
      llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(x).size()));
  graph.random.shuffle(perm);
  return transposed(graph, x, perm);
}

Value makeTranspose(GraphBuilder &graph) {
  return transposed(graph, pickAny(graph, 2));
}

/// Of one dimension: the first elements, backwards, or some from somewhere on.
static Value sliced(GraphBuilder &graph, Value x) {
  SmallVector<int64_t> shape(shapeOf(x)), starts(shape.size(), 0),
      steps(shape.size(), 1);
  size_t dim = graph.random.below(shape.size());
  int64_t size = shape[dim];
  if (graph.random.chance(40)) {
    shape[dim] = graph.random.between(1, size);
  } else if (graph.random.chance(40)) {
    starts[dim] = size - 1;
    steps[dim] = -1;
  } else {
    starts[dim] = graph.random.below(size);
    steps[dim] = graph.random.between(1, 2);
    shape[dim] = ceilDiv(size - starts[dim], steps[dim]);
  }
  return SliceOp::create(graph.builder, graph.loc, like(x, shape), x, starts,
                         steps);
}

Value makeSlice(GraphBuilder &graph) {
  return sliced(graph, pickAny(graph, 1));
}

/// Movement after movement: loops must join and cut the digits of their
/// indices.
Value makeMovements(GraphBuilder &graph) {
  Value x = pickAny(graph, 1);
  for (int64_t step = graph.random.between(3, 5); step > 0; --step) {
    int64_t what = graph.random.below(3);
    if (what == 0)
      x = reshaped(graph, x);
    else
      x = what == 1 ? transposed(graph, x) : sliced(graph, x);
  }
  return x;
}

Value makePad(GraphBuilder &graph) {
  Value x = graph.pick(graph.floatType(), 1);
  SmallVector<int64_t> shape(shapeOf(x)), low(shape.size(), 0),
      high(shape.size(), 0);
  size_t dim = graph.random.below(shape.size());
  low[dim] = graph.random.below(3);
  high[dim] = graph.random.below(3);
  shape[dim] += low[dim] + high[dim];
  if (elementCount(shape) > kMaxElements)
    return {};
  return PadOp::create(graph.builder, graph.loc, like(x, shape), x, low, high,
                       llvm::APFloat(0.25));
}

Value makeConcat(GraphBuilder &graph) {
  Value x = pickAny(graph, 1);
  size_t dim = graph.random.below(shapeOf(x).size());
  SmallVector<int64_t> other(shapeOf(x));
  other[dim] = graph.random.between(1, 4);
  Value y = graph.pickOf(like(x, other));
  SmallVector<int64_t> shape(shapeOf(x));
  shape[dim] += other[dim];
  if (elementCount(shape) > kMaxElements)
    return {};
  return ConcatOp::create(graph.builder, graph.loc, like(x, shape),
                          ValueRange{x, y}, dim);
}

//===----------------------------------------------------------------------===//
// After convolutions, whose results have channels last
//===----------------------------------------------------------------------===//

/// [n, c, spatial...] as [n, c / block, spatial * block...].
static Value depthToSpace(GraphBuilder &graph, Value x) {
  ArrayRef<int64_t> from = shapeOf(x);
  int64_t spatial = from.size() - 2, block = graph.random.between(2, 3),
          blocks = 1;
  for (int64_t dim = 0; dim < spatial; ++dim)
    blocks *= block;
  if (from[1] % blocks != 0 || 2 + 2 * spatial > kMaxRank)
    return refactored(graph, x);
  SmallVector<int64_t> cut{from[0]}, perm{0}, shape{from[0], from[1] / blocks};
  bool channelsFirst = graph.random.chance(50); // of the block's elements
  if (channelsFirst)
    cut.push_back(from[1] / blocks);
  cut.append(spatial, block);
  if (!channelsFirst)
    cut.push_back(from[1] / blocks);
  llvm::append_range(cut, from.drop_front(2));
  int64_t firstBlock = channelsFirst ? 2 : 1;
  perm.push_back(channelsFirst ? 1 : 1 + spatial);
  for (int64_t dim = 0; dim < spatial; ++dim) {
    perm.append({2 + spatial + dim, firstBlock + dim});
    shape.push_back(from[2 + dim] * block);
  }
  return reshapedTo(graph, transposed(graph, reshapedTo(graph, x, cut), perm),
                    shape);
}

/// Channels or spatial dimensions as one.
static Value merged(GraphBuilder &graph, Value x) {
  SmallVector<int64_t> shape(shapeOf(x));
  size_t from = graph.random.below(3), count = graph.random.between(2, 3);
  while (count-- > 1 && from + 1 < shape.size()) {
    shape[from] *= shape[from + 1];
    shape.erase(shape.begin() + from + 1);
  }
  return reshapedTo(graph, x, shape);
}

/// A convolution, then what makes an image into something else, and something
/// that reads both.
Value makeImageMovement(GraphBuilder &graph) {
  Value x = makeConvolution(graph);
  if (!x)
    return {};
  graph.add(x);
  if (graph.random.chance(60)) {
    x = UnaryOp::create(graph.builder, graph.loc, x.getType(), UnaryKind::Cos,
                        x);
    graph.add(x);
    if (graph.random.chance(50))
      graph.keep(x);
  }
  using Mover = Value (*)(GraphBuilder &, Value);
  static const Mover movers[] = {
      depthToSpace, merged, refactored, reshaped,
      +[](GraphBuilder &graph, Value x) { return transposed(graph, x); }};
  Value moved = graph.random.pick(ArrayRef<Mover>(movers))(graph, x);
  if (graph.random.chance(40))
    return moved;
  Value other = graph.pickOf(cast<RankedTensorType>(moved.getType()));
  return BinaryOp::create(graph.builder, graph.loc, BinaryKind::Add, moved,
                          other);
}

} // namespace autopar::property
