//===- Contraction.cpp - Derivatives of sums of products ------------------===//

#include "Derivatives.h"

using namespace mlir;

namespace autopar {

namespace {

/// Each operand's gradient contracts the result's with the other operand: every
/// letter of an operand is in the other one or in the result.
struct EinsumDerivative : Derivative<EinsumDerivative, EinsumOp> {
  static Gradients build(EinsumOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool> wanted) {
    std::string lhs = op.getLhsLetters().str(), rhs = op.getRhsLetters().str(),
                result = op.getResultLetters().str();
    SmallVector<Value> gradients(2);
    if (wanted[0])
      gradients[0] = b.einsum(result + "," + rhs + "->" + lhs, g, op.getRhs());
    if (wanted[1])
      gradients[1] = b.einsum(lhs + "," + result + "->" + rhs, op.getLhs(), g);
    return gradients;
  }
};

} // namespace

void registerContractionDerivatives(MLIRContext *context) {
  EinsumOp::attachInterface<EinsumDerivative>(*context);
}

} // namespace autopar
