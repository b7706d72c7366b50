//===- OnnxOpsSelection.cpp - ONNX operators that find elements -----------===//

#include "ElementTypes.h"
#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

/// Positions of the `count` best elements along `axis`.
Value topPositions(OnnxNode &node, Value x, int64_t axis, int64_t count,
                   bool smallest) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x));
  shape[axis] = count;
  return node.create<TopKOp>(
      RankedTensorType::get(shape, node.builder.getI64Type()), x, axis,
      smallest);
}

LogicalResult topK(OnnxNode &node) {
  FailureOr<int64_t> count = node.version == 1
                                 ? FailureOr<int64_t>(node.getInt("k", 0))
                                 : node.scalarInt(1);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(count) || failed(axis))
    return failure();
  Value x = node.input(0);
  if (*count < 0 || *count > node.shape(0)[*axis])
    return node.error("it takes " + Twine(*count) + " of " +
                      Twine(node.shape(0)[*axis]) + " elements");
  if (OnnxNode::elementOf(x).isInteger(1))
    return wrongElement(node, 0, "must hold numbers");
  Value where =
      topPositions(node, x, *axis, *count, !node.getInt("largest", 1));
  if (node.wantsOutput(0))
    node.setOutput(0, node.gatherElements(x, where, *axis));
  if (node.wantsOutput(1))
    node.setOutput(1, where);
  return success();
}

/// Position of the best element along `axis`, which disappears; of equal ones
/// the first or the last, and a NaN is better than any number. Made of
/// reductions, so that `axis` can be split.
Value bestPosition(OnnxNode &node, Value x, int64_t axis, bool smallest,
                   bool last) {
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(x);
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (d != axis)
      others.push_back(d);
  Value best =
      node.reduce(smallest ? ReduceKind::Min : ReduceKind::Max, x, {axis});
  Value isBest =
      node.compare(smallest ? ComparePredicate::Le : ComparePredicate::Ge, x,
                   node.broadcastDims(best, shape, others));
  // The best of a row with NaNs is one of them, which equals nothing. (Across
  // ranks NCCL's maximum is that of the numbers.)
  if (isa<FloatType>(OnnxNode::elementOf(x)))
    isBest = node.binary(BinaryKind::Or, isBest,
                         node.compare(ComparePredicate::Ne, x, x));
  Value at =
      node.iota(RankedTensorType::get(shape, node.builder.getI64Type()), axis);
  Value never = node.splatLike(at, last ? -1 : double(shape[axis]));
  return node.reduce(last ? ReduceKind::Max : ReduceKind::Min,
                     node.select(isBest, at, never), {axis});
}

template <bool smallest> LogicalResult argBest(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis))
    return failure();
  if (node.shape(0)[*axis] == 0)
    return node.error("it searches an empty dimension");
  Value where = bestPosition(node, node.input(0), *axis, smallest,
                             node.getInt("select_last_index", 0));
  if (!node.getInt("keepdims", 1))
    return node.finish(where);
  SmallVector<int64_t> shape(node.shape(0));
  shape[*axis] = 1;
  return node.finish(node.reshape(where, shape));
}

/// 1 at the first largest element along the axis, else 0. Before version 13
/// all dimensions from the axis on count as one.
LogicalResult hardmax(OnnxNode &node) {
  bool old = node.version < 13;
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", old ? 1 : -1), node.rank(0));
  if (failed(axis) || failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  if (node.type(0).getNumElements() == 0)
    return node.finish(x);
  if (old) {
    int64_t rows = 1;
    for (int64_t size : node.shape(0).take_front(*axis))
      rows *= size;
    x = node.reshape(x, {rows, node.type(0).getNumElements() / rows});
    *axis = 1;
  }
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(x);
  Value at =
      node.iota(RankedTensorType::get(shape, node.builder.getI64Type()), *axis);
  Value best = bestPosition(node, x, *axis, false, false);
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (d != *axis)
      others.push_back(d);
  Value hit = node.compare(ComparePredicate::Eq, at,
                           node.broadcastDims(best, shape, others));
  return node.finish(
      node.reshape(node.convert(hit, OnnxNode::elementOf(x)), node.shape(0)));
}

//===----------------------------------------------------------------------===//
// Results whose size depends on values
//===----------------------------------------------------------------------===//

/// Indices of the elements that are not zero, one row per dimension.
LogicalResult nonZero(OnnxNode &node) {
  std::optional<SmallVector<double>> known = node.knownNumbers(0);
  if (!known)
    return node.error("its input 0 must be known while compiling, for the "
                      "result's size depends on it: compute it outside of the "
                      "model, or export a result of a fixed size (Where)" +
                      node.howToBind(0));
  SmallVector<SmallVector<int64_t>> rows(node.rank(0));
  for (auto [position, value] : llvm::enumerate(*known)) {
    if (value == 0)
      continue;
    int64_t rest = position;
    for (int64_t d = node.rank(0); d-- > 0;) {
      rows[d].push_back(rest % node.shape(0)[d]);
      rest /= node.shape(0)[d];
    }
  }
  SmallVector<int64_t> all;
  for (ArrayRef<int64_t> row : rows)
    llvm::append_range(all, row);
  int64_t count = rows.empty() ? 0 : rows.front().size();
  return node.finish(node.scalarInts(all, {node.rank(0), count}));
}

/// The elements along `axis` (of all elements without it) that a condition,
/// which must be known, selects.
LogicalResult compress(OnnxNode &node) {
  std::optional<SmallVector<double>> known = node.knownNumbers(1);
  if (!known)
    return node.error("its input 1 must be known while compiling, for the "
                      "result's size depends on it: compute it outside of the "
                      "model, or export a result of a fixed size (Where)" +
                      node.howToBind(1));
  Value x = node.input(0);
  int64_t axis = 0;
  if (node.hasAttribute("axis")) {
    FailureOr<int64_t> given =
        node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
    if (failed(given))
      return failure();
    axis = *given;
  } else {
    x = node.reshape(x, {node.type(0).getNumElements()});
  }
  SmallVector<int64_t> kept;
  for (auto [position, value] : llvm::enumerate(*known))
    if (value != 0)
      kept.push_back(position);
  if (!kept.empty() && kept.back() >= OnnxNode::shapeOf(x)[axis])
    return node.error("its condition selects more than there is");
  return node.finish(
      node.gather(x, node.scalarInts(kept, {int64_t(kept.size())}), axis));
}

constexpr StringLiteral kArg = "axis:int keepdims:int";
constexpr StringLiteral kArgLast =
    "axis:int keepdims:int select_last_index:int";

const OnnxOp kOps[] = {
    {"ArgMax", "1 11", 1, 1, kArg, argBest<false>},
    {"ArgMax", "12 13", 1, 1, kArgLast, argBest<false>},
    {"ArgMin", "1 11", 1, 1, kArg, argBest<true>},
    {"ArgMin", "12 13", 1, 1, kArgLast, argBest<true>},
    {"Hardmax", "1 11 13", 1, 1, "axis:int", hardmax},
    {"NonZero", "9 13", 1, 1, "", nonZero},
    {"Compress", "9 11 28", 2, 2, "axis:int", compress},
    {"TopK", "1", 1, 1, "axis:int k:int!", topK},
    {"TopK", "10", 2, 2, "axis:int", topK},
    {"TopK", "11 24", 2, 2, "axis:int largest:int sorted:int", topK},
};
} // namespace

ArrayRef<OnnxOp> selectionOps() { return kOps; }

} // namespace autopar
