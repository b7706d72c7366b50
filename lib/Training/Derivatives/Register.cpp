//===- Register.cpp - Gives the dialect's ops their derivatives -----------===//

#include "Derivatives.h"
#include "autopar/Training/Passes.h"

using namespace mlir;

namespace autopar {

void registerDerivatives(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AutoparDialect *) {
    registerElementwiseDerivatives(context);
    registerShapeDerivatives(context);
    registerReductionDerivatives(context);
    registerContractionDerivatives(context);
    registerGatherDerivatives(context);
    registerWindowDerivatives(context);
    registerFunctionDerivatives(context);
  });
}

} // namespace autopar
