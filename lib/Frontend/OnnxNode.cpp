//===- OnnxNode.cpp - What a builder sees of a node -----------------------===//

#include "OnnxNode.h"
#include "OnnxImporter.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

OnnxNode::OnnxNode(OnnxImporter &importer, const onnx::NodeProto &proto,
                   const OnnxOp &op, int64_t version, Location loc)
    : version(version), loc(loc), builder(importer.builder),
      importer(importer), proto(proto), op(op) {
  outputs.resize(proto.output_size());
}

LogicalResult OnnxNode::error(const Twine &message) {
  return importer.error(loc, "node '" + nodeName(loc) + "' (" + op.name +
                                 ", version " + Twine(version) +
                                 "): " + message);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool OnnxNode::isOnlyUse(unsigned i) const {
  Value value = inputs[i];
  return importer.countUses(proto.input(i)) == 1 && value.use_empty() &&
         !importer.isAliased(value);
}

FailureOr<SmallVector<int64_t>> OnnxNode::ints(unsigned i) {
  std::optional<interpreter::Tensor> tensor = importer.knownTensor(inputs[i]);
  if (!tensor)
    return error("its input " + Twine(i) + " ('" + proto.input(i) +
                 "') must be known while compiling: a constant, or computed "
                 "from shapes and constants whose bytes are there");
  if (tensor->isFloat())
    return error("its input " + Twine(i) + " ('" + proto.input(i) +
                 "') must be of an integer type");
  return SmallVector<int64_t>(tensor->ints.begin(), tensor->ints.end());
}

FailureOr<int64_t> OnnxNode::scalarInt(unsigned i) {
  FailureOr<SmallVector<int64_t>> values = ints(i);
  if (failed(values))
    return failure();
  if (values->size() != 1)
    return error("its input " + Twine(i) + " ('" + proto.input(i) +
                 "') must hold one number");
  return values->front();
}

std::optional<SmallVector<double>> OnnxNode::knownNumbers(unsigned i) {
  std::optional<interpreter::Tensor> tensor = importer.knownTensor(inputs[i]);
  if (!tensor)
    return std::nullopt;
  SmallVector<double> out;
  for (int64_t j = 0; j < tensor->size(); ++j)
    out.push_back(tensor->getDouble(j));
  return out;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const onnx::AttributeProto *OnnxNode::attribute(StringRef name) const {
  for (const onnx::AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t OnnxNode::getInt(StringRef name, int64_t byDefault) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? found->i() : byDefault;
}

double OnnxNode::getFloat(StringRef name, double byDefault) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? double(found->f()) : byDefault;
}

StringRef OnnxNode::getString(StringRef name, StringRef byDefault) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? StringRef(found->s()) : byDefault;
}

SmallVector<int64_t> OnnxNode::getInts(StringRef name) const {
  const onnx::AttributeProto *found = attribute(name);
  if (!found)
    return {};
  return {found->ints().begin(), found->ints().end()};
}

FailureOr<int64_t> OnnxNode::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return error("axis " + Twine(axis) + " is outside of rank " + Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

FailureOr<SmallVector<int64_t>> OnnxNode::normalizeAxes(ArrayRef<int64_t> axes,
                                                        int64_t rank) {
  SmallVector<int64_t> out;
  for (int64_t axis : axes) {
    FailureOr<int64_t> normal = normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(out, *normal))
      return error("axis " + Twine(axis) + " is there twice");
    out.push_back(*normal);
  }
  llvm::sort(out);
  return out;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

FailureOr<Type> OnnxNode::elementType(int64_t onnxDataType) {
  if (Type type = importer.elementType(onnxDataType))
    return type;
  return error("element type " + onnxElementName(onnxDataType) + " (" +
               Twine(onnxDataType) + ") is not supported");
}

LogicalResult OnnxNode::requireFloat(unsigned i) {
  if (isa<FloatType>(elementOf(inputs[i])))
    return success();
  return error("its input " + Twine(i) + " must be of a floating-point type");
}

LogicalResult OnnxNode::requireRank(unsigned i, int64_t low, int64_t high) {
  if (rank(i) >= low && rank(i) <= high)
    return success();
  return error("its input " + Twine(i) + " has rank " + Twine(rank(i)) +
               "; it must be " + Twine(low) +
               (low == high ? Twine() : " to " + Twine(high)));
}

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return text + "]";
}

FailureOr<SmallVector<int64_t>>
OnnxNode::broadcastShape(ArrayRef<Value> values) {
  SmallVector<int64_t> out;
  for (Value value : values)
    if (rankOf(value) > int64_t(out.size()))
      out.insert(out.begin(), rankOf(value) - out.size(), 1);
  for (Value value : values) {
    ArrayRef<int64_t> shape = shapeOf(value);
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &size = out[out.size() - shape.size() + i];
      if (size != shape[i] && size != 1 && shape[i] != 1) {
        std::string shapes;
        for (Value other : values)
          shapes += " " + printShape(shapeOf(other));
        return error("shapes do not fit together:" + shapes);
      }
      size = size == 1 ? shape[i] : size;
    }
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Small integers, and floats that are no larger than what they are made of.
static bool isWorthFolding(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<uint64_t> size = countElements(type.getShape(), 1);
  if (!size || *size > kSmallTensor)
    return false;
  return isa<IntegerType>(type.getElementType()) ||
         llvm::any_of(op->getOperandTypes(), [&](Type operand) {
           return cast<RankedTensorType>(operand).getNumElements() >=
                  int64_t(*size);
         });
}

/// Evaluates an op on small constants, so that arithmetic on shapes leaves
/// nothing behind.
Value OnnxNode::fold(Operation *op) {
  Value result = op->getResult(0);
  if (!isWorthFolding(op))
    return result;
  SmallVector<interpreter::Tensor> operands;
  for (Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<ConstantOp>();
    std::optional<uint64_t> count = countElements(shapeOf(operand), 1);
    if (!constant || !count || *count > 1 << 16)
      return result;
    FailureOr<interpreter::Tensor> tensor =
        interpreter::fromElements(constant.getValue());
    if (failed(tensor))
      return result;
    operands.push_back(std::move(*tensor));
  }
  SmallVector<const interpreter::Tensor *> pointers;
  for (const interpreter::Tensor &operand : operands)
    pointers.push_back(&operand);
  if (failed(mlir::verify(op)))
    return result;
  FailureOr<interpreter::Tensor> value = interpreter::evaluate(op, pointers);
  if (failed(value))
    return result;
  op->erase();
  return importer.constant(interpreter::toElements(*value), loc);
}

static Attribute numberAttr(Type element, double value) {
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, value);
  return IntegerAttr::get(
      element, APInt(element.getIntOrFloatBitWidth(), int64_t(value),
                     /*isSigned=*/true, /*implicitTrunc=*/true));
}

Value OnnxNode::splat(RankedTensorType type, double value) {
  return importer.constant(
      DenseElementsAttr::get(type, numberAttr(type.getElementType(), value)),
      loc);
}

Value OnnxNode::scalarInts(ArrayRef<int64_t> values, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  return importer.constant(DenseElementsAttr::get(type, values), loc);
}

Value OnnxNode::floats(ArrayRef<double> values, Type element) {
  SmallVector<Attribute> elements;
  for (double value : values)
    elements.push_back(numberAttr(element, value));
  auto type = RankedTensorType::get({int64_t(values.size())}, element);
  return importer.constant(DenseElementsAttr::get(type, elements), loc);
}

Value OnnxNode::denseConstant(DenseElementsAttr elements) {
  return importer.constant(elements, loc);
}

Value OnnxNode::ownTensor() { return importer.tensorValue(proto.output(0)); }

Value OnnxNode::unary(UnaryKind kind, Value x) {
  RankedTensorType type = typeOf(x);
  if (kind == UnaryKind::IsNan || kind == UnaryKind::IsInf)
    type = type.clone(builder.getI1Type());
  return create<UnaryOp>(type, kind, x);
}

/// A constant with only zeros.
static bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  if (!splat)
    return false;
  Attribute element = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().isZero();
  return cast<IntegerAttr>(element).getValue().isZero();
}

