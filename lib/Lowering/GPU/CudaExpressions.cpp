//===- CudaExpressions.cpp - Arithmetic as expressions of CUDA C++ --------===//

#include "CudaExpressions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar::gpu {

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

static std::string unsignedName(Type type) {
  if (type.isInteger(32))
    return "unsigned";
  return type.isIndex() ? "uint64_t" : "u" + *typeText(type);
}

Text Expression::cast(Type to, const Text &text, bool isUnsigned) {
  return callText(isUnsigned ? unsignedName(to) : *typeText(to), {text});
}

Text Expression::binary(StringRef symbol, Binding binding, bool associates) {
  return binaryText(operand(0), symbol, operand(1), binding, associates);
}

Text Expression::call(StringRef function) {
  SmallVector<Text> arguments;
  for (Value value : op->getOperands())
    arguments.push_back(give(value));
  return callText(function, arguments);
}

Text Expression::helper(Helper which, StringRef function) {
  helpers.insert(which);
  return call(function);
}

/// C++ computes i8 and i16 as int.
Text Expression::narrow(const Text &text) {
  return type.isInteger(8) || type.isInteger(16) ? cast(type, text) : text;
}

Text Expression::negated(const Text &text) {
  return {"!" + inParentheses(text, Binding::Prefix), Binding::Prefix,
          text.reads};
}

