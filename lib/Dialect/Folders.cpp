//===- Folders.cpp - Ops that are one of their operands or a constant -----===//
//
// Constants fold where they are splats: scalars and what was made of them. What
// is larger is computed in @setup.
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

/// A constant of `type` with all elements `element`; nothing without one.
static OpFoldResult splat(Type type, Attribute element) {
  if (!element)
    return {};
  return DenseElementsAttr::get(cast<RankedTensorType>(type), element);
}

/// The element of a float splat.
static std::optional<APFloat> floatElement(Attribute constant) {
  auto element = dyn_cast_or_null<FloatAttr>(splatElement(constant));
  if (!element)
    return std::nullopt;
  return element.getValue();
}

static std::optional<APInt> integerElement(Attribute constant) {
  auto element = dyn_cast_or_null<IntegerAttr>(splatElement(constant));
  if (!element)
    return std::nullopt;
  return element.getValue();
}

/// `constant` is a splat of `value`.
static bool isSplatOf(Attribute constant, double value) {
  if (std::optional<APFloat> element = floatElement(constant))
    return element->convertToDouble() == value;
  if (std::optional<APInt> element = integerElement(constant))
    return element->getBitWidth() > 1 &&
           element->trySExtValue() == std::optional<int64_t>(value);
  return false;
}

//===----------------------------------------------------------------------===//
// Arithmetic on one element
//===----------------------------------------------------------------------===//

static std::optional<APFloat> fold(UnaryKind kind, const APFloat &x) {
  switch (kind) {
  case UnaryKind::Abs:
    return abs(x);
  case UnaryKind::Neg:
    return neg(x);
  case UnaryKind::Relu:
    return maximum(x, APFloat::getZero(x.getSemantics()));
  case UnaryKind::Reciprocal: {
    APFloat one = APFloat::getOne(x.getSemantics());
    one.divide(x, APFloat::rmNearestTiesToEven);
    return one;
  }
  default:
    return std::nullopt;
  }
}

static std::optional<APFloat> fold(BinaryKind kind, APFloat lhs,
                                   const APFloat &rhs) {
  constexpr auto nearest = APFloat::rmNearestTiesToEven;
  switch (kind) {
  case BinaryKind::Add:
    lhs.add(rhs, nearest);
    return lhs;
  case BinaryKind::Sub:
    lhs.subtract(rhs, nearest);
    return lhs;
  case BinaryKind::Mul:
    lhs.multiply(rhs, nearest);
    return lhs;
  case BinaryKind::Div:
    lhs.divide(rhs, nearest);
    return lhs;
  case BinaryKind::Max:
    return maximum(lhs, rhs);
  case BinaryKind::Min:
    return minimum(lhs, rhs);
  default:
    return std::nullopt;
  }
}

