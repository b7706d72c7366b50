//===- SymbolicSize.cpp - Sizes computed from symbolic sizes --------------===//

#include "SymbolicSize.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace autopar {

namespace {

using Size = std::optional<int64_t>;

/// Expressions nest no deeper than this.
constexpr int kDeepest = 64;

/// A parser by recursive descent that evaluates as it reads.
class Evaluator {
public:
  Evaluator(StringRef text, function_ref<Size(StringRef)> sizeOf)
      : rest(text), sizeOf(sizeOf) {}

  Size run() {
    Size value = sum();
    return rest.ltrim().empty() ? value : std::nullopt;
  }

private:
  bool take(StringRef token) {
    StringRef after = rest.ltrim();
    if (!after.consume_front(token))
      return false;
    rest = after;
    return true;
  }
  Size sum();
  Size product();
  Size factor();
  Size call(StringRef function);

  StringRef rest;
  function_ref<Size(StringRef)> sizeOf;
  int depth = 0;
};

/// a / b, rounded down.
Size divide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  return divideFloorSigned(a, b);
}

Size modulo(int64_t a, int64_t b) {
  Size quotient = divide(a, b);
  return quotient ? Size(a - *quotient * b) : std::nullopt;
}

Size Evaluator::sum() {
  Size value = product();
  while (value) {
    bool minus = take("-");
    if (!minus && !take("+"))
      return value;
    Size next = product();
    value = !next   ? std::nullopt
            : minus ? checkedSub(*value, *next)
                    : checkedAdd(*value, *next);
  }
  return value;
}

Size Evaluator::product() {
  Size value = factor();
  while (value) {
    bool times = take("*"), divided = !times && (take("//") || take("/"));
    if (!times && !divided && !take("%"))
      return value;
    Size next = factor();
    value = !next     ? std::nullopt
            : times   ? checkedMul(*value, *next)
            : divided ? divide(*value, *next)
                      : modulo(*value, *next);
  }
  return value;
}

Size Evaluator::call(StringRef function) {
  SmallVector<int64_t> arguments;
  do {
    Size argument = sum();
    if (!argument)
      return std::nullopt;
    arguments.push_back(*argument);
  } while (take(","));
  if (!take(")"))
    return std::nullopt;
  if (function.equals_insensitive("floor") && arguments.size() == 1)
    return arguments.front();
  if (function.equals_insensitive("max"))
    return *max_element(arguments);
  if (function.equals_insensitive("min"))
    return *min_element(arguments);
  return std::nullopt;
}

Size Evaluator::factor() {
  if (++depth > kDeepest)
    return std::nullopt;
  Size value;
  if (take("-")) {
    Size negated = factor();
    value = negated ? checkedSub<int64_t>(0, *negated) : std::nullopt;
  } else if (take("(")) {
    value = sum();
    if (!take(")"))
      value = std::nullopt;
  } else {
    rest = rest.ltrim();
    StringRef word = rest.take_while(
        [](char letter) { return isAlnum(letter) || letter == '_'; });
    rest = rest.drop_front(word.size());
    int64_t number;
    if (word.empty())
      return std::nullopt;
    if (!word.getAsInteger(10, number))
      value = number;
    else if (take("("))
      value = call(word);
    else
      value = sizeOf(word);
  }
  --depth;
  return value;
}

} // namespace

Size evaluateSize(StringRef text, function_ref<Size(StringRef)> sizeOf) {
  return Evaluator(text, sizeOf).run();
}

} // namespace autopar
