//===- OnnxOpsQuantized.cpp - ONNX operators to and from few bits ---------===//

#include "ElementTypes.h"
#include "QuantizedValues.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

/// The granularity of scales along input 0: one for all, one for each position
/// of `axis`, or one for each `block` positions of it.
struct Granularity {
  int64_t axis = 0, block = 0;
  bool isOne = false;
};

FailureOr<Granularity> readGranularity(OnnxNode &node) {
  Granularity scales;
  scales.block = node.getInt("block_size", 0);
  if (scales.block < 0)
    return node.error("block_size is " + Twine(scales.block));
  ArrayRef<int64_t> x = node.shape(0), scale = node.shape(1);
  bool isOne = isOneNumber(node.input(1)) && scale.size() <= 1;
  if (node.has(2) && node.shape(2) != scale &&
      !(isOne && node.rank(2) <= 1 && isOneNumber(node.input(2))))
    return node.error("its scale and its zero point differ in shape: " +
                      OnnxNode::typeText(node.input(1)) + " and " +
                      OnnxNode::typeText(node.input(2)));
  scales.isOne = isOne && scales.block == 0;
  if (scales.isOne)
    return scales;
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 1), x.size());
  if (failed(axis))
    return failure();
  scales.axis = *axis;
  SmallVector<int64_t> wanted{x[*axis]};
  if (scales.block > 0) {
    wanted.assign(x.begin(), x.end());
    wanted[*axis] =
        int64_t(llvm::divideCeil(uint64_t(x[*axis]), uint64_t(scales.block)));
  }
  if (scale != ArrayRef<int64_t>(wanted))
    return node.error(
        "its scale is " + OnnxNode::typeText(node.input(1)) +
        "; it must be one number, or hold one per " +
        (scales.block > 0 ? "block of " + Twine(scales.block) + " along axis "
                          : Twine("position of axis ")) +
        Twine(*axis) + " of " + OnnxNode::typeText(node.input(0)));
  return scales;
}

/// A scale or zero point in every place of input 0. The last block may be cut.
Value spread(OnnxNode &node, Value value, const Granularity &scales) {
  ArrayRef<int64_t> shape = node.shape(0);
  if (scales.isOne)
    return spreadNumber(node, value, shape);
  if (scales.block == 0)
    return node.broadcastDims(value, shape, {scales.axis});
  int64_t axis = scales.axis, size = std::max<int64_t>(shape[axis], 1);
  int64_t block = std::min(scales.block, size);
  SmallVector<int64_t> wide(OnnxNode::shapeOf(value)), whole(wide), dims;
  wide.insert(wide.begin() + axis + 1, block);
  whole[axis] *= block;
  for (int64_t d = 0; d < int64_t(wide.size()); ++d)
    if (d != axis + 1)
      dims.push_back(d);
  Value repeated = node.reshape(node.broadcastDims(value, wide, dims), whole);
  return node.slice(repeated, SmallVector<int64_t>(shape.size(), 0), shape);
}

/// Input i spread, or null if it is not there.
Value spreadInput(OnnxNode &node, unsigned i, const Granularity &scales) {
  return node.has(i) ? spread(node, node.input(i), scales) : Value();
}

//===----------------------------------------------------------------------===//
// QuantizeLinear
//===----------------------------------------------------------------------===//

/// An integer type of 8 or 16 bits.
FailureOr<Type> quantizedType(OnnxNode &node) {
  Type given = node.has(2) ? OnnxNode::elementOf(node.input(2))
                           : node.builder.getIntegerType(8, false);
  if (int64_t number = node.getInt("output_dtype", 0)) {
    FailureOr<Type> type = node.elementType(number);
    if (failed(type))
      return failure();
    if (node.has(2) && *type != given)
      return node.error("output_dtype differs from its zero point's type");
    given = *type;
  }
  if (isa<IntegerType>(given) && (given.getIntOrFloatBitWidth() == 8 ||
                                  given.getIntOrFloatBitWidth() == 16))
    return given;
  return node.error("it quantizes to integers of 8 or 16 bits only");
}

/// The type that the quotient is rounded to: of whole numbers f32.
FailureOr<Type> quotientType(OnnxNode &node) {
  Type given = OnnxNode::elementOf(node.input(1));
  if (int64_t number = node.getInt("precision", 0)) {
    FailureOr<Type> type = node.elementType(number);
    if (failed(type))
      return failure();
    given = *type;
  }
  return isa<FloatType>(given) ? given : node.builder.getF32Type();
}

/// saturate(round(x / scale) + zero)
LogicalResult quantizeLinear(OnnxNode &node) {
  FailureOr<Granularity> scales = readGranularity(node);
  if (failed(scales))
    return failure();
  FailureOr<Type> type = quantizedType(node), between = quotientType(node);
  if (failed(type) || failed(between))
    return failure();
  Value scale = spread(node, node.convert(node.input(1), *between), *scales);
  Value quotient = node.binary(BinaryKind::Div,
                               node.convert(node.input(0), *between), scale);
  return node.finish(
      saturate(node, quotient, spreadInput(node, 2, *scales), *type));
}

