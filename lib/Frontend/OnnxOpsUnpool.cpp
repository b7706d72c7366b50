//===- OnnxOpsUnpool.cpp - ONNX pooling undone ----------------------------===//

#include "OnnxTensor.h"
#include "ScatterUpdates.h"
#include "WindowAttributes.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

/// The shape that the windows pooled.
FailureOr<SmallVector<int64_t>> pooledShape(OnnxNode &node) {
  size_t spatial = node.rank(0) - 2;
  FailureOr<SmallVector<int64_t>> size =
      windowAttribute(node, "kernel_shape", spatial, 1);
  FailureOr<SmallVector<int64_t>> strides =
      windowAttribute(node, "strides", spatial, 1);
  FailureOr<SmallVector<int64_t>> pads =
      windowAttribute(node, "pads", 2 * spatial, 0);
  if (failed(size) || failed(strides) || failed(pads))
    return failure();
  SmallVector<int64_t> shape(node.shape(0));
  for (size_t d = 0; d < spatial; ++d) {
    int64_t &extent = shape[d + 2];
    extent = extent > kWindowLimit ? -1
                                   : (extent - 1) * (*strides)[d] + (*size)[d] -
                                         (*pads)[d] - (*pads)[spatial + d];
    if (extent < 1)
      return node.error("its result's size " + Twine(extent) +
                        " is out of range");
  }
  if (!countElements(shape, 16))
    return node.error("its result is too large");
  return shape;
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

/// A run ends if an index is none of its own image's: it would be lost.
void requireInside(OnnxNode &node, Value inside) {
  Value least = node.reduce(
      ReduceKind::Min, node.convert(inside, node.builder.getI32Type()), {0, 1});
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
  FailureOr<SmallVector<int64_t>> pooled = pooledShape(node);
  if (failed(pooled))
    return failure();
  FailureOr<SmallVector<int64_t>> stated = statedShape(node, *pooled);
  if (failed(stated))
    return failure();
  ArrayRef<int64_t> from = node.shape(0), to = *pooled;
  int64_t planes = from[0] * from[1];
  SmallVector<int64_t> flat{planes, llvm::product_of(from.drop_front(2))};
  int64_t size = llvm::product_of(to.drop_front(2));
  Type i64 = node.builder.getI64Type();
  // Indices count the elements of all images.
  Value at = node.reshape(node.convert(node.input(1), i64), flat);
  Value first = node.binary(BinaryKind::Mul, node.iota(OnnxNode::typeOf(at), 0),
                            double(size));
  at = node.binary(BinaryKind::Sub, at, first);
  requireInside(node, node.binary(BinaryKind::And, notNegative(node, at),
                                  node.compare(ComparePredicate::Lt, at,
                                               node.splatLike(at, size))));
  Value zeros = node.splat(node.type(0).clone({planes, size}), 0);
  Value result = node.reshape(
      replaceElements(node, zeros, at, node.reshape(node.input(0), flat), 1),
      to);
  SmallVector<int64_t> low(stated->size(), 0), high(low);
  for (size_t d = 0; d < stated->size(); ++d)
    high[d] = (*stated)[d] - to[d];
  if (*stated != *pooled)
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
