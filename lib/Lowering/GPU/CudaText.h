//===- CudaText.h - Types, numbers and expressions of CUDA C++ --*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_CUDATEXT_H
#define AUTOPAR_LIB_LOWERING_GPU_CUDATEXT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <set>
#include <string>

namespace autopar::gpu {

/// The precedence with which C++ binds an expression.
enum class Binding {
  Choice, // c ? a : b
  Or,
  And,
  Bits, // & | ^ << >>
  Equal,
  Compare,
  Sum,
  Product,
  Prefix, // -a !a (T)a
  Whole,  // names, literals, calls, a[i]
};

/// An expression.
struct Text {
  std::string text;
  Binding binding = Binding::Whole;
  /// It reads memory, so that it must come before the next write.
  bool reads = false;

  bool isName() const;
};

/// "a op b", with parentheses where C++ or a reader needs them; fewer if the op
/// associates.
Text binaryText(const Text &a, llvm::StringRef op, const Text &b,
                Binding binding, bool associates = false);
/// "function(a, b, ...)"
Text callText(llvm::StringRef function, llvm::ArrayRef<Text> arguments);
/// The text as an operand of a prefix operator or a subscript.
std::string inParentheses(const Text &text, Binding least);
/// A line with breaks after commas where it is longer than readers like.
std::string wrapped(llvm::StringRef line);
/// Text of a model as part of one line of a comment: no control character and
/// no backslash at the end, which would end the comment or take the next line
/// into it, is left.
std::string commentText(llvm::StringRef text);
/// Returns whether `name` occurs in `text` as a word.
bool mentions(llvm::StringRef text, llvm::StringRef name);

/// The C++ name of a type of the IR: "float", "int64_t", "__half", "float4",
/// "Pack<__half, 8>"; nothing for what has none.
std::optional<std::string> typeText(mlir::Type type);
/// The expression of lane `lane` of a vector called `name`.
std::string laneText(mlir::Type vector, llvm::StringRef name, unsigned lane);
/// A vector made of its lanes.
std::string makeVectorText(mlir::Type vector, llvm::ArrayRef<Text> lanes);
/// Lanes of a vector type, 1 for others.
unsigned laneCount(mlir::Type type);

/// A number as a literal of its type.
std::optional<std::string> literalText(mlir::Attribute value);

/// Functions that expressions call and CUDA does not have; those that are used
/// are defined at the top of the file.
enum class Helper { Maximum, Minimum, Wrap, Pack };
using Helpers = std::set<Helper>;
/// Their definitions.
std::string helperText(const Helpers &helpers);

/// The expression of one lane of a pure op with one result; nothing for an op
/// that has none. `operand` gives the lane of an operand.
std::optional<Text>
expressionText(mlir::Operation *op,
               llvm::function_ref<Text(mlir::Value)> operand, Helpers &helpers);

/// The integer that a constant is; nothing for other values.
std::optional<llvm::APInt> constantOf(mlir::Value value);

/// Tells whether an integer is never below zero, as positions of threads and
/// loops are; looks at ops up to `depth` away.
constexpr int kDepth = 10;
bool isNonNegative(mlir::Value value, int depth = kDepth);

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_CUDATEXT_H
