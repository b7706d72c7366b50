//===- Passes.td - From the forward graph to the training step ----------------===//

#ifndef AUTOPAR_TRAINING_PASSES_TD
#define AUTOPAR_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddLoss : Pass<"autopar-add-loss", "::mlir::ModuleOp"> {
  let summary = "make @step return the loss of the module's `autopar.recipe`";
  let description = [{
    The outputs of the model go; the labels become an input, the loss, a scalar of the output's type but at least f32
    (of squares f64), the output `loss`: of blocks of a step, what one of them adds to it. Where labels may be left out, the output
    `labels/counted` says how many count, until autopar-add-optimizer. A label that is no class ends the run before its first step (`autopar.index_bounds`).
    Without a recipe: nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def StackParameters : Pass<"autopar-stack-parameters", "::mlir::ModuleOp"> {
  let summary = "make a parameter that is read as equal pieces a stack of them";
  let description = [{
    A packed projection tensor<1536x512xf32>, of which @step reads rows 0 to 511, 512 to 1023 and 1024 to 1535 by themselves,
    becomes a tensor<3x512x512xf32>: queries, keys and values then split along their heads where they are stored, with their
    gradients and the optimizer's states. `file_shape` of its source says what its shape in files is. An optimizer that
    tells rows from columns keeps its parameters as they are. Without a recipe: only what `autopar.trained_states` has so.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def KeepTrainedStates : Pass<"autopar-keep-trained-states", "::mlir::ModuleOp"> {
  let summary = "make parameters that another entry of the program trains states of @step";
  let description = [{
    Of a module with `autopar.trained_states`, the evaluation beside a training: {NAME = TYPE, ...}. Those of its parameters become
    states that no step changes, so that they are the training's; one of another type is an error.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def AddMetrics : Pass<"autopar-add-metrics", "::mlir::ModuleOp"> {
  let summary = "make @step return what the metrics of the module's `autopar.evaluation` are made of";
  let description = [{
    Of a module that evaluates what another entry trains, whose recipe it has as `autopar.evaluation`: labels become an input, as of
    autopar-add-loss; the outputs of the model stay, and each metric of the recipe adds tensors of the role `metric`, as the sum of the losses and
    their number. `autopar.metrics` says what they are. A boolean per row, the input that `autopar.counted_rows` names, says which rows
    count, unless rows meet in the model: then a warning says that a last batch is left out.
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

def AccumulateGradients : Pass<"autopar-accumulate-gradients", "::mlir::ModuleOp"> {
  let summary = "repeat @step for the blocks of the recipe's `accumulation`";
  let description = [{
    Inputs [rows, ...] become [blocks, rows, ...], of which block after block takes its rows; a scalar is that of all blocks. The
    loss and the gradients add up; the labels of all blocks are counted first and stand in the place of a block's, unless the
    recipe's means are over blocks; states, as running statistics, go from block to block. Without a recipe or with one block:
    nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def AddOptimizer : Pass<"autopar-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "update the parameters of which @step returns gradients";
  let description = [{
    Trained parameters, the optimizer's state and the step counter become states; the
    outputs `grad_norm` (of all gradients, before clipping) and `learning_rate` are added. A step whose gradients are not finite,
    where the loss is scaled, or that counts no label changes nothing (`skipped`, `no_labels`).
    Without a recipe: nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def CheckNumerics : Pass<"autopar-check-numerics", "::mlir::ModuleOp"> {
  let summary = "end a run at the first NaN or infinity, naming its tensor and op";
  let description = [{
    Of a module with `autopar.check_numerics`, training step or not: @step returns the i32 `numerics/first`, 0 or the place
    of a check (`autopar.checks`): the first op, in the order of @step, one of whose results has a NaN or an infinity that none of
    its operands has, or the first input, parameter or state that has a NaN. Of an `autopar.function` only the result is looked at;
    of a value that a `select` does not take it does not matter. Of a loss that is scaled,
    whose gradients may overflow, what the loss depends on is looked at alone.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def DropFunctions : Pass<"autopar-drop-functions", "::mlir::ModuleOp"> {
  let summary = "replace each autopar.function by its value";
  let description = [{
    Run after autopar-differentiate and autopar-check-numerics, which read them. The ONNX name stays on the op that computes the value.
  }];
  let dependentDialects = ["::autopar::AutoparDialect"];
}

#endif // AUTOPAR_TRAINING_PASSES_TD