Value OnnxNode::binary(BinaryKind kind, Value a, Value b) {
  // Exporters write biases of zeros; nothing shall hide a convolution from the
  // norm after it.
  if (kind == BinaryKind::Add && isZero(b))
    return a;
  return create<BinaryOp>(a.getType(), kind, a, b);
}

Value OnnxNode::compare(ComparePredicate predicate, Value a, Value b) {
  return create<CompareOp>(typeOf(a).clone(builder.getI1Type()), predicate, a,
                           b);
}

Value OnnxNode::select(Value condition, Value a, Value b) {
  return create<SelectOp>(a.getType(), condition, a, b);
}

Value OnnxNode::convert(Value x, Type element) {
  if (elementOf(x) == element)
    return x;
  return create<ConvertOp>(typeOf(x).clone(element), x);
}

Value OnnxNode::broadcastDims(Value x, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> dims) {
  if (shapeOf(x) == shape)
    return x;
  auto type = RankedTensorType::get(shape, elementOf(x));
  if (auto constant = x.getDefiningOp<ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return importer.constant(
          DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()), loc);
  return create<BroadcastOp>(type, x, dims);
}

Value OnnxNode::broadcastTo(Value x, ArrayRef<int64_t> shape) {
  int64_t rank = rankOf(x);
  auto dims = llvm::to_vector(
      llvm::seq<int64_t>(shape.size() - rank, shape.size()));
  return broadcastDims(x, shape, dims);
}

