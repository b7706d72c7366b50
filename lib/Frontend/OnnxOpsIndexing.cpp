//===- OnnxOpsIndexing.cpp - ONNX gathers and padding ---------------------===//

#include "ElementTypes.h"
#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

LogicalResult requireIndices(OnnxNode &node, unsigned i) {
  if (isa<IntegerType>(OnnxNode::elementOf(node.input(i))))
    return success();
  return wrongElement(node, i, "must be of an integer type");
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

LogicalResult gather(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis) || failed(requireIndices(node, 1)))
    return failure();
  if (node.shape(0)[*axis] == 0)
    return node.error("it gathers from an empty dimension");
  Value rows = node.gather(node.input(0), node.input(1), *axis);
  node.recordIndices(rows, 0, 1, *axis);
  return node.finish(rows);
}

LogicalResult gatherNd(OnnxNode &node) {
  int64_t batch = node.getInt("batch_dims", 0);
  if (failed(requireIndices(node, 1)))
    return failure();
  ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  if (indices.empty() || batch < 0 || batch >= int64_t(indices.size()) ||
      batch >= int64_t(data.size()) ||
      data.take_front(batch) != indices.take_front(batch))
    return node.error("batch_dims " + Twine(batch) +
                      " does not fit the shapes");
  int64_t depth = indices.back();
  if (depth < 1 || depth > int64_t(data.size()) - batch)
    return node.error("indices of " + Twine(depth) +
                      " numbers do not fit data of rank " + Twine(data.size()));
  if (batch == 0 && depth == 1) {
    Value rows = node.reshape(node.input(1), indices.drop_back());
    Value gathered = node.gather(node.input(0), rows, 0);
    node.recordIndices(gathered, 0, 1, 0);
    return node.finish(gathered);
  }
  SmallVector<int64_t> shape(indices.drop_back());
  llvm::append_range(shape, data.drop_front(batch + depth));
  Value gathered = node.create<GatherNdOp>(node.type(0).clone(shape),
                                           node.input(0), node.input(1), batch);
  node.recordIndexRows(gathered, 0, 1, batch);
  return node.finish(gathered);
}

/// Data beyond the indices' shape in other dimensions is never read.
LogicalResult gatherElements(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis) || failed(requireIndices(node, 1)) ||
      failed(node.requireRank(1, node.rank(0), node.rank(0))))
    return failure();
  SmallVector<int64_t> shape(node.shape(1)), starts(node.rank(0), 0);
  for (int64_t d = 0; d < node.rank(0); ++d)
    if (d != *axis && shape[d] > node.shape(0)[d])
      return node.error("the indices are larger than the data in dimension " +
                        Twine(d));
  shape[*axis] = node.shape(0)[*axis];
  if (shape[*axis] == 0)
    return node.error("it gathers from an empty dimension");
  Value data = node.slice(node.input(0), starts, shape);
  Value gathered = node.gatherElements(data, node.input(1), *axis);
  node.recordIndices(gathered, 0, 1, *axis);
  return node.finish(gathered);
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Low and high padding per dimension.
struct Padding {
  SmallVector<int64_t> low, high;
};

FailureOr<Padding> paddingOf(OnnxNode &node) {
  SmallVector<int64_t> pads = node.getInts("pads");
  if (node.has(1)) {
    FailureOr<SmallVector<int64_t>> given = node.ints(1);
    if (failed(given))
      return failure();
    pads = *given;
  }
  int64_t rank = node.rank(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    FailureOr<SmallVector<int64_t>> given = node.ints(3);
    if (failed(given) || failed(node.normalizeAxes(*given, rank)))
      return failure();
    axes = *given;
  }
  if (pads.size() != 2 * axes.size())
    return node.error("it has " + Twine(pads.size()) + " pads for " +
                      Twine(axes.size()) + " dimensions");
  Padding padding{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0)};
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t d = axis < 0 ? axis + rank : axis;
    padding.low[d] = pads[i];
    padding.high[d] = pads[axes.size() + i];
    int64_t size = node.shape(0)[d];
    for (int64_t pad : {pads[i], pads[axes.size() + i]})
      if (pad < -size || pad > int64_t(1) << 40)
        return node.error("a pad is " + Twine(pad) + " for size " +
                          Twine(size));
    if (padding.low[d] + padding.high[d] + size < 0)
      return node.error("its pads cut more than there is");
  }
  return padding;
}

/// Negative pads cut.
Value cutNegative(OnnxNode &node, Value x, Padding &padding) {
  SmallVector<int64_t> starts, sizes;
  for (auto [d, size] : llvm::enumerate(OnnxNode::shapeOf(x))) {
    int64_t low = std::max<int64_t>(-padding.low[d], 0);
    int64_t high = std::max<int64_t>(-padding.high[d], 0);
    starts.push_back(low);
    sizes.push_back(size - low - high);
    padding.low[d] = std::max<int64_t>(padding.low[d], 0);
    padding.high[d] = std::max<int64_t>(padding.high[d], 0);
  }
  return node.slice(x, starts, sizes);
}

