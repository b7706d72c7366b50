//===- GatherOps.cpp - Ops that read at computed indices ------------------===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  ArrayRef<int64_t> data = shapeOf(getData());
  if (failed(verifyDim(*this, getDim(), data.size())))
    return failure();
  if (bool(getOffset()) != getSize().has_value())
    return emitOpError("needs offset and size together or neither");
  SmallVector<int64_t> shape(data.take_front(getDim()));
  llvm::append_range(shape, shapeOf(getIndices()));
  llvm::append_range(shape, data.drop_front(getDim() + 1));
  return verifyResult(*this, shape, getData());
}

/// Index of the factor of the addressed dimension; nullopt: it does not split.
static std::optional<unsigned> rowFactor(const DimFactors &row) {
  if (row.factors.empty())
    return std::nullopt;
  return row.factors.front();
}

ShardingRule GatherOp::getShardingRule() {
  ArrayRef<int64_t> data = shapeOf(getData()), indices = shapeOf(getIndices());
  size_t row = getDim();
  ShardingRule rule = wholeRule(*this);
  for (size_t dim = 0; dim < row; ++dim)
    addSharedFactor(rule, data[dim], 0, dim, dim);
  for (size_t dim = 0; dim < indices.size(); ++dim)
    addSharedFactor(rule, indices[dim], 1, dim, row + dim);
  for (size_t dim = row + 1; dim < data.size(); ++dim)
    addSharedFactor(rule, data[dim], 0, dim, dim - 1 + indices.size());
  if (elementOf(getData()).isInteger(1))
    return rule; // bools have no sum
  if (!getOffset())
    rule.operands[0][row] = rule.addFactor(data[row], FactorKind::Reduce);
  addPass(rule, {0}, ReduceKind::Sum);
  return rule;
}

/// If the rows of `tensor`, whose factors are `row`, are split, the local op
/// gets the block's offset and the whole size.
template <typename OpT>
static Operation *localizeRows(OpT op, Value tensor, const DimFactors &row,
                               OpBuilder &builder, ValueRange operands,
                               TypeRange resultTypes,
                               const Localization &localization) {
  std::optional<unsigned> factor = rowFactor(row);
  if (!factor || localization.subAxes(*factor).empty())
    return cloneLocal(op, builder, operands, resultTypes);
  Value offset =
      BlockOffsetOp::create(builder, op.getLoc(), localization, *factor);
  Operation *local =
      cloneLocal(op, builder, {operands[0], operands[1], offset}, resultTypes);
  cast<OpT>(local).setSize(shapeOf(tensor)[op.getDim()]);
  return local;
}

Operation *GatherOp::localize(OpBuilder &builder, ValueRange operands,
                              TypeRange resultTypes,
                              const Localization &localization) {
  return localizeRows(*this, getData(), localization.rule.operands[0][getDim()],
                      builder, operands, resultTypes, localization);
}

KernelClass GatherOp::getKernelClass() { return KernelClass::Movement; }

//===----------------------------------------------------------------------===//
// gather_elements
//===----------------------------------------------------------------------===//

LogicalResult GatherElementsOp::verify() {
  ArrayRef<int64_t> data = shapeOf(getData()), indices = shapeOf(getIndices());
  if (failed(verifyDim(*this, getDim(), data.size())))
    return failure();
  if (bool(getOffset()) != getSize().has_value())
    return emitOpError("needs offset and size together or neither");
  SmallVector<int64_t> shape(data);
  if (indices.size() == data.size())
    shape[getDim()] = indices[getDim()];
  if (ArrayRef<int64_t>(shape) != indices)
    return emitOpError("data and indices must agree in all dimensions but dim");
  return verifyResult(*this, shape, getData());
}

ShardingRule GatherElementsOp::getShardingRule() {
  ArrayRef<int64_t> data = shapeOf(getData()), indices = shapeOf(getIndices());
  ShardingRule rule = wholeRule(*this);
  for (size_t dim = 0; dim < data.size(); ++dim) {
    unsigned factor = addSharedFactor(rule, indices[dim], 1, dim, dim);
    if (dim != size_t(getDim()))
      rule.operands[0][dim] = factor;
  }
  if (elementOf(getData()).isInteger(1))
    return rule; // bools have no sum
  if (!getOffset())
    rule.operands[0][getDim()] =
        rule.addFactor(data[getDim()], FactorKind::Reduce);
  addPass(rule, {0}, ReduceKind::Sum);
  return rule;
}

Operation *GatherElementsOp::localize(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const Localization &localization) {
  return localizeRows(*this, getData(), localization.rule.operands[0][getDim()],
                      builder, operands, resultTypes, localization);
}

KernelClass GatherElementsOp::getKernelClass() { return KernelClass::Movement; }

//===----------------------------------------------------------------------===//
// gather_nd
//===----------------------------------------------------------------------===//

