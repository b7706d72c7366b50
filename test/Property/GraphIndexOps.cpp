//===- GraphIndexOps.cpp - Random ops that find or use positions ----------===//

#include "GraphBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar::property {

static RankedTensorType like(Value x, ArrayRef<int64_t> shape) {
  return cast<RankedTensorType>(x.getType()).clone(shape);
}

/// A float, sometimes an integer.
static Value pickNumber(GraphBuilder &graph, int64_t minRank, int64_t maxRank) {
  bool ints = graph.random.chance(25);
  return graph.pick(ints ? graph.indexType() : graph.floatType(), minRank,
                    maxRank);
}

Value makeGather(GraphBuilder &graph) {
  Value data = pickNumber(graph, 1, 5);
  Value indices = graph.pick(graph.indexType(), 0, 2);
  size_t dim = graph.random.below(shapeOf(data).size());
  SmallVector<int64_t> shape(shapeOf(data).take_front(dim));
  llvm::append_range(shape, shapeOf(indices));
  llvm::append_range(shape, shapeOf(data).drop_front(dim + 1));
  if (elementCount(shape) > kMaxElements || shape.size() > kMaxRank)
    return {};
  return GatherOp::create(graph.builder, graph.loc, like(data, shape), data,
                          indices, Value(), dim, IntegerAttr());
}

Value makeScatter(GraphBuilder &graph) {
  Value updates = pickNumber(graph, 1, 5);
  int64_t rank = shapeOf(updates).size();
  int64_t dim = graph.random.below(rank),
          depth = graph.random.between(0, std::min<int64_t>(2, rank - dim));
  bool batched = graph.random.chance(40);
  ArrayRef<int64_t> indexShape = batched
                                     ? shapeOf(updates).take_front(dim + depth)
                                     : shapeOf(updates).slice(dim, depth);
  Value indices = graph.pickOf(graph.type(indexShape, graph.indexType()));
  SmallVector<int64_t> shape(shapeOf(updates).take_front(dim));
  shape.push_back(graph.random.between(1, 9));
  llvm::append_range(shape, shapeOf(updates).drop_front(dim + depth));
  if (elementCount(shape) > kMaxElements || shape.size() > kMaxRank)
    return {};
  constexpr ReduceKind kinds[] = {ReduceKind::Sum, ReduceKind::Max,
                                  ReduceKind::Min};
  ReduceKind kind = kinds[graph.random.below(3)];
  RankedTensorType type = like(updates, shape);
  Value result =
      ScatterOp::create(graph.builder, graph.loc, type, kind, updates, indices,
                        Value(), dim, IntegerAttr(), batched);
  // Rows that no index means are as large or small as can be.
  if (kind != ReduceKind::Sum)
    return BinaryOp::create(graph.builder, graph.loc,
                            kind == ReduceKind::Max ? BinaryKind::Max
                                                    : BinaryKind::Min,
                            result, graph.splat(type, 0));
  return type.getElementType() == graph.floatType() ? graph.bounded(result)
                                                    : result;
}

Value makeGatherNd(GraphBuilder &graph) {
  Value data = pickNumber(graph, 2, 5);
  ArrayRef<int64_t> from = shapeOf(data);
  int64_t batch = graph.random.below(2);
  int64_t depth = graph.random.between(1, from.size() - batch);
  SmallVector<int64_t> shape(from.take_front(batch));
  shape.push_back(graph.random.between(2, 5));
  SmallVector<int64_t> indexShape = shape;
  indexShape.push_back(depth);
  llvm::append_range(shape, from.drop_front(batch + depth));
  Value indices = graph.pickOf(graph.type(indexShape, graph.indexType()));
  return GatherNdOp::create(graph.builder, graph.loc, like(data, shape), data,
                            indices, batch);
}

Value makeGatherElements(GraphBuilder &graph) {
  Value data = pickNumber(graph, 1, kMaxRank);
  SmallVector<int64_t> shape(shapeOf(data));
  size_t dim = graph.random.below(shape.size());
  shape[dim] = graph.random.between(1, graph.random.chance(30) ? 12 : 6);
  if (elementCount(shape) > kMaxElements)
    return {};
  Value indices = graph.pickOf(graph.type(shape, graph.indexType()));
  return GatherElementsOp::create(graph.builder, graph.loc, like(data, shape),
                                  data, indices, Value(), dim, IntegerAttr());
}

/// Of exact values only: their order must not depend on that of sums.
Value makeTopK(GraphBuilder &graph) {
  Value x = pickNumber(graph, 1, kMaxRank);
  if (!isa<IntegerType>(cast<RankedTensorType>(x.getType()).getElementType()) &&
      !graph.isExact(x))
    x = graph.newArgument(cast<RankedTensorType>(x.getType()));
  SmallVector<int64_t> shape(shapeOf(x));
  size_t dim = graph.random.below(shape.size());
  shape[dim] = graph.random.between(1, shape[dim]);
  return TopKOp::create(graph.builder, graph.loc,
                        graph.type(shape, graph.indexType()), x, dim,
                        graph.random.chance(40));
}

} // namespace autopar::property
