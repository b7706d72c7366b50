//===- CudaText.cpp - Types, numbers and expressions of CUDA C++ ----------===//

#include "CudaText.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace autopar::gpu {

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static bool isWordLetter(char letter) {
  return llvm::isAlnum(letter) || letter == '_';
}

bool Text::isName() const {
  return binding == Binding::Whole && llvm::all_of(text, [](char letter) {
           return isWordLetter(letter) || letter == '.';
         });
}

std::string inParentheses(const Text &text, Binding least) {
  return text.binding < least ? "(" + text.text + ")" : text.text;
}

/// Returns the precedence below which an operand gets parentheses. Sums,
/// products and comparisons mix by C++'s rules, which readers know; operands of
/// other operators get parentheses unless they cannot be misread.
static Binding leastOperand(Binding binding) {
  switch (binding) {
  case Binding::Or:
  case Binding::And:
    return Binding::Equal;
  case Binding::Equal:
    return Binding::Sum;
  case Binding::Bits:
    return Binding::Prefix;
  default:
    return binding;
  }
}

/// a - (b - c) keeps its parentheses, as do a + (b + c) of floats, which add in
/// the order that is written.
Text binaryText(const Text &a, StringRef op, const Text &b, Binding binding,
                bool associates) {
  Binding left = leastOperand(binding), right = left;
  if (associates && a.binding == binding)
    left = binding;
  if (associates && b.binding == binding)
    right = binding;
  else if (right == binding)
    right = static_cast<Binding>(static_cast<int>(binding) + 1);
  if (binding == Binding::Compare)
    left = Binding::Sum;
  return {inParentheses(a, left) + " " + op.str() + " " +
              inParentheses(b, right),
          binding, a.reads || b.reads};
}

Text callText(StringRef function, ArrayRef<Text> arguments) {
  Text result{function.str() + "(", Binding::Whole, false};
  for (const Text &argument : arguments) {
    if (&argument != arguments.begin())
      result.text += ", ";
    result.text += argument.text;
    result.reads |= argument.reads;
  }
  result.text += ")";
  return result;
}

std::string wrapped(StringRef line) {
  constexpr size_t kWidth = 100;
  size_t indent = line.find_first_not_of(' ');
  std::string text;
  while (line.size() > kWidth) {
    size_t at = StringRef::npos;
    for (StringRef mark : {", ", " ? ", " : ", " = ", " && ", " + "}) {
      size_t found = line.take_front(kWidth - 1).rfind(mark);
      if (found == StringRef::npos || found < kWidth / 3)
        continue;
      at = mark == ", " ? found + 1 : found + mark.size() - 1;
      break;
    }
    if (at == StringRef::npos)
      break;
    text += line.take_front(at).str() + "\n" + std::string(indent + 4, ' ');
    line = line.drop_front(at + 1);
  }
  return text + line.str();
}

std::string commentText(StringRef text) {
  std::string line = text.rtrim().str();
  for (char &letter : line)
    if (static_cast<unsigned char>(letter) < ' ' || letter == 127)
      letter = '_';
  if (!line.empty() && line.back() == '\\')
    line.back() = '_';
  return line;
}

bool mentions(StringRef text, StringRef name) {
  for (size_t at = text.find(name); at != StringRef::npos;
       at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !isWordLetter(text[at - 1])) &&
        (end == text.size() || !isWordLetter(text[end])))
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::optional<std::string> scalarText(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isF16())
    return "__half";
  if (type.isBF16())
    return "__nv_bfloat16";
  if (type.isInteger(1))
    return "bool";
  if (type.isIndex())
    return "int64_t";
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()))
    return std::nullopt;
  if (integer.getWidth() == 32)
    return "int";
  return llvm::formatv("int{0}_t", integer.getWidth());
}

/// CUDA's own vectors: float2, float4, int2, int4, double2.
static std::optional<std::string> builtinVector(VectorType type) {
  Type element = type.getElementType();
  int64_t count = type.getNumElements();
  if (count != 2 && count != 4)
    return std::nullopt;
  if (element.isF32())
    return count == 2 ? "float2" : "float4";
  if (element.isInteger(32))
    return count == 2 ? "int2" : "int4";
  if (element.isF64() && count == 2)
    return "double2";
  return std::nullopt;
}

