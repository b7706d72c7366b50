//===- Passes.td - From the forward graph to the training step ----------------===//

#ifndef AUTOPAR_TRAINING_PASSES_TD
#define AUTOPAR_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddLoss : Pass<"autopar-add-loss", "::mlir::ModuleOp"> {
  let summary = "make @step return the loss of the module's `autopar.recipe`";
  let description = [{
    The outputs of the model are removed, and the labels become an input. The loss becomes the output `loss`: a scalar
    of the output's type, but at least f32 (f64 for squares). For a step in blocks it is the part that one block adds
    to the loss. If some labels may not count, the output `labels/counted` says how many count, until
    autopar-add-optimizer removes it. A label that is no class ends the run before its first step
    (`autopar.index_bounds`). Without a recipe the pass does nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def StackParameters : Pass<"autopar-stack-parameters", "::mlir::ModuleOp"> {
  let summary = "make a parameter that is read as equal pieces a stack of them";
  let description = [{
    A packed projection tensor<1536x512xf32>, of which @step reads rows 0 to 511, 512 to 1023 and 1024 to 1535 by themselves,
    becomes a tensor<3x512x512xf32>: queries, keys and values then split along their heads where they are stored, with their
    gradients and the optimizer's states. `file_shape` of its source says what its shape in files is. An optimizer that
    tells rows from columns keeps its parameters as they are. Without a recipe only the parameters that `autopar.trained_states`
    has as stacks become stacks.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def KeepTrainedStates : Pass<"autopar-keep-trained-states", "::mlir::ModuleOp"> {
  let summary = "make parameters that another entry of the program trains states of @step";
  let description = [{
    For an evaluation beside a training, a module with `autopar.trained_states` = {NAME = TYPE, ...}: these parameters
    become states that no step changes, so that they share the training's states. A parameter of another type is an
    error.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def AddMetrics : Pass<"autopar-add-metrics", "::mlir::ModuleOp"> {
  let summary = "make @step return what the metrics of the module's `autopar.evaluation` are made of";
  let description = [{
    This pass changes a module that evaluates what another entry trains, whose recipe is `autopar.evaluation`. Labels become
    an input, as in autopar-add-loss. The outputs of the model stay, and each metric of the recipe adds outputs of the
    role `metric`, such as the sum of the losses and their number. `autopar.metrics` describes them. A boolean per
    row, the input that `autopar.counted_rows` names, says which rows count, unless rows meet in the model: then a
    warning says that a last batch is left out.
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
    Inputs [rows, ...] become [blocks, rows, ...], and each block takes its rows; a scalar is the same for all blocks.
    The loss and the gradients of the blocks are added up. The labels of all blocks are counted first, and that number
    replaces the number of a block's labels, unless the recipe's means are over blocks. States such as running
    statistics go from block to block. Without a recipe or with one block the pass does nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def AddOptimizer : Pass<"autopar-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "update the parameters of which @step returns gradients";
  let description = [{
    Trained parameters, the optimizer's state and the step counter become states; the
    outputs `grad_norm` (of all gradients, before clipping) and `learning_rate` are added. A step whose gradients are not finite,
    where the loss is scaled, or that counts no label changes nothing (`skipped`, `no_labels`).
    Without a recipe the pass does nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def CheckNumerics : Pass<"autopar-check-numerics", "::mlir::ModuleOp"> {
  let summary = "end a run at the first NaN or infinity, naming its tensor and op";
  let description = [{
    In a module with `autopar.check_numerics`, training step or not, @step returns the i32 `numerics/first`: 0, or the
    place of a check (`autopar.checks`). The place is that of the first op, in the order of @step, with a NaN or an
    infinity in a result that none of its operands has, or of the first input, parameter or state that has a NaN. Only
    the result of an `autopar.function` is checked, and values that a `select` does not take do not matter. With a
    loss scale gradients may overflow, so only the values that the loss depends on are checked.
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

def AssignTasks : Pass<"autopar-assign-tasks", "::mlir::ModuleOp"> {
  let summary = "give each op of @step its task in the training step";
  let description = [{
    Run at the end of phase training, after all passes that merge or move ops. The loss depends on the ops of task
    `forward`; an op that follows from these alone, such as an average of batch norm, is `forward` too. Of the other ops
    on which gradients depend, those that lead to the gradient of one parameter are `weight_gradient`, the rest
    `input_gradient`. All others are `update`. Without a recipe the pass does nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect"];
}

#endif // AUTOPAR_TRAINING_PASSES_TD