//===----------------------------------------------------------------------===//
// DequantizeLinear
//===----------------------------------------------------------------------===//

/// x minus its zero point, as floats: of 8 and 16 bits exact.
Value aboveZero(OnnxNode &node, Value zero, Type floats) {
  Value x = node.input(0);
  if (!zero)
    return node.convert(x, floats);
  bool isWide = OnnxNode::elementOf(x).getIntOrFloatBitWidth() > 16;
  Type between = isWide ? Type(node.builder.getI64Type()) : floats;
  return node.convert(node.binary(BinaryKind::Sub, node.convert(x, between),
                                  node.convert(zero, between)),
                      floats);
}

/// (x - zero) * scale
LogicalResult dequantizeLinear(OnnxNode &node) {
  FailureOr<Granularity> scales = readGranularity(node);
  if (failed(scales) || failed(node.requireFloat(1)))
    return failure();
  Type element = OnnxNode::elementOf(node.input(0));
  if (!isa<IntegerType>(element) || element.isInteger(1))
    return wrongElement(node, 0, "must be of an integer type");
  if (node.has(2) && OnnxNode::elementOf(node.input(2)) != element)
    return differentElements(node, 0, 2);
  Type result = OnnxNode::elementOf(node.input(1));
  if (int64_t number = node.getInt("output_dtype", 0)) {
    FailureOr<Type> type = node.elementType(number);
    if (failed(type))
      return failure();
    if (!isa<FloatType>(*type))
      return node.error("output_dtype is " + onnxElementText(*type) +
                        "; it must be a floating-point type");
    result = *type;
  }
  Value scale = spread(node, node.widened(node.input(1)), *scales);
  Value above = aboveZero(node, spreadInput(node, 2, *scales),
                          OnnxNode::elementOf(scale));
  return node.finish(
      node.convert(node.binary(BinaryKind::Mul, above, scale), result));
}

//===----------------------------------------------------------------------===//
// DynamicQuantizeLinear
//===----------------------------------------------------------------------===//

/// Quantizes to 0..255 so that the range contains the least element, the
/// largest element and 0.
LogicalResult dynamicQuantizeLinear(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  if (node.type(0).getNumElements() == 0)
    return node.error("its input is empty: it has no range");
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  Value most =
      node.binary(BinaryKind::Max, node.reduce(ReduceKind::Max, x, all), 0.0);
  Value least =
      node.binary(BinaryKind::Min, node.reduce(ReduceKind::Min, x, all), 0.0);
  Value width = node.binary(BinaryKind::Sub, most, least);
  Value isFlat =
      node.compare(ComparePredicate::Eq, width, node.splatLike(width, 0));
  Value one = node.splatLike(width, 1); // of zeros alone, as in onnxruntime
  Value scale = node.select(
      isFlat, one,
      node.binary(BinaryKind::Div, width, node.splatLike(width, 255)));
  Type byte = node.builder.getIntegerType(8, false);
  Value zero = saturate(
      node,
      node.unary(UnaryKind::Neg, node.binary(BinaryKind::Div, least, scale)),
      Value(), byte);
  ArrayRef<int64_t> shape = node.shape(0);
  Value quotient =
      node.binary(BinaryKind::Div, x, spreadNumber(node, scale, shape));
  node.setOutput(
      0, saturate(node, quotient, spreadNumber(node, zero, shape), byte));
  if (node.wantsOutput(1))
    node.setOutput(1, scale);
  if (node.wantsOutput(2))
    node.setOutput(2, zero);
  return success();
}

constexpr StringLiteral kQuantize21 =
    "axis:int block_size:int output_dtype:int saturate:int";
constexpr StringLiteral kQuantize23 =
    "axis:int block_size:int output_dtype:int precision:int saturate:int";

const OnnxOp kOps[] = {
    {"QuantizeLinear", "10", 2, 3, "", quantizeLinear},
    {"QuantizeLinear", "13", 2, 3, "axis:int", quantizeLinear},
    {"QuantizeLinear", "19", 2, 3, "axis:int saturate:int", quantizeLinear},
    {"QuantizeLinear", "21", 2, 3, kQuantize21, quantizeLinear},
    {"QuantizeLinear", "23 24 25 28", 2, 3, kQuantize23, quantizeLinear},
    {"DequantizeLinear", "10", 2, 3, "", dequantizeLinear},
    {"DequantizeLinear", "13 19", 2, 3, "axis:int", dequantizeLinear},
    {"DequantizeLinear", "21", 2, 3, "axis:int block_size:int",
     dequantizeLinear},
    {"DequantizeLinear", "23 24 25 28", 2, 3,
     "axis:int block_size:int output_dtype:int", dequantizeLinear},
    {"DynamicQuantizeLinear", "11", 1, 1, "", dynamicQuantizeLinear},
};
} // namespace

ArrayRef<OnnxOp> quantizedOps() { return kOps; }

} // namespace autopar