Text Expression::select(const Text &choice, const Text &yes, const Text &no) {
  return {inParentheses(choice, Binding::Or) + " ? " +
              inParentheses(yes, Binding::Or) + " : " +
              inParentheses(no, Binding::Choice),
          Binding::Choice, choice.reads || yes.reads || no.reads};
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

Text Expression::compareFloats(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  auto compare = [&](StringRef symbol) {
    return binary(symbol, symbol == "==" || symbol == "!=" ? Binding::Equal
                                                           : Binding::Compare);
  };
  auto isNan = [&](unsigned number) {
    return callText("isnan", {operand(number)});
  };
  auto either = [&](const Text &a, const Text &b) {
    return binaryText(a, "||", b, Binding::Or);
  };
  switch (predicate) {
  case P::AlwaysFalse:
    return {"false"};
  case P::AlwaysTrue:
    return {"true"};
  case P::OEQ:
    return compare("==");
  case P::OGT:
    return compare(">");
  case P::OGE:
    return compare(">=");
  case P::OLT:
    return compare("<");
  case P::OLE:
    return compare("<=");
  case P::UNE:
    return compare("!=");
  case P::ONE:
    return either(compare("<"), compare(">"));
  case P::UEQ:
    return negated(either(compare("<"), compare(">")));
  case P::UGT:
    return negated(compare("<="));
  case P::UGE:
    return negated(compare("<"));
  case P::ULT:
    return negated(compare(">="));
  case P::ULE:
    return negated(compare(">"));
  case P::ORD:
    return negated(either(isNan(0), isNan(1)));
  case P::UNO:
    return op->getOperand(0) == op->getOperand(1) ? isNan(0)
                                                  : either(isNan(0), isNan(1));
  }
  llvm_unreachable("all predicates are above");
}

std::optional<Text> Expression::floats() {
  using namespace arith;
  if (isa<AddFOp, SubFOp, MulFOp, DivFOp, RemFOp, NegFOp, MaximumFOp,
          MinimumFOp, MaxNumFOp, MinNumFOp>(op) &&
      !type.isF32() && !type.isF64())
    return std::nullopt; // f16 and bf16 are computed as f32
  std::string suffix = type.isF32() ? "f" : "";
  return TypeSwitch<Operation *, std::optional<Text>>(op)
      .Case([&](AddFOp) { return binary("+", Binding::Sum); })
      .Case([&](SubFOp) { return binary("-", Binding::Sum); })
      .Case([&](MulFOp) { return binary("*", Binding::Product); })
      .Case([&](DivFOp) { return binary("/", Binding::Product); })
      .Case([&](RemFOp) { return call("fmod" + suffix); })
      .Case([&](NegFOp) -> Text {
        Text text = operand(0);
        std::string inside = inParentheses(text, Binding::Whole);
        if (inside.front() == '-')
          inside = "(" + inside + ")";
        return {"-" + inside, Binding::Prefix, text.reads};
      })
      .Case([&](MaximumFOp) { return helper(Helper::Maximum, "maximum"); })
      .Case([&](MinimumFOp) { return helper(Helper::Minimum, "minimum"); })
      .Case([&](MaxNumFOp) { return call("fmax" + suffix); })
      .Case([&](MinNumFOp) { return call("fmin" + suffix); })
      .Case([&](CmpFOp cmp) { return compareFloats(cmp.getPredicate()); })
      .Case([&](LLVM::FCmpOp cmp) { // the same numbers
        return compareFloats(static_cast<CmpFPredicate>(cmp.getPredicate()));
      })
      .Default(std::nullopt);
}

/// The op of the math dialect as a function of CUDA's, f32 with an f behind.
std::optional<Text> Expression::math() {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("math."))
    return std::nullopt;
  if (name == "absi")
    return narrow(call("abs"));
  StringRef function = llvm::StringSwitch<StringRef>(name)
                           .Case("absf", "fabs")
                           .Case("powf", "pow")
                           .Case("roundeven", "rint")
                           .Cases({"exp", "exp2", "expm1", "log", "log2"}, name)
                           .Cases({"log10", "log1p", "sqrt", "rsqrt"}, name)
                           .Cases({"sin", "cos", "tan", "asin", "acos"}, name)
                           .Cases({"atan", "atan2", "sinh", "cosh"}, name)
                           .Cases({"tanh", "asinh", "acosh", "atanh"}, name)
                           .Cases({"erf", "erfc", "cbrt", "floor"}, name)
                           .Cases({"ceil", "round", "trunc", "fma"}, name)
                           .Case("copysign", name)
                           .Cases({"isnan", "isinf", "isfinite"}, name)
                           .Default("");
  if (function.empty() || !(operandType(0).isF32() || operandType(0).isF64()))
    return std::nullopt;
  bool plain = function.starts_with("is") || operandType(0).isF64();
  return call(plain ? function.str() : function.str() + "f");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The operand, f16 and bf16 as f32.
Text Expression::asFloat() {
  Text text = operand(0);
  if (operandType(0).isF16())
    return callText("__half2float", {text});
  if (operandType(0).isBF16())
    return callText("__bfloat162float", {text});
  return text;
}

Text Expression::widen() {
  Text text = asFloat();
  return type.isF64() ? callText("double", {text}) : text;
}

Text Expression::fromInteger(const Text &number) {
  if (type.isF16())
    return callText("__float2half", {callText("float", {number})});
  if (type.isBF16())
    return callText("__float2bfloat16", {callText("float", {number})});
  return cast(type, number);
}

Text Expression::toNarrowFloat() {
  Text text = operand(0);
  if (type.isF32())
    return callText("float", {text});
  StringRef from = operandType(0).isF64() ? "double" : "float";
  return callText("__" + from.str() + (type.isF16() ? "2half" : "2bfloat16"),
                  {text});
}

std::optional<Text> Expression::conversions() {
  using namespace arith;
  return TypeSwitch<Operation *, std::optional<Text>>(op)
      .Case([&](ExtFOp) { return widen(); })
      .Case([&](TruncFOp) { return toNarrowFloat(); })
      .Case<SIToFPOp>([&](auto) { return fromInteger(operand(0)); })
      .Case<UIToFPOp>([&](auto) {
        bool positive =
            operandType(0).isInteger(1) || isNonNegative(op->getOperand(0));
        return fromInteger(positive ? operand(0)
                                    : cast(operandType(0), operand(0), true));
      })
      .Case<FPToSIOp>([&](auto) { return cast(type, asFloat()); })
      .Case<FPToUIOp>([&](auto) {
        return cast(type, cast(type, asFloat(), /*isUnsigned=*/true));
      })
      .Case<ExtUIOp>([&](auto) {
        bool isBool = operandType(0).isInteger(1);
        return cast(type, isBool || isNonNegative(op->getOperand(0))
                              ? operand(0)
                              : cast(operandType(0), operand(0), true));
      })
      .Case<ExtSIOp>([&](auto) -> Text {
        Text number = cast(type, operand(0));
        if (!operandType(0).isInteger(1))
          return number;
        return {"-" + number.text, Binding::Prefix, number.reads};
      })
      .Case<TruncIOp>([&](auto) -> Text {
        if (!type.isInteger(1))
          return cast(type, operand(0));
        Text bit = binaryText(operand(0), "&", {"1"}, Binding::Bits);
        return binaryText(bit, "!=", {"0"}, Binding::Equal);
      })
      .Case<IndexCastOp, IndexCastUIOp>([&](auto) -> Text {
        bool same = (type.isIndex() || type.isInteger(64)) &&
                    (operandType(0).isIndex() || operandType(0).isInteger(64));
        return same ? operand(0) : cast(type, operand(0));
      })
      .Case<BitcastOp>([&](auto) -> std::optional<Text> {
        if (type.isF32() && operandType(0).isInteger(32))
          return call("__int_as_float");
        if (type.isInteger(32) && operandType(0).isF32())
          return call("__float_as_int");
        return std::nullopt;
      })
      .Default(std::nullopt);
}

std::optional<Text> Expression::text() {
  if (!typeText(type))
    return std::nullopt;
  if (isa<arith::SelectOp, LLVM::SelectOp>(op))
    return select(operand(0), operand(1), operand(2));
  for (auto family : {&Expression::integers, &Expression::floats,
                      &Expression::math, &Expression::conversions})
    if (auto text = (this->*family)())
      return text;
  return std::nullopt;
}

std::optional<Text> expressionText(Operation *op,
                                   function_ref<Text(Value)> operand,
                                   Helpers &helpers) {
  return Expression(op, operand, helpers).text();
}

} // namespace autopar::gpu