LogicalResult GatherNdOp::verify() {
  ArrayRef<int64_t> data = shapeOf(getData()), indices = shapeOf(getIndices());
  int64_t batch = getBatchDims();
  if (indices.empty() || batch < 0 || batch >= int64_t(indices.size()))
    return emitOpError() << "batch_dims " << batch
                         << " must leave indices their last dimension";
  int64_t addressed = indices.back();
  if (batch + addressed > int64_t(data.size()) || addressed < 1)
    return emitOpError() << "indices address " << addressed
                         << " dimensions after " << batch
                         << " batch dimensions, data has " << data.size();
  if (data.take_front(batch) != indices.take_front(batch))
    return emitOpError("data and indices must agree in the batch dimensions");
  SmallVector<int64_t> shape(indices.drop_back());
  llvm::append_range(shape, data.drop_front(batch + addressed));
  return verifyResult(*this, shape, getData());
}

ShardingRule GatherNdOp::getShardingRule() {
  ArrayRef<int64_t> data = shapeOf(getData()), indices = shapeOf(getIndices());
  size_t batch = getBatchDims();
  ShardingRule rule = wholeRule(*this);
  for (size_t dim = 0; dim + 1 < indices.size(); ++dim) {
    unsigned factor = addSharedFactor(rule, indices[dim], 1, dim, dim);
    if (dim < batch)
      rule.operands[0][dim] = factor;
  }
  size_t sliced = batch + indices.back();
  for (size_t dim = sliced; dim < data.size(); ++dim)
    addSharedFactor(rule, data[dim], 0, dim, dim - sliced + indices.size() - 1);
  addMovementPasses(rule, {0}, elementOf(getData()));
  return rule;
}

KernelClass GatherNdOp::getKernelClass() { return KernelClass::Movement; }

LoopRole GatherNdOp::getLoopRole() { return LoopRole::Whole; }

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

LogicalResult ScatterOp::verify() {
  ArrayRef<int64_t> result = shapeOf(getResult()),
                    indices = shapeOf(getIndices());
  if (failed(verifyDim(*this, getDim(), result.size())))
    return failure();
  if (getKind() == ReduceKind::Prod)
    return emitOpError("has no kind prod");
  if (elementOf(getUpdates()).isInteger(1))
    return emitOpError("is not defined on i1");
  if (bool(getOffset()) != getSize().has_value())
    return emitOpError("needs offset and size together or neither");
  size_t batch = getBatchRank();
  if (indices.size() < batch ||
      indices.take_front(batch) != result.take_front(batch))
    return emitOpError("batched indices must begin with the dimensions of the "
                       "result before dim");
  SmallVector<int64_t> shape(result.take_front(getDim()));
  llvm::append_range(shape, getPointShape());
  llvm::append_range(shape, result.drop_front(getDim() + 1));
  if (getUpdates().getType() !=
      RankedTensorType::get(shape, elementOf(getResult())))
    return emitOpError() << "updates must have type "
                         << RankedTensorType::get(shape,
                                                  elementOf(getResult()));
  return success();
}

ShardingRule ScatterOp::getShardingRule() {
  ArrayRef<int64_t> to = shapeOf(getResult()), points = getPointShape();
  size_t row = getDim(), batch = getBatchRank();
  ShardingRule rule = wholeRule(*this);
  for (size_t dim = 0; dim < row; ++dim) {
    unsigned factor = addSharedFactor(rule, to[dim], 0, dim, dim);
    if (dim < batch)
      rule.operands[1][dim] = factor;
  }
  for (size_t dim = 0; dim < points.size(); ++dim) {
    unsigned factor = rule.addFactor(points[dim], FactorKind::Reduce);
    rule.factors[factor].reduce = getKind();
    rule.factors[factor].mask =
        neutralElement(getKind(), elementOf(getUpdates()));
    rule.operands[0][row + dim] = factor;
    rule.operands[1][batch + dim] = factor;
  }
  for (size_t dim = row + 1; dim < to.size(); ++dim)
    addSharedFactor(rule, to[dim], 0, dim - 1 + points.size(), dim);
  if (!getOffset())
    rule.results[0][row] = rule.addFactor(to[row]);
  addPass(rule, {0}, getKind());
  return rule;
}

Operation *ScatterOp::localize(OpBuilder &builder, ValueRange operands,
                               TypeRange resultTypes,
                               const Localization &localization) {
  return localizeRows(*this, getResult(),
                      localization.rule.results[0][getDim()], builder, operands,
                      resultTypes, localization);
}

KernelClass ScatterOp::getKernelClass() { return KernelClass::Reduction; }

PrecisionClass ScatterOp::getPrecisionClass() {
  return precisionClass(getKind());
}

/// Each row is compared with each index, on CPUs each block of rows; each
/// update is added once.
int64_t ScatterOp::getFlops() {
  return elementsOf(getUpdates()) +
         shapeOf(getResult())[getDim()] * elementsOf(getIndices());
}

} // namespace autopar