static std::optional<APInt> fold(BinaryKind kind, const APInt &lhs,
                                 const APInt &rhs) {
  switch (kind) {
  case BinaryKind::Add:
    return lhs + rhs;
  case BinaryKind::Sub:
    return lhs - rhs;
  case BinaryKind::Mul:
    return lhs * rhs;
  case BinaryKind::Max:
    return llvm::APIntOps::smax(lhs, rhs);
  case BinaryKind::Min:
    return llvm::APIntOps::smin(lhs, rhs);
  case BinaryKind::And:
    return lhs & rhs;
  case BinaryKind::Or:
    return lhs | rhs;
  case BinaryKind::Xor:
    return lhs ^ rhs;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

OpFoldResult UnaryOp::fold(FoldAdaptor adaptor) {
  std::optional<APFloat> x = floatElement(adaptor.getInput());
  if (!x || getInput().getType() != getType())
    return {};
  std::optional<APFloat> value = autopar::fold(getKind(), *x);
  if (!value)
    return {};
  return splat(getType(), FloatAttr::get(getType().getElementType(), *value));
}

/// `constant` is a splat of ones in all bits, or of none.
static bool isBits(Attribute constant, bool set) {
  std::optional<APInt> element = integerElement(constant);
  return element && (set ? element->isAllOnes() : element->isZero());
}

/// x & 1...1, x | 0...0, x & x, ...: the operand that the result is.
static Value foldBits(BinaryOp op, Attribute lhs, Attribute rhs) {
  bool isAnd = op.getKind() == BinaryKind::And;
  if (op.getLhs() == op.getRhs() && op.getKind() != BinaryKind::Xor)
    return op.getLhs();
  if (isBits(lhs, isAnd))
    return op.getRhs();
  if (isBits(rhs, isAnd))
    return op.getLhs();
  if (op.getKind() == BinaryKind::Xor)
    return {};
  if (isBits(lhs, !isAnd))
    return op.getLhs();
  return isBits(rhs, !isAnd) ? op.getRhs() : Value();
}

/// x + 0, x - 0, x * 1, x / 1, max(x, x), ...: the operand that the result is.
static Value foldNeutral(BinaryOp op, Attribute lhs, Attribute rhs) {
  switch (op.getKind()) {
  case BinaryKind::Add:
    if (isSplatOf(lhs, 0.0))
      return op.getRhs();
    return isSplatOf(rhs, 0.0) ? op.getLhs() : Value();
  case BinaryKind::Sub:
    return isSplatOf(rhs, 0.0) ? op.getLhs() : Value();
  case BinaryKind::Mul:
    if (isSplatOf(lhs, 1.0))
      return op.getRhs();
    return isSplatOf(rhs, 1.0) ? op.getLhs() : Value();
  case BinaryKind::Div:
  case BinaryKind::Pow:
    return isSplatOf(rhs, 1.0) ? op.getLhs() : Value();
  case BinaryKind::And:
  case BinaryKind::Or:
  case BinaryKind::Xor:
    return foldBits(op, lhs, rhs);
  case BinaryKind::Max:
  case BinaryKind::Min:
    return op.getLhs() == op.getRhs() ? op.getLhs() : Value();
  default:
    return {};
  }
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  Attribute lhs = adaptor.getLhs(), rhs = adaptor.getRhs();
  if (Value same = foldNeutral(*this, lhs, rhs))
    return same;
  Type element = getType().getElementType();
  std::optional<APFloat> a = floatElement(lhs), b = floatElement(rhs);
  if (a && b) {
    std::optional<APFloat> value = autopar::fold(getKind(), *a, *b);
    return splat(getType(), value ? FloatAttr::get(element, *value) : nullptr);
  }
  std::optional<APInt> i = integerElement(lhs), j = integerElement(rhs);
  bool ordered = getKind() == BinaryKind::Max || getKind() == BinaryKind::Min;
  if (!i || !j ||
      (ordered && (element.isUnsignedInteger() || element.isInteger(1))))
    return {};
  std::optional<APInt> value = autopar::fold(getKind(), *i, *j);
  return splat(getType(), value ? IntegerAttr::get(element, *value) : nullptr);
}

template <typename T>
static bool holds(ComparePredicate predicate, T lhs, T rhs) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return lhs == rhs;
  case ComparePredicate::Ne:
    return lhs != rhs;
  case ComparePredicate::Lt:
    return lhs < rhs;
  case ComparePredicate::Le:
    return lhs <= rhs;
  case ComparePredicate::Gt:
    return lhs > rhs;
  case ComparePredicate::Ge:
    return lhs >= rhs;
  }
  llvm_unreachable("all predicates are covered");
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  Type boolean = getType().getElementType();
  std::optional<APFloat> a = floatElement(adaptor.getLhs());
  std::optional<APFloat> b = floatElement(adaptor.getRhs());
  if (a && b)
    return splat(getType(), IntegerAttr::get(
                                boolean, autopar::holds(getPredicate(),
                                                        a->convertToDouble(),
                                                        b->convertToDouble())));
  std::optional<APInt> i = integerElement(adaptor.getLhs());
  std::optional<APInt> j = integerElement(adaptor.getRhs());
  Type element = elementOf(getLhs());
  if (!i || !j || element.isUnsignedInteger() || element.isInteger(1))
    return {};
  return splat(getType(),
               IntegerAttr::get(boolean, autopar::holds(getPredicate(),
                                                        i->getSExtValue(),
                                                        j->getSExtValue())));
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  std::optional<APInt> condition = integerElement(adaptor.getCondition());
  if (!condition)
    return {};
  return condition->isZero() ? getOnFalse() : getOnTrue();
}

/// Every value of `from` is a value of `to`.
static bool isLossless(Type from, Type to) {
  auto narrow = dyn_cast<FloatType>(from), wide = dyn_cast<FloatType>(to);
  if (narrow && wide)
    return isWidening(narrow, wide);
  return from.isSignlessInteger() && to.isSignlessInteger() &&
         from.getIntOrFloatBitWidth() > 1 &&
         from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

/// The element of a splat converted to `type`, where a double holds it.
static Attribute convertElement(Attribute constant, Type type) {
  if (type.isInteger(1))
    return {};
  if (std::optional<APFloat> value = floatElement(constant)) {
    bool fits = isa<FloatType>(type) || value->isFinite();
    return fits ? elementAttr(type, value->convertToDouble()) : Attribute();
  }
  std::optional<APInt> value = integerElement(constant);
  if (!value)
    return {};
  bool isUnsigned =
      value->getBitWidth() == 1 ||
      cast<ElementsAttr>(constant).getElementType().isUnsignedInteger();
  if (isa<IntegerType>(type))
    return IntegerAttr::get(
        type, isUnsigned ? value->zextOrTrunc(type.getIntOrFloatBitWidth())
                         : value->sextOrTrunc(type.getIntOrFloatBitWidth()));
  return elementAttr(type, value->roundToDouble(!isUnsigned));
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  // There and back: convert(convert(x : A -> B) : B -> A) where B holds A.
  if (auto inner = getInput().getDefiningOp<ConvertOp>())
    if (inner.getInput().getType() == getType() &&
        isLossless(elementOf(inner.getInput()), elementOf(getInput())))
      return inner.getInput();
  return splat(getType(),
               convertElement(adaptor.getInput(), getType().getElementType()));
}

//===----------------------------------------------------------------------===//
// Shape and movement
//===----------------------------------------------------------------------===//

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return splat(getType(), splatElement(adaptor.getInput()));
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return dense.reshape(getType());
  auto inner = getInput().getDefiningOp<ReshapeOp>();
  if (inner && inner.getInput().getType() == getType())
    return inner.getInput();
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPerm()))
    return getInput();
  return splat(getType(), splatElement(adaptor.getInput()));
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  bool forward =
      llvm::all_of(getSteps(), [](int64_t step) { return step > 0; });
  if (forward && getInput().getType() == getType())
    return getInput();
  return splat(getType(), splatElement(adaptor.getInput()));
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : Value();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? getInputs().front() : Value();
}

} // namespace autopar
