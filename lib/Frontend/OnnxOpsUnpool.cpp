//===- OnnxOpsUnpool.cpp - ONNX pooling undone ----------------------------===//

#include "AddedUpdates.h"
#include "OnnxTensor.h"
#include "WindowAttributes.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

/// The windows, and the shape that they pooled.
struct Pooled {
  SmallVector<int64_t> size, strides, low;
  SmallVector<int64_t> shape;
};

FailureOr<Pooled> pooledBy(OnnxNode &node) {
  constexpr int64_t kMostElements = 1024; // of a window: each is compared
  size_t spatial = node.rank(0) - 2;
  FailureOr<SmallVector<int64_t>> size =
      windowAttribute(node, "kernel_shape", spatial, 1);
  FailureOr<SmallVector<int64_t>> strides =
      windowAttribute(node, "strides", spatial, 1);
  FailureOr<SmallVector<int64_t>> pads =
      windowAttribute(node, "pads", 2 * spatial, 0);
  if (failed(size) || failed(strides) || failed(pads))
    return failure();
  if (countElements(*size, 1).value_or(UINT64_MAX) > kMostElements)
    return node.error("windows of more than " + Twine(kMostElements) +
                      " elements are not supported");
  Pooled pooled{*size, *strides, *pads, SmallVector<int64_t>(node.shape(0))};
  pooled.low.truncate(spatial);
  for (size_t d = 0; d < spatial; ++d) {
    int64_t &extent = pooled.shape[d + 2];
    extent = extent > kWindowLimit ? -1
                                   : (extent - 1) * (*strides)[d] + (*size)[d] -
                                         (*pads)[d] - (*pads)[spatial + d];
    if (extent < 1)
      return node.error("its result's size " + Twine(extent) +
                        " is out of range");
  }
  if (!countElements(pooled.shape, 16))
    return node.error("its result is too large");
  return pooled;
}

/// Input 2 is what is left of the windows, if it is there.
FailureOr<SmallVector<int64_t>> statedShape(OnnxNode &node,
                                            ArrayRef<int64_t> shape) {
  if (!node.has(2))
    return SmallVector<int64_t>(shape);
  FailureOr<SmallVector<int64_t>> stated = node.ints(2);
  if (failed(stated))
    return failure();
  bool fits = stated->size() == shape.size() && countElements(*stated, 16);
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = (*stated)[d] >= shape[d];
  if (!fits)
    return node.error("its output_shape does not hold the result of its "
                      "windows");
  return stated;
}

/// Each element of the result asks the windows that it is in whether it is
/// their largest one: a gather along each dimension, for each of those windows.
Value largestOfWindows(OnnxNode &node, const Pooled &pooled, Value x, Value at,
                       Value found, unsigned d) {
  Type i64 = node.builder.getI64Type();
  if (d == pooled.size.size()) {
    auto flat =
        RankedTensorType::get({OnnxNode::typeOf(found).getNumElements()}, i64);
    Value own = node.reshape(node.iota(flat, 0), pooled.shape);
    return node.select(node.compare(ComparePredicate::Eq, at, own), x, found);
  }
  int64_t size = pooled.size[d], stride = pooled.strides[d],
          count = node.shape(0)[d + 2];
  auto line = RankedTensorType::get({pooled.shape[d + 2]}, i64);
  Value last =
      node.binary(BinaryKind::Add, node.iota(line, 0), double(pooled.low[d]));
  last = node.binary(BinaryKind::Div, last, double(stride));
  for (int64_t back = 0; back * stride < size; ++back) {
    Value window = node.binary(BinaryKind::Sub, last, double(back));
    window = node.binary(BinaryKind::Max, window, 0.0);
    window = node.binary(BinaryKind::Min, window, double(count - 1));
    found = largestOfWindows(node, pooled, node.gather(x, window, d + 2),
                             node.gather(at, window, d + 2), found, d + 1);
  }
  return found;
}

