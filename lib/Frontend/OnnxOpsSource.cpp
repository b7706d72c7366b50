//===- OnnxOpsSource.cpp - ONNX operators that make values of nothing -----===//

#include "ElementTypes.h"
#include "OnnxImporter.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

LogicalResult constant(OnnxNode &node) {
  if (node.attributeCount() != 1)
    return node.error("it must have one attribute with its value");
  if (node.hasAttribute("value")) {
    Value value = node.ownTensor();
    return value ? node.finish(value) : failure(); // reported with the tensors
  }
  if (const onnx::AttributeProto *ints = node.attribute("value_ints")) {
    SmallVector<int64_t> values(ints->ints().begin(), ints->ints().end());
    return node.finish(node.scalarInts(values, {int64_t(values.size())}));
  }
  if (node.hasAttribute("value_int"))
    return node.finish(node.scalarInts({node.getInt("value_int", 0)}, {}));
  Type f32 = node.builder.getF32Type();
  if (node.hasAttribute("value_float"))
    return node.finish(node.splat(RankedTensorType::get({}, f32),
                                  node.getFloat("value_float", 0)));
  if (const onnx::AttributeProto *floats = node.attribute("value_floats")) {
    SmallVector<float> values(floats->floats().begin(), floats->floats().end());
    auto type = RankedTensorType::get({int64_t(values.size())}, f32);
    return node.finish(node.denseConstant(
        DenseElementsAttr::get(type, ArrayRef<float>(values))));
  }
  return node.error("only tensors, integers and floats are supported");
}

/// Sizes must not be negative nor overflow.
LogicalResult checkSizes(OnnxNode &node, ArrayRef<int64_t> sizes) {
  if (countElements(sizes, 16))
    return success();
  return node.error("its result's shape is negative or too large");
}

LogicalResult constantOfShape(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> shape = node.ints(0);
  if (failed(shape) || failed(checkSizes(node, *shape)))
    return failure();
  Type f32 = node.builder.getF32Type();
  const onnx::AttributeProto *value = node.attribute("value");
  if (!value)
    return node.finish(node.splat(RankedTensorType::get(*shape, f32), 0));
  llvm::Expected<OnnxTensor> tensor = checkTensor(value->t(), std::nullopt);
  if (!tensor)
    return node.error("attribute 'value': " +
                      llvm::toString(tensor.takeError()));
  if (tensor->elements != 1 || tensor->place != OnnxTensor::InMessage)
    return node.error("attribute 'value' must hold one element");
  FailureOr<Type> element = node.elementType(tensor->dataType);
  if (failed(element))
    return failure();
  interpreter::Tensor one(RankedTensorType::get({1}, *element));
  std::vector<char> bytes = bytesInMessage(*tensor);
  interpreter::loadElement(one, 0,
                           reinterpret_cast<const uint8_t *>(bytes.data()));
  Attribute splat = *interpreter::toElements(one).value_begin<Attribute>();
  return node.finish(node.denseConstant(
      DenseElementsAttr::get(RankedTensorType::get(*shape, *element), splat)));
}

//===----------------------------------------------------------------------===//
// Facts about shapes
//===----------------------------------------------------------------------===//

LogicalResult shapeOf(OnnxNode &node) {
  int64_t rank = node.rank(0);
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = clamp(node.getInt("start", 0));
  int64_t end = std::max(start, clamp(node.getInt("end", rank)));
  ArrayRef<int64_t> sizes = node.shape(0).slice(start, end - start);
  return node.finish(node.scalarInts(sizes, {int64_t(sizes.size())}));
}

LogicalResult sizeOf(OnnxNode &node) {
  return node.finish(node.scalarInts({node.type(0).getNumElements()}, {}));
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

LogicalResult range(OnnxNode &node) {
  double numbers[3];
  for (unsigned i = 0; i < 3; ++i) {
    std::optional<SmallVector<double>> known = node.knownNumbers(i);
    if (!known || known->size() != 1)
      return node.error("its input " + Twine(i) +
                        " must be one number, known while compiling" +
                        node.howToBind(i));
    numbers[i] = known->front();
    if (OnnxNode::elementOf(node.input(i)) !=
        OnnxNode::elementOf(node.input(0)))
      return differentElements(node, 0, i);
  }
  auto [start, limit, delta] = numbers;
  double count = std::ceil((limit - start) / delta);
  if (delta == 0 || !(std::abs(count) < double(1ull << 40)))
    return node.error("it has no end");
  Type element = OnnxNode::elementOf(node.input(0));
  auto type = RankedTensorType::get({int64_t(std::max(count, 0.0))},
                                    node.widened(element));
  Value result = node.iota(type, 0);
  if (delta != 1)
    result = node.binary(BinaryKind::Mul, result, delta);
  if (start != 0)
    result = node.binary(BinaryKind::Add, result, start);
  return node.finish(node.convert(result, element));
}

/// Row and column numbers of a [.., rows, columns] shape, as i64.
struct Positions {
  Value row, column;
};
Positions positions(OnnxNode &node, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, node.builder.getI64Type());
  int64_t rank = shape.size();
  return {node.iota(type, rank - 2), node.iota(type, rank - 1)};
}

