//===- OnnxNodeOps.cpp - The vocabulary that builders make ops with -------===//

#include "OnnxImporter.h"
#include "OnnxNode.h"

using namespace mlir;

namespace autopar {

/// Small integers, and floats that are no larger than what they are made of.
static bool isWorthFolding(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<uint64_t> size = countElements(type.getShape(), 1);
  if (!size || *size > kSmallTensor)
    return false;
  return isa<IntegerType>(type.getElementType()) ||
         llvm::any_of(op->getOperandTypes(), [&](Type operand) {
           auto shape = cast<RankedTensorType>(operand).getShape();
           return countElements(shape, 1).value_or(UINT64_MAX) >= *size;
         });
}

/// An op on constants whose result is small becomes a constant, so that
/// arithmetic on shapes leaves nothing behind.
Value OnnxNode::fold(Operation *op) {
  Value result = op->getResult(0);
  bool isConstant = !importer.keepsAll && isWorthFolding(op) &&
                    llvm::all_of(op->getOperands(), [&](Value operand) {
                      return importer.known.followsFromConstants(operand);
                    });
  FailureOr<interpreter::Tensor> value = failure();
  if (isConstant)
    value = importer.known.evaluate(op);
  if (failed(value)) {
    importer.known.note(op);
    return result;
  }
  op->erase();
  return importer.constant(interpreter::toElements(*value), loc);
}

FailureOr<Value> OnnxNode::sequence(ArrayRef<Value> tensors) {
  constexpr size_t kTensorsPerNode = 64; // in memory and time
  if (failed(unroll(1 + tensors.size() / kTensorsPerNode)))
    return failure();
  auto type = TupleType::get(builder.getContext());
  return UnrealizedConversionCastOp::create(builder, loc, type, tensors)
      .getResult(0);
}

SmallVector<Value> OnnxNode::tensorsOf(Value sequence) {
  return sequence.getDefiningOp<UnrealizedConversionCastOp>().getInputs();
}

static Attribute numberAttr(Type element, double value) {
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, value);
  return IntegerAttr::get(element,
                          APInt(element.getIntOrFloatBitWidth(), int64_t(value),
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

std::optional<Value> OnnxNode::bitsOf(unsigned i, Type element) {
  interpreter::TensorRef from = importer.known.get(inputs[i]);
  if (!from)
    return std::nullopt;
  interpreter::Tensor to(typeOf(inputs[i]).clone(element));
  uint8_t bytes[sizeof(uint64_t)];
  for (int64_t at = 0; at < to.size(); ++at) {
    interpreter::storeElement(*from, at, bytes);
    interpreter::loadElement(to, at, bytes);
  }
  return importer.constant(interpreter::toElements(to), loc);
}

Value OnnxNode::denseConstant(DenseElementsAttr elements) {
  return importer.constant(elements, loc);
}

Value OnnxNode::ownTensor() {
  return importer.tensorValue(attribute("value")->t());
}

Value OnnxNode::unary(UnaryKind kind, Value x) {
  return create<UnaryOp>(kind, x);
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
  auto dims =
      llvm::to_vector(llvm::seq<int64_t>(shape.size() - rank, shape.size()));
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

Value OnnxNode::insertDim(Value x, int64_t dim) {
  SmallVector<int64_t> shape(shapeOf(x));
  shape.insert(shape.begin() + dim, 1);
  return reshape(x, shape);
}

Value OnnxNode::dropDim(Value x, int64_t dim) {
  SmallVector<int64_t> shape(shapeOf(x));
  shape.erase(shape.begin() + dim);
  return reshape(x, shape);
}

Value OnnxNode::take(Value x, int64_t dim, int64_t at) {
  SmallVector<int64_t> shape(shapeOf(x)), starts(shape.size(), 0);
  starts[dim] = at;
  shape[dim] = 1;
  return dropDim(slice(x, starts, shape), dim);
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

Value OnnxNode::swapDims(Value x, int64_t a, int64_t b) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  std::swap(perm[a], perm[b]);
  return transpose(x, perm);
}

Value OnnxNode::slice(Value x, ArrayRef<int64_t> starts,
                      ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps) {
  SmallVector<int64_t> ones(starts.size(), 1);
  if (steps.empty())
    steps = ones;
  bool whole = llvm::all_of(steps, [](int64_t step) { return step == 1; });
  if (whole && shapeOf(x) == sizes && !importer.keepsAll)
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

Value OnnxNode::gatherElements(Value data, Value indices, int64_t dim) {
  return create<GatherElementsOp>(typeOf(data).clone(shapeOf(indices)), data,
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

Type OnnxNode::widened(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() < 32 ? builder.getF32Type() : element;
}

/// The one float type of `values`, if it has 16 bits.
static FloatType commonHalf(ArrayRef<Value> values) {
  FloatType common;
  for (Value value : values) {
    auto type =
        value ? dyn_cast<FloatType>(OnnxNode::elementOf(value)) : FloatType();
    if (type && common && type != common)
      return {};
    common = type ? type : common;
  }
  return common && common.getWidth() < 32 ? common : FloatType();
}

LogicalResult OnnxNode::buildWidened(OnnxBuilder build) {
  FloatType type = commonHalf(inputs);
  if (!type)
    return build(*this);
  for (Value &input : inputs)
    if (input)
      input = widened(input);
  if (failed(build(*this)))
    return failure();
  for (Value &output : outputs)
    if (output && elementOf(output).isF32())
      output = convert(output, type);
  return success();
}

Value OnnxNode::mean(Value x, ArrayRef<int64_t> dims) {
  Type element = elementOf(x);
  bool isFloat = isa<FloatType>(element);
  double count = 1;
  for (int64_t dim : dims)
    count *= shapeOf(x)[dim];
  Value sum =
      reduce(ReduceKind::Sum,
             isFloat ? widened(x) : convert(x, builder.getI64Type()), dims);
  return convert(isFloat ? binary(BinaryKind::Mul, sum, 1.0 / count)
                         : binary(BinaryKind::Div, sum, count),
                 element);
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
