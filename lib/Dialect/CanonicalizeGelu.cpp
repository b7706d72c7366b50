//===- CanonicalizeGelu.cpp - Gelu from the ops that exporters write ------===//

#include "Canonicalize.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;

namespace autopar {
namespace {

/// A product written with mul, div by a constant and pow by a small constant,
/// in whichever float types: `constant` times `leaves`.
struct Product {
  double constant = 1;
  SmallVector<Value, 4> leaves;
};
} // namespace

static std::optional<double> scalarOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto number =
      constant ? dyn_cast_or_null<FloatAttr>(splatElement(constant.getValue()))
               : FloatAttr();
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

static bool near(double a, double b) { return std::abs(a - b) < 1e-3 * b; }

static BinaryOp asBinary(Value value, BinaryKind kind) {
  auto op = value.getDefiningOp<BinaryOp>();
  return op && op.getKind() == kind ? op : BinaryOp();
}

/// The operand of a conversion between float types, or null.
static Value otherPrecision(Value value) {
  auto convert = value.getDefiningOp<ConvertOp>();
  return convert && isa<FloatType>(getElementTypeOrSelf(value)) &&
                 isa<FloatType>(getElementTypeOrSelf(convert.getInput()))
             ? convert.getInput()
             : Value();
}

/// The factors of `value`; `whole`, if given, is not taken apart.
static Product factorsOf(Value value, Value whole = Value()) {
  Product product;
  SmallVector<Value> open{value};
  for (unsigned steps = 0; !open.empty(); ++steps) {
    Value next = open.pop_back_val();
    auto op = next.getDefiningOp<BinaryOp>();
    double right = op ? scalarOf(op.getRhs()).value_or(0) : 0;
    if (std::optional<double> constant = scalarOf(next)) {
      product.constant *= *constant;
    } else if (Value other = otherPrecision(next);
               other && next != whole && steps <= 12) {
      open.push_back(other);
    } else if (next == whole || !op || steps > 12) {
      product.leaves.push_back(next);
    } else if (op.getKind() == BinaryKind::Mul) {
      open.append({op.getRhs(), op.getLhs()});
    } else if (op.getKind() == BinaryKind::Div && right != 0) {
      product.constant /= right;
      open.push_back(op.getLhs());
    } else if (op.getKind() == BinaryKind::Pow && (right == 2 || right == 3)) {
      open.append(size_t(right), op.getLhs());
    } else {
      product.leaves.push_back(next);
    }
  }
  return product;
}

/// value = 1 + rest -> rest
static Value withoutOne(Value value) {
  BinaryOp sum = asBinary(value, BinaryKind::Add);
  if (!sum)
    return Value();
  if (scalarOf(sum.getRhs()) == 1.0)
    return sum.getLhs();
  return scalarOf(sum.getLhs()) == 1.0 ? sum.getRhs() : Value();
}

/// value = constant * x^power -> true
static bool isPower(Value value, double constant, Value x, size_t power) {
  Product product = factorsOf(value, x);
  return near(product.constant, constant) && product.leaves.size() == power &&
         llvm::all_equal(product.leaves) && product.leaves.front() == x;
}

/// value = x / sqrt(2) -> x
static Value erfArgument(Value value) {
  auto op = value.getDefiningOp<BinaryOp>();
  if (!op ||
      (op.getKind() != BinaryKind::Mul && op.getKind() != BinaryKind::Div))
    return Value();
  for (Value x : {op.getLhs(), op.getRhs()})
    if (!scalarOf(x) && isPower(value, std::sqrt(0.5), x, 1))
      return x;
  return Value();
}

/// value = x + 0.044715 x^3 -> x
static Value cubicArgument(Value value) {
  BinaryOp sum = asBinary(value, BinaryKind::Add);
  if (!sum)
    return Value();
  if (isPower(sum.getRhs(), 0.044715, sum.getLhs(), 3))
    return sum.getLhs();
  return isPower(sum.getLhs(), 0.044715, sum.getRhs(), 3) ? sum.getRhs()
                                                          : Value();
}

/// value = sqrt(2/pi) (x + 0.044715 x^3), or x taken out of the sum, -> x
static Value tanhArgument(Value value) {
  constexpr double kScale = 0.7978845608028654;
  auto op = value.getDefiningOp<BinaryOp>();
  if (!op)
    return Value();
  for (auto [sum, scale] : {std::pair(op.getLhs(), op.getRhs()),
                            std::pair(op.getRhs(), op.getLhs())})
    if (Value x = cubicArgument(sum);
        x && isPower(value, kScale, sum, 1) && scalarOf(scale))
      return x;
  // kScale * x * (1 + 0.044715 x^2)
  Product product = factorsOf(value);
  if (!near(product.constant, kScale) || product.leaves.size() != 2)
    return Value();
  for (unsigned at : {0u, 1u}) {
    Value x = product.leaves[1 - at];
    Value square = withoutOne(product.leaves[at]);
    if (square && isPower(square, 0.044715, x, 2))
      return x;
  }
  return Value();
}

/// 0.5 x (1 + erf(x / sqrt 2)) -> gelu_erf x
/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) -> gelu_tanh x
static LogicalResult recognizeGelu(BinaryOp op, PatternRewriter &rewriter) {
  if (op.getKind() != BinaryKind::Mul ||
      !isa<FloatType>(getElementTypeOrSelf(op.getType())))
    return failure();
  for (Value leaf : factorsOf(op).leaves) {
    Value gate = withoutOne(leaf);
    auto inner = gate ? gate.getDefiningOp<UnaryOp>() : UnaryOp();
    if (!inner)
      continue;
    bool erf = inner.getKind() == UnaryKind::Erf;
    if (!erf && inner.getKind() != UnaryKind::Tanh)
      continue;
    Value x =
        erf ? erfArgument(inner.getInput()) : tanhArgument(inner.getInput());
    if (!x || x.getType() != op.getType())
      continue;
    Product product = factorsOf(op, x);
    bool matches = near(product.constant, 0.5) && product.leaves.size() == 2 &&
                   llvm::is_contained(product.leaves, x) &&
                   llvm::is_contained(product.leaves, leaf);
    if (!matches)
      continue;
    auto gelu =
        UnaryOp::create(rewriter, op.getLoc(), op.getType(),
                        erf ? UnaryKind::GeluErf : UnaryKind::GeluTanh, x);
    gelu->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, gelu);
    return success();
  }
  return failure();
}

void populateGeluPatterns(RewritePatternSet &patterns) {
  patterns.add(recognizeGelu);
}

} // namespace autopar