/// Keeps column >= row + k (upper) or column <= row + k, zeros elsewhere.
LogicalResult trilu(OnnxNode &node) {
  if (node.rank(0) < 2)
    return node.error("its input must have two dimensions or more");
  FailureOr<int64_t> k =
      node.has(1) ? node.scalarInt(1) : FailureOr<int64_t>(0);
  if (failed(k))
    return failure();
  auto [row, column] = positions(node, node.shape(0).take_back(2));
  Value diagonal = node.binary(BinaryKind::Add, row, double(*k));
  Value keep = node.compare(node.getInt("upper", 1) ? ComparePredicate::Ge
                                                    : ComparePredicate::Le,
                            column, diagonal);
  keep = node.broadcastTo(keep, node.shape(0));
  return node.finish(
      node.select(keep, node.input(0), node.splatLike(node.input(0), 0)));
}

LogicalResult eyeLike(OnnxNode &node) {
  if (failed(node.requireRank(0, 2, 2)))
    return failure();
  Type element = OnnxNode::elementOf(node.input(0));
  if (node.hasAttribute("dtype")) {
    FailureOr<Type> given = node.elementType(node.getInt("dtype", 0));
    if (failed(given))
      return failure();
    element = *given;
  }
  auto [row, column] = positions(node, node.shape(0));
  Value diagonal =
      node.binary(BinaryKind::Add, row, double(node.getInt("k", 0)));
  return node.finish(node.convert(
      node.compare(ComparePredicate::Eq, column, diagonal), element));
}

/// indices[..., i, ...] == position along `axis` ? on : off
LogicalResult oneHot(OnnxNode &node) {
  std::optional<SmallVector<double>> known = node.knownNumbers(1);
  if (!known || known->size() != 1)
    return node.error("its input 1 ('depth') must be one number, known while "
                      "compiling" +
                      node.howToBind(1));
  if (!(known->front() >= 1 && known->front() < double(1ull << 40)))
    return node.error("depth " + std::to_string(known->front()) +
                      " is out of range");
  int64_t depth = int64_t(known->front());
  if (OnnxNode::typeOf(node.input(2)).getShape() != ArrayRef<int64_t>({2}))
    return node.error("values must hold two elements");
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), node.rank(0) + 1);
  if (failed(axis))
    return failure();
  Type i64 = node.builder.getI64Type();
  Value indices = node.convert(node.input(0), i64);
  Value negative =
      node.compare(ComparePredicate::Lt, indices, node.splatLike(indices, 0));
  indices = node.select(
      negative, node.binary(BinaryKind::Add, indices, double(depth)), indices);
  SmallVector<int64_t> shape(node.shape(0)), dims;
  shape.insert(shape.begin() + *axis, depth);
  if (failed(checkSizes(node, shape)))
    return failure();
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (d != *axis)
      dims.push_back(d);
  Value hit = node.compare(ComparePredicate::Eq,
                           node.broadcastDims(indices, shape, dims),
                           node.iota(RankedTensorType::get(shape, i64), *axis));
  Value off = node.reshape(node.slice(node.input(2), {0}, {1}), {});
  Value on = node.reshape(node.slice(node.input(2), {1}, {1}), {});
  return node.finish(node.select(hit, node.broadcastTo(on, shape),
                                 node.broadcastTo(off, shape)));
}

constexpr StringLiteral kAnyValue =
    "sparse_value:sparse_tensor value:tensor value_float:float "
    "value_floats:floats value_int:int value_ints:ints value_string:string "
    "value_strings:strings";

const OnnxOp kOps[] = {
    {"Constant", "1 9", 0, 0, "value:tensor!", constant},
    {"Constant", "11", 0, 0, "sparse_value:sparse_tensor value:tensor",
     constant},
    {"Constant", "12 13 19 21 23 24 25", 0, 0, kAnyValue, constant},
    {"ConstantOfShape", "9 20 21 23 24 25", 1, 1, "value:tensor",
     constantOfShape},
    {"Shape", "1 13", 1, 1, "", shapeOf},
    {"Shape", "15 19 21 23 24 25", 1, 1, "end:int start:int", shapeOf},
    {"Size", "1 13 19 21 23 24 25", 1, 1, "", sizeOf},
    {"Range", "11", 3, 3, "", range},
    {"Range", "27", 3, 3, "stash_type:int", range},
    {"Trilu", "14", 1, 2, "upper:int", trilu},
    {"EyeLike", "9 22", 1, 1, "dtype:int k:int", eyeLike},
    {"OneHot", "9 11 28", 3, 3, "axis:int", oneHot},
};
} // namespace

ArrayRef<OnnxOp> sourceOps() { return kOps; }

} // namespace autopar
