//===- Passes.td - From the forward graph to the training step ----------------===//

#ifndef AUTOPAR_TRAINING_PASSES_TD
#define AUTOPAR_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddLoss : Pass<"autopar-add-loss", "::mlir::ModuleOp"> {
  let summary = "make @step return the loss of the module's `autopar.recipe`";
  let description = [{
    The outputs of the model go; the labels become an input, the loss, a scalar of the output's type but at least f32,
    the output `loss`. A label that is no class ends the run (`autopar.checks`).
    Without a recipe: nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def Differentiate : Pass<"autopar-differentiate", "::mlir::ModuleOp"> {
  let summary = "make @step return the gradient of its output `loss` by each trainable parameter";
  let description = [{
    Reverse mode: from the loss back, each op's derivative (DerivativeOpInterface) on what
    the loss depends on. The gradients of a value that is used several times are added. Without
    a recipe: nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def AddOptimizer : Pass<"autopar-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "update the parameters of which @step returns gradients";
  let description = [{
    Trained parameters, the optimizer's state and the step counter become states; the
    outputs `grad_norm` (of all gradients, before clipping) and `learning_rate` are added.
    Without a recipe: nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

#endif // AUTOPAR_TRAINING_PASSES_TD