/// Whether each index is one of its window's. `before` [n, c, windows...]
/// counts what is before the image's line in which a window begins.
Value areInWindows(OnnxNode &node, const Pooled &pooled, Value at, Value before,
                   unsigned d) {
  int64_t extent = pooled.shape[d + 2], size = pooled.size[d];
  Value begin = node.iota(OnnxNode::typeOf(at), d + 2);
  begin = node.binary(
      BinaryKind::Sub,
      node.binary(BinaryKind::Mul, begin, double(pooled.strides[d])),
      double(pooled.low[d]));
  before = node.binary(BinaryKind::Mul, before, double(extent));
  if (d + 1 == pooled.size.size()) {
    Value first = node.binary(BinaryKind::Max, begin, 0.0);
    Value end = node.binary(BinaryKind::Min,
                            node.binary(BinaryKind::Add, begin, double(size)),
                            double(extent));
    Value inLine = node.binary(BinaryKind::Sub, at, before);
    return node.binary(BinaryKind::And,
                       node.compare(ComparePredicate::Ge, inLine, first),
                       node.compare(ComparePredicate::Lt, inLine, end));
  }
  Value any;
  for (int64_t i = 0; i < size; ++i) {
    Value line = node.binary(BinaryKind::Add, begin, double(i));
    Value isLine =
        node.binary(BinaryKind::And, notNegative(node, line),
                    node.compare(ComparePredicate::Lt, line,
                                 node.splatLike(line, double(extent))));
    Value isIn = node.binary(
        BinaryKind::And, isLine,
        areInWindows(node, pooled, at,
                     node.binary(BinaryKind::Add, before, line), d + 1));
    any = any ? node.binary(BinaryKind::Or, any, isIn) : isIn;
  }
  return any;
}

/// A run ends if an index is none of its window's: it would be lost.
void requireInWindows(OnnxNode &node, const Pooled &pooled, Value at) {
  auto type = OnnxNode::typeOf(at);
  Value plane = node.binary(BinaryKind::Add,
                            node.binary(BinaryKind::Mul, node.iota(type, 0),
                                        double(type.getDimSize(1))),
                            node.iota(type, 1));
  Value isIn = areInWindows(node, pooled, at, plane, 0);
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  Value least = node.reduce(ReduceKind::Min,
                            node.convert(isIn, node.builder.getI32Type()), all);
  node.requireAtRun(
      node.compare(ComparePredicate::Eq, least, node.splatLike(least, 1)), true,
      "the indices of node '" + nodeName(node.loc) +
          "' are not those of a MaxPool with its windows whose input had the "
          "shape of its result without output_shape");
}

/// Elements of x where the second output of MaxPool says, in zeros.
LogicalResult maxUnpool(OnnxNode &node) {
  if (failed(node.requireRank(0, 3, 5)) || failed(node.requireFloat(0)))
    return failure();
  if (node.shape(1) != node.shape(0) ||
      !isa<IntegerType>(OnnxNode::elementOf(node.input(1))) ||
      node.type(0).getNumElements() == 0)
    return node.error("it needs elements, and one index for each");
  FailureOr<Pooled> pooled = pooledBy(node);
  if (failed(pooled))
    return failure();
  FailureOr<SmallVector<int64_t>> stated = statedShape(node, pooled->shape);
  if (failed(stated))
    return failure();
  auto type = node.type(0).clone(pooled->shape);
  Value at = node.convert(node.input(1), node.builder.getI64Type());
  requireInWindows(node, *pooled, at);
  Value result = largestOfWindows(node, *pooled, node.input(0), at,
                                  node.splat(type, 0), 0);
  SmallVector<int64_t> low(stated->size(), 0), high(low);
  for (size_t d = 0; d < stated->size(); ++d)
    high[d] = (*stated)[d] - pooled->shape[d];
  if (*stated != pooled->shape)
    result = node.create<PadOp>(node.type(0).clone(*stated), result, low, high,
                                llvm::APFloat(0.0));
  return node.finish(result);
}

const OnnxOp kOps[] = {
    {"MaxUnpool", "9 11 22", 2, 3, "kernel_shape:ints! pads:ints strides:ints",
     maxUnpool},
};
} // namespace

ArrayRef<OnnxOp> unpoolOps() { return kOps; }

} // namespace autopar
