//===- Register.cpp - What Training adds to a context ---------------------===//

#include "Derivatives.h"
#include "autopar/Training/Passes.h"
#include "autopar/Training/RecipeAttr.h"

using namespace mlir;

namespace autopar {

void registerTraining(DialectRegistry &registry) {
  registry.insert<TrainingDialect>();
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