Value padConstant(OnnxNode &node, Value x, const Padding &padding,
                  double value) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x));
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] += padding.low[d] + padding.high[d];
  if (ArrayRef<int64_t>(shape) == OnnxNode::shapeOf(x))
    return x;
  return node.create<PadOp>(OnnxNode::typeOf(x).clone(shape), x, padding.low,
                            padding.high, llvm::APFloat(value));
}

Value clampTo(OnnxNode &node, Value x, double low, double high) {
  Value above = node.binary(BinaryKind::Max, x, low);
  return node.binary(BinaryKind::Min, above, high);
}

/// There and back between 0 and n - 1. |(n - 1) - |x|| counts from the far end
/// where x is beyond either end by less than n.
Value reflect(OnnxNode &node, Value x, int64_t below, int64_t above,
              int64_t n) {
  int64_t last = n - 1;
  if (last == 0)
    return node.splatLike(x, 0);
  if (std::max(below, above) > last)
    x = node.binary(BinaryKind::Mod, x, 2.0 * last);
  else if (below > 0)
    x = node.unary(UnaryKind::Abs, x);
  auto fromEnd = [&](Value at) {
    return node.binary(BinaryKind::Sub, node.splatLike(at, last), at);
  };
  return fromEnd(node.unary(UnaryKind::Abs, fromEnd(x)));
}

/// Which elements of a dimension of size n are read, with `low` positions
/// before it and `high` after it: arithmetic on positions, so that long
/// dimensions cost no table.
Value paddedPositions(OnnxNode &node, int64_t low, int64_t n, int64_t high,
                      StringRef mode) {
  auto type =
      RankedTensorType::get({low + n + high}, node.builder.getI64Type());
  Value at = node.binary(BinaryKind::Add, node.iota(type, 0), double(-low));
  if (mode == "edge")
    return clampTo(node, at, 0, n - 1);
  if (mode == "wrap")
    return node.binary(BinaryKind::Mod, at, n);
  return reflect(node, at, low, high, n);
}

Value padByIndex(OnnxNode &node, Value x, const Padding &padding,
                 StringRef mode) {
  for (int64_t d = 0; d < OnnxNode::rankOf(x); ++d) {
    int64_t low = padding.low[d], high = padding.high[d];
    if (low != 0 || high != 0)
      x = node.gather(
          x, paddedPositions(node, low, OnnxNode::shapeOf(x)[d], high, mode),
          d);
  }
  return x;
}

/// Pads with a value that a run computes: what is not of x is replaced.
Value padAtRun(OnnxNode &node, Value x, const Padding &padding, Value value) {
  Type i1 = node.builder.getI1Type();
  Value inside = padConstant(node, node.splat(OnnxNode::typeOf(x).clone(i1), 1),
                             padding, 0);
  Value wide = padConstant(node, x, padding, 0);
  return node.select(
      inside, wide,
      node.broadcastTo(node.reshape(value, {}), OnnxNode::shapeOf(wide)));
}

LogicalResult padByValue(OnnxNode &node, Value x, const Padding &padding) {
  if (!node.has(2))
    return node.finish(
        padConstant(node, x, padding, node.getFloat("value", 0)));
  if (node.type(2).getNumElements() != 1 ||
      OnnxNode::elementOf(node.input(2)) != OnnxNode::elementOf(x))
    return node.error("its input 2 must be one number of the input's type");
  if (std::optional<SmallVector<double>> known = node.knownNumbers(2))
    return node.finish(padConstant(node, x, padding, known->front()));
  return node.finish(padAtRun(node, x, padding, node.input(2)));
}

LogicalResult pad(OnnxNode &node) {
  FailureOr<Padding> padding = paddingOf(node);
  if (failed(padding))
    return failure();
  StringRef mode = node.getString("mode", "constant");
  Value x = cutNegative(node, node.input(0), *padding);
  if (mode == "constant")
    return padByValue(node, x, *padding);
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    return node.error("unknown mode '" + mode +
                      "' (known: constant, edge, reflect, wrap)");
  for (int64_t d = 0; d < OnnxNode::rankOf(x); ++d)
    if (OnnxNode::shapeOf(x)[d] == 0 && padding->low[d] + padding->high[d])
      return node.error("its pads do not fit mode " + mode);
  return node.finish(padByIndex(node, x, *padding, mode));
}

const OnnxOp kOps[] = {
    {"Gather", "1 11 13", 2, 2, "axis:int", gather},
    {"GatherND", "11", 2, 2, "", gatherNd},
    {"GatherND", "12 13", 2, 2, "batch_dims:int", gatherNd},
    {"GatherElements", "11 13", 2, 2, "axis:int", gatherElements},
    {"Pad", "2", 1, 1, "mode:string pads:ints! value:float", pad},
    {"Pad", "11 13", 2, 3, "mode:string", pad},
    {"Pad", "18 19 21 23 24 25", 2, 4, "mode:string", pad},
};
} // namespace

ArrayRef<OnnxOp> indexingOps() { return kOps; }

} // namespace autopar
