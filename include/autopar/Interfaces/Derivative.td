//===- Derivative.td - How gradients flow back through an op ------------------===//

#ifndef AUTOPAR_INTERFACES_DERIVATIVE_TD
#define AUTOPAR_INTERFACES_DERIVATIVE_TD

include "mlir/IR/OpBase.td"

def DerivativeOpInterface : OpInterface<"DerivativeOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    The vector-Jacobian product of an op. Training registers it as external models
    (lib/Training/Derivatives). An op of floats that has none cannot be trained
    through.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the gradients of the operands for which `wanted` holds, each of its
        operand's type, from those of the results: null for a result that the loss
        does not depend on, not all of them. What is not wanted, and a gradient that
        is zero everywhere, may be null. Fails, having said why at the op, where
        no derivative is known.
      }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "differentiate",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$gradients,
           "::llvm::ArrayRef<bool>":$wanted)>
  ];
}

#endif // AUTOPAR_INTERFACES_DERIVATIVE_TD
