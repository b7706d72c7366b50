//===- ScatterUpdates.cpp - Updates brought to their rows -----------------===//

#include "ScatterUpdates.h"

using namespace mlir;

namespace autopar {

Value wrapIndices(OnnxNode &node, Value indices, int64_t size) {
  Value wide = node.convert(indices, node.builder.getI64Type());
  Value negative =
      node.compare(ComparePredicate::Lt, wide, node.splatLike(wide, 0));
  return node.select(negative, node.binary(BinaryKind::Add, wide, double(size)),
                     wide);
}

Value notNegative(OnnxNode &node, Value x) {
  return node.compare(ComparePredicate::Ge, x, node.splatLike(x, 0));
}

Value indicesInside(OnnxNode &node, Value indices, int64_t size) {
  indices = wrapIndices(node, indices, size);
  Value inside =
      node.binary(BinaryKind::And, notNegative(node, indices),
                  node.compare(ComparePredicate::Lt, indices,
                               node.splatLike(indices, double(size))));
  return node.select(inside, indices, node.splatLike(indices, -1));
}

bool isScattered(ReduceKind kind, Type element) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Max:
    return !element.isInteger(1);
  case ReduceKind::Min: // whose neutral element is a double
    return !element.isInteger(1) && !element.isInteger(64);
  case ReduceKind::Prod:
    return false;
  }
  llvm_unreachable("all kinds are listed");
}

/// Rows of updates [..., n, ...] along `dim` at indices [n], or at indices
/// [..., n] if `batched`, in `size` rows; the index -1 is none.
static Value scatter(OnnxNode &node, ReduceKind kind, Value updates,
                     Value indices, int64_t dim, int64_t size,
                     bool batched = false) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(updates));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(batched ? 0 : dim, dim + 1));
  Value hits = node.broadcastDims(notNegative(node, indices), shape, dims);
  Value none = node.splatLike(
      updates, neutralElement(kind, OnnxNode::elementOf(updates)));
  shape[dim] = size;
  return node.create<ScatterOp>(OnnxNode::typeOf(updates).clone(shape), kind,
                                node.select(hits, updates, none), indices,
                                Value(), dim, IntegerAttr(), batched);
}

BinaryKind binaryOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return BinaryKind::Add;
  case ReduceKind::Prod:
    return BinaryKind::Mul;
  case ReduceKind::Max:
    return BinaryKind::Max;
  case ReduceKind::Min:
    return BinaryKind::Min;
  }
  llvm_unreachable("all kinds are listed");
}

/// `data` combined with what `scattered` makes of the updates.
static Value combineWith(OnnxNode &node, ReduceKind kind, Value data,
                         Value updates,
                         llvm::function_ref<Value(Value)> scattered) {
  Type element = OnnxNode::elementOf(data);
  if (kind == ReduceKind::Sum) {
    data = node.widened(data);
    updates = node.widened(updates);
  }
  return node.convert(node.binary(binaryOf(kind), data, scattered(updates)),
                      element);
}

Value combineRows(OnnxNode &node, ReduceKind kind, Value data, Value rows,
                  Value updates, int64_t dim) {
  int64_t size = OnnxNode::shapeOf(data)[dim];
  return combineWith(node, kind, data, updates, [&](Value updates) {
    return scatter(node, kind, updates, rows, dim, size);
  });
}

Value lastOfRows(OnnxNode &node, Value rows, int64_t size) {
  return scatter(node, ReduceKind::Max, node.iota(OnnxNode::typeOf(rows), 0),
                 rows, 0, size);
}

Value replaceRows(OnnxNode &node, Value data, Value last, Value updates,
                  int64_t dim) {
  Value found =
      node.gather(updates, node.binary(BinaryKind::Max, last, 0.0), dim);
  Value hit = node.broadcastDims(notNegative(node, last),
                                 OnnxNode::shapeOf(data), {dim});
  return node.select(hit, found, data);
}

/// The indices along `axis`, if they are the same in all rows, as
/// torch.index_add makes them; null if they may differ.
static Value sharedIndices(OnnxNode &node, Value indices, int64_t axis) {
  int64_t count = OnnxNode::shapeOf(indices)[axis];
  if (auto spread = indices.getDefiningOp<BroadcastOp>()) {
    Value from = spread.getOperand();
    for (auto [dim, size] :
         llvm::zip_equal(spread.getDims(), OnnxNode::shapeOf(from)))
      if (dim == axis ? size != count : size != 1)
        return nullptr;
    return llvm::is_contained(spread.getDims(), axis)
               ? node.reshape(from, {count})
               : Value();
  }
  return OnnxNode::typeOf(indices).getNumElements() == count
             ? node.reshape(indices, {count})
             : Value();
}

