//===- OnnxOpsConvTranspose.cpp - ONNX transposed convolution -------------===//
//
// The transpose of a convolution, which the gradient of one is, too.
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"
#include "OnnxNode.h"
#include "WindowAttributes.h"
#include "autopar/Dialect/TransposedWindows.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

constexpr int64_t kLimit = 1 << 30;

struct Geometry {
  SmallVector<int64_t> strides, dilations, outputPadding, low, high;
};

int64_t spanOf(OnnxNode &node, const Geometry &geometry, unsigned d) {
  return geometry.dilations[d] * (node.shape(1)[d + 2] - 1) + 1;
}

/// Padding that gives `output_shape`, or ceil(n * stride) with auto_pad.
LogicalResult padToShape(OnnxNode &node, Geometry &geometry,
                         ArrayRef<int64_t> out, bool moreBelow) {
  for (unsigned d = 0; d < out.size(); ++d) {
    int64_t total = geometry.strides[d] * (node.shape(0)[d + 2] - 1) +
                    geometry.outputPadding[d] + spanOf(node, geometry, d) -
                    out[d];
    // A result larger than the filter reaches gets zeros at its end.
    int64_t less = std::max<int64_t>(total, 0) / 2;
    geometry.low[d] = moreBelow ? std::max<int64_t>(total, 0) - less : less;
    geometry.high[d] = total - geometry.low[d];
  }
  return success();
}

FailureOr<Geometry> geometryOf(OnnxNode &node) {
  size_t rank = node.rank(0) - 2;
  FailureOr<SmallVector<int64_t>> strides =
      windowAttribute(node, "strides", rank, 1);
  FailureOr<SmallVector<int64_t>> dilations =
      windowAttribute(node, "dilations", rank, 1);
  FailureOr<SmallVector<int64_t>> padding =
      windowAttribute(node, "output_padding", rank, 0);
  FailureOr<SmallVector<int64_t>> pads =
      windowAttribute(node, "pads", 2 * rank, 0);
  if (failed(strides) || failed(dilations) || failed(padding) || failed(pads))
    return failure();
  Geometry geometry{*strides, *dilations, *padding, {}, {}};
  geometry.low.assign(pads->begin(), pads->begin() + rank);
  geometry.high.assign(pads->begin() + rank, pads->end());
  for (unsigned d = 0; d < rank; ++d)
    if (node.shape(0)[d + 2] < 1 || node.shape(1)[d + 2] < 1 ||
        node.shape(0)[d + 2] > kLimit || node.shape(1)[d + 2] > kLimit)
      return node.error("its input or filter is empty or too large");
  StringRef mode = node.getString("auto_pad", "NOTSET");
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && mode != "NOTSET" && mode != "VALID" && !mode.empty())
    return node.error("unknown value '" + mode +
                      "' of auto_pad (known: "
                      "NOTSET, SAME_UPPER, SAME_LOWER, VALID)");
  SmallVector<int64_t> out;
  if (node.hasAttribute("output_shape")) {
    FailureOr<SmallVector<int64_t>> given =
        windowAttribute(node, "output_shape", rank, 1);
    if (failed(given))
      return failure();
    out = *given;
  } else if (same) {
    for (unsigned d = 0; d < rank; ++d)
      out.push_back(node.shape(0)[d + 2] * geometry.strides[d]);
  }
  if (!out.empty() &&
      failed(padToShape(node, geometry, out, mode != "SAME_UPPER")))
    return failure();
  return geometry;
}

LogicalResult checkChannels(OnnxNode &node, int64_t groups) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 5)) ||
      failed(node.requireRank(1, node.rank(0), node.rank(0))))
    return failure();
  for (unsigned i = 1; i < node.numInputs(); ++i)
    if (node.has(i) && OnnxNode::elementOf(node.input(i)) !=
                           OnnxNode::elementOf(node.input(0)))
      return differentElements(node, 0, i);
  ArrayRef<int64_t> x = node.shape(0), w = node.shape(1);
  if (groups < 1 || x[1] != w[0] || groups > w[0] || w[0] % groups ||
      w[1] > kLimit / groups)
    return node.error("the input has " + Twine(x[1]) +
                      " channels, the filter takes " + Twine(w[0]) + " in " +
                      Twine(groups) + " groups");
  if (node.has(2) && node.shape(2) != ArrayRef<int64_t>({w[1] * groups}))
    return node.error("the bias must have one value per output channel");
  return success();
}

LogicalResult convTranspose(OnnxNode &node) {
  int64_t groups = node.getInt("group", 1);
  if (failed(checkChannels(node, groups)))
    return failure();
  FailureOr<Geometry> geometry = geometryOf(node);
  if (failed(geometry))
    return failure();
  SmallVector<int64_t> shape = {node.shape(0)[0], node.shape(1)[1] * groups};
  for (unsigned d = 0; d + 2 < node.rank(0); ++d) {
    shape.push_back(geometry->strides[d] * (node.shape(0)[d + 2] - 1) +
                    geometry->outputPadding[d] + spanOf(node, *geometry, d) -
                    geometry->low[d] - geometry->high[d]);
    if (shape.back() < 1)
      return node.error("its padding leaves nothing of dimension " +
                        Twine(d + 2));
  }
  TensorBuilder b(node.builder, node.loc);
  Value y = transposedConvolution(
      b, node.input(0), node.input(1), node.type(0).clone(shape),
      {geometry->strides, geometry->dilations, geometry->low}, groups);
  if (node.has(2))
    y = node.binaryAlong(BinaryKind::Add, y, node.input(2), 1);
  return node.finish(y);
}

constexpr StringLiteral kAttributes =
    "auto_pad:string dilations:ints group:int kernel_shape:ints "
    "output_padding:ints output_shape:ints pads:ints strides:ints";

const OnnxOp kOps[] = {
    {"ConvTranspose", "1 11 22", 2, 3, kAttributes, convTranspose},
};
} // namespace

ArrayRef<OnnxOp> convTransposeOps() { return kOps; }

} // namespace autopar
