//===- SourceOps.cpp - Constants and positions ----------------------------===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

ShardingRule ConstantOp::getShardingRule() {
  if (!getValue().isSplat())
    return wholeRule(*this);
  return elementwiseRule(getType().getShape(), 0);
}

Operation *ConstantOp::localize(OpBuilder &builder, ValueRange operands,
                                TypeRange resultTypes,
                                const Localization &localization) {
  if (resultTypes.front() == getType())
    return cloneLocal(*this, builder, operands, resultTypes);
  Operation *local = cloneLocal(*this, builder, operands, resultTypes);
  auto type = cast<RankedTensorType>(resultTypes.front());
  cast<ConstantOp>(local).setValueAttr(
      DenseElementsAttr::get(type, getValue().getSplatValue<Attribute>()));
  return local;
}

KernelClass ConstantOp::getKernelClass() { return KernelClass::None; }

LoopRole ConstantOp::getLoopRole() { return LoopRole::Source; }

bool ConstantOp::roundsResult() { return false; }

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// iota
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  return verifyDim(*this, getDim(), getType().getRank());
}

ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(getType().getShape(), 0);
  if (getOffset())
    rule.operands.emplace_back(); // a scalar
  return rule;
}

Operation *IotaOp::localize(OpBuilder &builder, ValueRange operands,
                            TypeRange resultTypes,
                            const Localization &localization) {
  unsigned factor = getDim(); // factor i is result dimension i
  if (localization.subAxes(factor).empty())
    return cloneLocal(*this, builder, operands, resultTypes);
  Value offset = BlockOffsetOp::create(builder, getLoc(), localization, factor);
  if (getOffset())
    offset = BinaryOp::create(builder, getLoc(), BinaryKind::Add,
                              operands.front(), offset);
  return cloneLocal(*this, builder, offset, resultTypes);
}

KernelClass IotaOp::getKernelClass() { return KernelClass::Elementwise; }

LoopRole IotaOp::getLoopRole() { return LoopRole::Source; }

} // namespace autopar
