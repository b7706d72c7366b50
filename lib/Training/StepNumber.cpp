//===- StepNumber.cpp - A number that a step computes with ----------------===//

#include "StepNumber.h"
#include "autopar/Dialect/Shapes.h"
#include <algorithm>
#include <cmath>

using namespace mlir;

namespace autopar {

Value StepNumber::like(TensorBuilder &b, Value other) const {
  if (isKnown())
    return b.splatLike(other, known);
  Type element = cast<ShapedType>(other.getType()).getElementType();
  return b.broadcast(b.convert(scalar, element), shapeOf(other));
}

Value StepNumber::applyTo(TensorBuilder &b, BinaryKind kind,
                          Value value) const {
  return b.binary(kind, value, like(b, value));
}

static double compute(BinaryKind kind, double lhs, double rhs) {
  switch (kind) {
  case BinaryKind::Add:
    return lhs + rhs;
  case BinaryKind::Sub:
    return lhs - rhs;
  case BinaryKind::Mul:
    return lhs * rhs;
  case BinaryKind::Div:
    return lhs / rhs;
  case BinaryKind::Max:
    return std::max(lhs, rhs);
  default:
    llvm_unreachable("not a kind by which numbers are combined");
  }
}

StepNumber StepNumber::combine(TensorBuilder &b, BinaryKind kind,
                               const StepNumber &rhs) const {
  if (isKnown() && rhs.isKnown())
    return StepNumber(compute(kind, known, rhs.known));
  Value like = isKnown() ? rhs.scalar : scalar;
  return StepNumber(rhs.applyTo(b, kind, this->like(b, like)));
}

StepNumber numberOf(StepFunction &step, const Recipe &recipe, StringRef name,
                    double otherwise) {
  const RunTimeNumber *number = recipe.findAtRunTime(name);
  if (!number)
    return StepNumber(otherwise);
  constexpr StateRole role = StateRole::Hyperparameter;
  if (BlockArgument known = step.state(name, role))
    return StepNumber(Value(known));
  OpBuilder builder = step.builder();
  auto source =
      StateAttr::get(builder.getContext(), builder.getStringAttr(name),
                     builder.getF64FloatAttr(number->initial), role);
  Value state = step.addArgument(
      RankedTensorType::get({}, builder.getF64Type()), source, name);
  step.setNext(name, role, state); // no step changes it
  return StepNumber(state);
}

ArrayAttr rangesOf(const Recipe &recipe, MLIRContext *context) {
  Builder builder(context);
  SmallVector<Attribute> ranges;
  for (const RunTimeNumber &number : recipe.atRunTime) {
    const NumberRange &range = number.range;
    FloatAttr least = builder.getF64FloatAttr(range.least), none;
    ranges.push_back(HyperparameterAttr::get(
        context, builder.getStringAttr(number.name),
        range.isAboveLeast ? none : least, range.isAboveLeast ? least : none,
        std::isinf(range.below) ? none : builder.getF64FloatAttr(range.below),
        range.isInteger));
  }
  return builder.getArrayAttr(ranges);
}

} // namespace autopar
