//===- OpHelpers.cpp - What the op files of the dialect share -------------===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

SmallVector<int64_t> keptDims(int64_t rank, ArrayRef<int64_t> reduced) {
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(reduced, dim))
      kept.push_back(dim);
  return kept;
}

ShardingRule elementwiseRule(ArrayRef<int64_t> shape, unsigned operands) {
  ShardingRule rule;
  TensorFactors dims;
  for (int64_t size : shape)
    dims.push_back(rule.addFactor(size));
  rule.operands.assign(operands, dims);
  rule.results.push_back(dims);
  return rule;
}

ShardingRule wholeRule(Operation *op) {
  ShardingRule rule;
  for (Value operand : op->getOperands())
    rule.operands.push_back(TensorFactors(shapeOf(operand).size()));
  for (Value result : op->getResults())
    rule.results.push_back(TensorFactors(shapeOf(result).size()));
  return rule;
}

unsigned addSharedFactor(ShardingRule &rule, int64_t size, unsigned operand,
                         unsigned dim, unsigned resultDim) {
  unsigned factor = rule.addFactor(size);
  rule.operands[operand][dim] = factor;
  rule.results[0][resultDim] = factor;
  return factor;
}

void addPass(ShardingRule &rule, ArrayRef<unsigned> operands, ReduceKind kind) {
  PartialPass pass;
  pass.operands.assign(operands.begin(), operands.end());
  pass.kind = kind;
  rule.passes.push_back(std::move(pass));
}

void addMovementPasses(ShardingRule &rule, ArrayRef<unsigned> operands,
                       Type elementType) {
  if (!elementType.isInteger(1))
    addPass(rule, operands, ReduceKind::Sum);
  addPass(rule, operands, ReduceKind::Max);
  addPass(rule, operands, ReduceKind::Min);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank,
                        StringRef name) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << name << " " << dim
                           << " is no dimension of a tensor of rank " << rank;
}

LogicalResult verifyIncreasing(Operation *op, ArrayRef<int64_t> dims,
                               int64_t rank, StringRef name) {
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (failed(verifyDim(op, dim, rank, name)))
      return failure();
    if (index > 0 && dims[index - 1] >= dim)
      return op->emitOpError() << name << " must be strictly increasing";
  }
  return success();
}

LogicalResult verifyCount(Operation *op, ArrayRef<int64_t> list, size_t count,
                          StringRef name) {
  if (list.size() == count)
    return success();
  return op->emitOpError() << name << " must have " << count
                           << " entries, one per dimension, not "
                           << list.size();
}

LogicalResult verifyResult(Operation *op, ArrayRef<int64_t> shape, Value like) {
  auto expected = RankedTensorType::get(shape, elementOf(like));
  if (op->getResult(0).getType() == expected)
    return success();
  return op->emitOpError() << "result must have type " << expected;
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

/// Clamps to what the type holds; NaN is 0.
static APInt toInteger(IntegerType type, double value) {
  bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  APSInt result(type.getWidth(), isUnsigned);
  bool exact;
  APFloat(value).convertToInteger(result, APFloat::rmTowardZero, &exact);
  return result;
}

TypedAttr elementAttr(Type type, double value) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerAttr::get(integer, toInteger(integer, value));
  auto floating = cast<FloatType>(type);
  APFloat converted(value);
  bool loses;
  converted.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &loses);
  return FloatAttr::get(floating, converted);
}

Value createSplat(OpBuilder &builder, Location loc, RankedTensorType type,
                  double value) {
  Attribute element = elementAttr(type.getElementType(), value);
  return ConstantOp::create(builder, loc,
                            DenseElementsAttr::get(type, element));
}

bool isWidening(FloatType from, FloatType to) {
  return APFloat::isRepresentableBy(from.getFloatSemantics(),
                                    to.getFloatSemantics());
}

Attribute splatElement(Attribute constant) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(constant);
  return splat ? splat.getSplatValue<Attribute>() : Attribute();
}

Value throughReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

} // namespace autopar
