//===- CudaExpressions.h - The expression of one op -------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_CUDAEXPRESSIONS_H
#define AUTOPAR_LIB_LOWERING_GPU_CUDAEXPRESSIONS_H

#include "CudaText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace autopar::gpu {

/// Makes the expression of one op.
class Expression {
public:
  Expression(mlir::Operation *op, llvm::function_ref<Text(mlir::Value)> operand,
             Helpers &helpers)
      : op(op), give(operand), helpers(helpers),
        type(mlir::getElementTypeOrSelf(op->getResult(0).getType())) {}

  std::optional<Text> text();

private:
  Text operand(unsigned number) { return give(op->getOperand(number)); }
  mlir::Type operandType(unsigned number) {
    return mlir::getElementTypeOrSelf(op->getOperand(number).getType());
  }
  Text cast(mlir::Type to, const Text &text, bool isUnsigned = false);
  Text binary(llvm::StringRef symbol, Binding binding, bool associates = false);
  Text call(llvm::StringRef function);
  Text helper(Helper which, llvm::StringRef function);
  Text narrow(const Text &text);
  Text integer(llvm::StringRef symbol, llvm::StringRef wrapped, Binding binding,
               mlir::arith::IntegerOverflowFlags flags);
  Text unsignedInteger(llvm::StringRef symbol, Binding binding);
  Text callTemplate(llvm::StringRef function, bool isUnsigned = false);
  Text compareIntegers(mlir::arith::CmpIPredicate predicate);
  Text compareFloats(mlir::arith::CmpFPredicate predicate);
  Text negated(const Text &text);
  Text select(const Text &choice, const Text &yes, const Text &no);
  Text logical(llvm::StringRef boolean, llvm::StringRef bits);
  Text asFloat();
  Text widen();
  Text fromInteger(const Text &number);
  Text toNarrowFloat();
  std::optional<Text> floats();
  std::optional<Text> integers();
  std::optional<Text> conversions();
  std::optional<Text> math();

  mlir::Operation *op;
  llvm::function_ref<Text(mlir::Value)> give;
  Helpers &helpers;
  mlir::Type type; // of one lane of the result
};

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_CUDAEXPRESSIONS_H