Value OnnxNode::reshape(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  auto type = RankedTensorType::get(shape, elementOf(x));
  if (auto constant = x.getDefiningOp<ConstantOp>())
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return importer.constant(dense.reshape(type), loc);
  return create<ReshapeOp>(type, x);
}

Value OnnxNode::transpose(Value x, ArrayRef<int64_t> perm) {
  if (llvm::is_sorted(perm))
    return x;
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(shapeOf(x)[dim]);
  return create<TransposeOp>(RankedTensorType::get(shape, elementOf(x)), x,
                             perm);
}

Value OnnxNode::slice(Value x, ArrayRef<int64_t> starts,
                      ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps) {
  SmallVector<int64_t> ones(starts.size(), 1);
  if (steps.empty())
    steps = ones;
  bool whole = llvm::all_of(steps, [](int64_t step) { return step == 1; });
  if (whole && shapeOf(x) == sizes)
    return x;
  return create<SliceOp>(RankedTensorType::get(sizes, elementOf(x)), x, starts,
                         steps);
}

Value OnnxNode::concat(ArrayRef<Value> values, int64_t dim) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> shape(shapeOf(values.front()));
  shape[dim] = 0;
  for (Value value : values)
    shape[dim] += shapeOf(value)[dim];
  return create<ConcatOp>(
      RankedTensorType::get(shape, elementOf(values.front())), values, dim);
}

Value OnnxNode::gather(Value data, Value indices, int64_t dim) {
  SmallVector<int64_t> shape(shapeOf(data).take_front(dim));
  llvm::append_range(shape, shapeOf(indices));
  llvm::append_range(shape, shapeOf(data).drop_front(dim + 1));
  return create<GatherOp>(RankedTensorType::get(shape, elementOf(data)), data,
                          indices, Value(), dim, IntegerAttr());
}

Value OnnxNode::iota(RankedTensorType type, int64_t dim) {
  return create<IotaOp>(type, dim, Value());
}

Value OnnxNode::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return x;
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(shapeOf(x)))
    if (!llvm::is_contained(dims, i))
      shape.push_back(size);
  return create<ReduceOp>(RankedTensorType::get(shape, elementOf(x)), kind, x,
                          dims);
}

Value OnnxNode::mean(Value x, ArrayRef<int64_t> dims) {
  double count = 1;
  for (int64_t dim : dims)
    count *= shapeOf(x)[dim];
  Value sum = reduce(ReduceKind::Sum, x, dims);
  if (!isa<FloatType>(elementOf(x)))
    return binary(BinaryKind::Div, sum, count);
  return binary(BinaryKind::Mul, sum, 1.0 / count);
}

Value OnnxNode::einsum(StringRef lhs, StringRef rhs, StringRef result, Value a,
                       Value b) {
  SmallVector<int64_t> shape;
  for (char letter : result) {
    size_t inLhs = lhs.find(letter);
    shape.push_back(inLhs != StringRef::npos ? shapeOf(a)[inLhs]
                                             : shapeOf(b)[rhs.find(letter)]);
  }
  return create<EinsumOp>(RankedTensorType::get(shape, elementOf(a)),
                          (lhs + "," + rhs + "->" + result).str(), a, b);
}

Value OnnxNode::binaryAlong(BinaryKind kind, Value x, Value v, int64_t dim) {
  return binary(kind, x, broadcastDims(v, shapeOf(x), {dim}));
}

} // namespace autopar