std::optional<std::string> typeText(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return scalarText(type);
  if (vector.getRank() != 1)
    return std::nullopt;
  if (auto known = builtinVector(vector))
    return known;
  auto element = scalarText(vector.getElementType());
  if (!element)
    return std::nullopt;
  return llvm::formatv("Pack<{0}, {1}>", *element, vector.getNumElements());
}

unsigned laneCount(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

std::string laneText(Type type, StringRef name, unsigned lane) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return name.str();
  if (builtinVector(vector))
    return name.str() + "." + "xyzw"[lane];
  return llvm::formatv("{0}.at[{1}]", name, lane);
}

std::string makeVectorText(Type type, ArrayRef<Text> lanes) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return lanes.front().text;
  if (auto known = builtinVector(vector))
    return callText("make_" + *known, lanes).text;
  std::string inside = callText("", lanes).text;
  return *typeText(type) + "{{" + inside.substr(1, inside.size() - 2) + "}}";
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The fewest digits that read back as the same number.
static std::string digitsOf(double value, bool isFloat) {
  char text[64];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    bool same = isFloat
                    ? std::strtof(text, nullptr) == static_cast<float>(value)
                    : std::strtod(text, nullptr) == value;
    if (same)
      break;
  }
  std::string result = text;
  if (result.find_first_of(".e") == std::string::npos)
    result += ".0";
  return isFloat ? result + "f" : result;
}

static std::string floatText(const APFloat &number, Type type) {
  APFloat wide(number);
  bool inexact;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  double value = wide.convertToDouble();
  std::string text;
  if (std::isnan(value))
    text = "NAN";
  else if (std::isinf(value))
    text = value < 0 ? "-INFINITY" : "INFINITY";
  else
    text = digitsOf(value, !type.isF64());
  if (type.isF16())
    return "__float2half(" + text + ")";
  if (type.isBF16())
    return "__float2bfloat16(" + text + ")";
  return text;
}

static std::string integerText(const APInt &number, Type type) {
  if (type.isInteger(1))
    return number.isZero() ? "false" : "true";
  int64_t value = number.getSExtValue();
  if (value == INT64_MIN)
    return "INT64_MIN";
  if (value == INT32_MIN)
    return "INT32_MIN";
  std::string text = std::to_string(value);
  bool isLong = type.isIndex() || type.isInteger(64);
  return isLong && std::abs(value) > INT32_MAX ? text + "L" : text;
}

std::optional<std::string> literalText(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return floatText(number.getValue(), number.getType());
  if (auto number = dyn_cast<IntegerAttr>(value))
    return integerText(number.getValue(), number.getType());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

std::string helperText(const Helpers &helpers) {
  std::string text;
  if (helpers.count(Helper::Maximum))
    text += R"(
/// The larger one; NaN if either is.
template <typename T> static __device__ inline T maximum(T a, T b) {
  return isnan(a) || isnan(b) ? T(NAN) : a < b ? b : a;
}
)";
  if (helpers.count(Helper::Minimum))
    text += R"(
/// The smaller one; NaN if either is.
template <typename T> static __device__ inline T minimum(T a, T b) {
  return isnan(a) || isnan(b) ? T(NAN) : b < a ? b : a;
}
)";
  if (helpers.count(Helper::Wrap))
    text += R"(
/// Integers modulo 2^n, as the model's arithmetic has them.
template <typename T> using Unsigned = typename std::make_unsigned<T>::type;
template <typename T> static __device__ inline T add(T a, T b) {
  return T(Unsigned<T>(a) + Unsigned<T>(b));
}
template <typename T> static __device__ inline T subtract(T a, T b) {
  return T(Unsigned<T>(a) - Unsigned<T>(b));
}
template <typename T> static __device__ inline T multiply(T a, T b) {
  return T(uint64_t(a) * uint64_t(b));
}
)";
  if (helpers.count(Helper::Pack))
    text += R"(
/// N elements that are read or written at once.
template <typename T, int N> struct alignas(sizeof(T) * N) Pack {
  T at[N];
};
)";
  return text;
}

} // namespace autopar::gpu
