//===- CudaIntegerExpressions.cpp - Integers in CUDA C++ ------------------===//

#include "CudaExpressions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar::gpu {

static bool operandsAreNonNegative(Operation *op) {
  return llvm::all_of(op->getOperands(),
                      [](Value operand) { return isNonNegative(operand); });
}

/// Computes sums and products that may wrap around in unsigned types.
Text Expression::integer(StringRef symbol, StringRef wrapped, Binding binding,
                         arith::IntegerOverflowFlags flags) {
  bool isPlace = bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw) ||
                 type.isIndex() ||
                 (symbol != "-" && operandsAreNonNegative(op));
  if (!isPlace && !type.isInteger(8) && !type.isInteger(16)) {
    helpers.insert(Helper::Wrap);
    return callTemplate(wrapped);
  }
  return narrow(binary(symbol, binding, symbol != "-"));
}

Text Expression::unsignedInteger(StringRef symbol, Binding binding) {
  if (operandsAreNonNegative(op))
    return binary(symbol, binding);
  Text a = cast(type, operand(0), /*isUnsigned=*/true);
  Text b = cast(type, operand(1), /*isUnsigned=*/true);
  return cast(type, binaryText(a, symbol, b, binding));
}

/// The templates take operands of one type, so literals are given that type.
Text Expression::callTemplate(StringRef function, bool isUnsigned) {
  SmallVector<Text> operands;
  for (unsigned number : {0, 1}) {
    Text text = operand(number);
    bool isLiteral = constantOf(op->getOperand(number)).has_value();
    operands.push_back(isUnsigned || isLiteral ? cast(type, text, isUnsigned)
                                               : text);
  }
  Text result = callText(function, operands);
  return isUnsigned ? cast(type, result) : narrow(result);
}

Text Expression::compareIntegers(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  bool isUnsigned =
      llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, predicate) &&
      !operandsAreNonNegative(op);
  StringRef symbol;
  switch (predicate) {
  case P::eq:
    return binary("==", Binding::Equal);
  case P::ne:
    return binary("!=", Binding::Equal);
  case P::slt:
  case P::ult:
    symbol = "<";
    break;
  case P::sle:
  case P::ule:
    symbol = "<=";
    break;
  case P::sgt:
  case P::ugt:
    symbol = ">";
    break;
  case P::sge:
  case P::uge:
    symbol = ">=";
    break;
  }
  if (!isUnsigned)
    return binary(symbol, Binding::Compare);
  Text a = cast(operandType(0), operand(0), true);
  auto limit = constantOf(op->getOperand(1));
  Text b = limit && !limit->isNegative() && limit->getActiveBits() < 31
               ? Text{operand(1).text + "u"}
               : cast(operandType(1), operand(1), true);
  return binaryText(a, symbol, b, Binding::Compare);
}

Text Expression::logical(StringRef boolean, StringRef bits) {
  if (!type.isInteger(1))
    return narrow(binary(bits, Binding::Bits));
  return binary(boolean, boolean == "&&" ? Binding::And : Binding::Or,
                /*associates=*/true);
}

std::optional<Text> Expression::integers() {
  using namespace arith;
  return TypeSwitch<Operation *, std::optional<Text>>(op)
      .Case([&](AddIOp add) {
        return integer("+", "add", Binding::Sum, add.getOverflowFlags());
      })
      .Case([&](SubIOp sub) {
        return integer("-", "subtract", Binding::Sum, sub.getOverflowFlags());
      })
      .Case([&](MulIOp mul) {
        return integer("*", "multiply", Binding::Product,
                       mul.getOverflowFlags());
      })
      .Case([&](DivSIOp) { return narrow(binary("/", Binding::Product)); })
      .Case([&](RemSIOp) { return narrow(binary("%", Binding::Product)); })
      .Case([&](DivUIOp) { return unsignedInteger("/", Binding::Product); })
      .Case([&](RemUIOp) { return unsignedInteger("%", Binding::Product); })
      .Case([&](ShRUIOp) { return unsignedInteger(">>", Binding::Bits); })
      .Case([&](ShLIOp) {
        return cast(type, binaryText(cast(type, operand(0), true), "<<",
                                     operand(1), Binding::Bits));
      })
      .Case([&](ShRSIOp) { return narrow(binary(">>", Binding::Bits)); })
      .Case([&](AndIOp) { return logical("&&", "&"); })
      .Case([&](OrIOp) { return logical("||", "|"); })
      .Case([&](XOrIOp) -> Text {
        if (!type.isInteger(1))
          return narrow(binary("^", Binding::Bits));
        auto one = constantOf(op->getOperand(1));
        return one && one->isOne() ? negated(operand(0))
                                   : binary("!=", Binding::Equal);
      })
      .Case([&](MaxSIOp) { return callTemplate("max", false); })
      .Case([&](MinSIOp) { return callTemplate("min", false); })
      .Case([&](MaxUIOp) { return callTemplate("max", true); })
      .Case([&](MinUIOp) { return callTemplate("min", true); })
      .Case([&](CmpIOp cmp) { return compareIntegers(cmp.getPredicate()); })
      .Default(std::nullopt);
}

} // namespace autopar::gpu
