//===- AddedUpdates.cpp - Scatters whose updates are added ----------------===//

#include "AddedUpdates.h"

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

Value addRows(OnnxNode &node, Value data, Value rows, Value updates,
              int64_t dim) {
  Type element = OnnxNode::elementOf(data);
  data = node.widened(data);
  updates = node.widened(updates);
  Value hits = node.broadcastDims(notNegative(node, rows),
                                  OnnxNode::shapeOf(updates), {dim});
  updates = node.select(hits, updates, node.splatLike(updates, 0));
  Value sums = node.create<ScatterOp>(OnnxNode::typeOf(data), updates, rows,
                                      Value(), dim, IntegerAttr());
  return node.convert(node.binary(BinaryKind::Add, data, sums), element);
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

Value addElements(OnnxNode &node, Value data, Value indices, Value updates,
                  int64_t axis) {
  /// More are compared with all indices of their own, as other scatters: each
  /// is a scatter by itself here.
  constexpr int64_t kMostApart = 16;
  SmallVector<int64_t> shape(OnnxNode::shapeOf(data)), perm, moved, back;
  int64_t size = shape[axis], rank = shape.size();
  if (Value shared = sharedIndices(node, indices, axis))
    return addRows(node, data, indicesInside(node, shared, size), updates,
                   axis);
  int64_t apart = OnnxNode::typeOf(data).getNumElements() / size;
  if (apart > kMostApart)
    return nullptr;
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis)
      perm.push_back(d);
  perm.push_back(axis);
  back.resize(rank);
  for (auto [to, from] : llvm::enumerate(perm)) {
    moved.push_back(shape[from]);
    back[from] = to;
  }
  auto byRow = [&](Value x) {
    return node.reshape(node.transpose(x, perm),
                        {apart, OnnxNode::shapeOf(x)[axis]});
  };
  data = byRow(data);
  indices = byRow(indices);
  updates = byRow(updates);
  SmallVector<Value> rows;
  for (int64_t row = 0; row < apart; ++row) {
    Value places = indicesInside(node, node.take(indices, 0, row), size);
    Value sums = addRows(node, node.take(data, 0, row), places,
                         node.take(updates, 0, row), 0);
    rows.push_back(node.insertDim(sums, 0));
  }
  Value all = node.reshape(node.concat(rows, 0), moved);
  return node.transpose(all, back);
}

} // namespace autopar