Value combineElements(OnnxNode &node, ReduceKind kind, Value data,
                      Value indices, Value updates, int64_t axis) {
  int64_t size = OnnxNode::shapeOf(data)[axis];
  if (Value shared = sharedIndices(node, indices, axis))
    return combineRows(node, kind, data, indicesInside(node, shared, size),
                       updates, axis);
  int64_t last = OnnxNode::rankOf(data) - 1;
  indices = node.swapDims(indicesInside(node, indices, size), axis, last);
  return combineWith(node, kind, data, updates, [&](Value updates) {
    Value rows = scatter(node, kind, node.swapDims(updates, axis, last),
                         indices, last, size, /*batched=*/true);
    return node.swapDims(rows, axis, last);
  });
}

Value replaceElements(OnnxNode &node, Value data, Value indices, Value updates,
                      int64_t axis) {
  int64_t size = OnnxNode::shapeOf(data)[axis];
  if (Value shared = sharedIndices(node, indices, axis))
    return replaceRows(
        node, data, lastOfRows(node, indicesInside(node, shared, size), size),
        updates, axis);
  int64_t last = OnnxNode::rankOf(data) - 1;
  indices = node.swapDims(indicesInside(node, indices, size), axis, last);
  Value number = node.iota(OnnxNode::typeOf(indices), last);
  Value from = scatter(node, ReduceKind::Max, number, indices, last, size,
                       /*batched=*/true);
  from = node.swapDims(from, axis, last);
  Value found = node.gatherElements(
      updates, node.binary(BinaryKind::Max, from, 0.0), axis);
  return node.select(notNegative(node, from), found, data);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value readBlock(OnnxNode &node, Value data, ArrayRef<int64_t> shape,
                ArrayRef<Positions> block) {
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  for (auto [dim, at] : llvm::enumerate(block)) {
    starts[dim] = at.first;
    steps[dim] = at.step;
  }
  return node.slice(data, starts, shape, steps);
}

/// Joins `data` around positions of dimension `dim` that are in a row with
/// `part` between.
static Value putBetween(OnnxNode &node, Value data, Value part, int64_t dim,
                        ArrayRef<Positions> block) {
  if (block[dim].count == OnnxNode::shapeOf(data)[dim])
    return part;
  SmallVector<Positions> beside(block);
  SmallVector<int64_t> shape(OnnxNode::shapeOf(part));
  SmallVector<Value> pieces;
  auto add = [&](int64_t start, int64_t end) {
    beside[dim] = {start, 1, end - start};
    shape[dim] = end - start;
    if (end > start)
      pieces.push_back(readBlock(node, data, shape, beside));
  };
  add(0, block[dim].first);
  pieces.push_back(part);
  add(block[dim].first + block[dim].count, OnnxNode::shapeOf(data)[dim]);
  return node.concat(pieces, dim);
}

/// Does the same for positions with others between them.
static Value putApart(OnnxNode &node, Value data, Value part, int64_t dim,
                      ArrayRef<Positions> block) {
  SmallVector<Positions> whole(block);
  SmallVector<int64_t> shape(OnnxNode::shapeOf(part));
  shape[dim] = OnnxNode::shapeOf(data)[dim];
  whole[dim] = {0, 1, shape[dim]};
  SmallVector<int64_t> from(shape[dim], -1);
  for (int64_t i = 0; i < block[dim].count; ++i)
    from[block[dim].first + i * block[dim].step] = i;
  return replaceRows(node, readBlock(node, data, shape, whole),
                     node.scalarInts(from, {shape[dim]}), part, dim);
}

Value writeBlock(OnnxNode &node, Value data, Value part,
                 ArrayRef<Positions> block) {
  // Holds, in each iteration, the positions of `dim` and of the dimensions
  // before it.
  SmallVector<Positions> inside(block);
  for (int64_t dim = int64_t(block.size()); dim-- > 0;) {
    part = block[dim].step == 1 || block[dim].count == 1
               ? putBetween(node, data, part, dim, inside)
               : putApart(node, data, part, dim, inside);
    inside.pop_back();
  }
  return part;
}

} // namespace autopar
