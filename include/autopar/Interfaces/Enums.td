//===- Enums.td - Kinds that rules, costs and ops share -----------------------===//

#ifndef AUTOPAR_INTERFACES_ENUMS_TD
#define AUTOPAR_INTERFACES_ENUMS_TD

include "mlir/IR/EnumAttr.td"

/// How the parts of a partial value, or the elements of a reduced dimension, combine.
def Autopar_ReduceKind : I32Enum<"ReduceKind", "how values combine", [
    I32EnumCase<"Sum", 0, "sum">, I32EnumCase<"Prod", 1, "prod">,
    I32EnumCase<"Max", 2, "max">, I32EnumCase<"Min", 3, "min">]> {
  let cppNamespace = "::autopar";
}

/// The kinds of steps of a reshard. The first two are local, the others communicate.
def Autopar_ReshardKind : I32Enum<"ReshardKind", "how a step changes a sharding", [
    I32EnumCase<"SliceBlock", 0, "slice_block">,       // replicated over the axes -> split in `dim`
    I32EnumCase<"KeepFirst", 1, "keep_first">,         // replicated over the axes -> partial
    I32EnumCase<"AllGather", 2, "all_gather">,         // the minor axes of `dim` -> replicated
    I32EnumCase<"ReduceScatter", 3, "reduce_scatter">, // partial over the axes -> split in `dim`
    I32EnumCase<"AllToAll", 4, "all_to_all">,          // the minor axes of `concat_dim` -> minor axes of `dim`
    I32EnumCase<"AllReduce", 5, "all_reduce">,         // partial over the axes -> replicated
    I32EnumCase<"Halo", 6, "halo">]> {                 // plain blocks of `dim` over the axes -> an interval
  let cppNamespace = "::autopar";
}

/// The kind of kernel that the op becomes. The kernel-group analysis (Cost)
/// and Lowering read it.
def Autopar_KernelClass : I32Enum<"KernelClass", "how an op becomes machine work", [
    I32EnumCase<"View", 0, "view">,                 // no work: reshape
    I32EnumCase<"Elementwise", 1, "elementwise">,   // each result element from the operands' elements at one index
    I32EnumCase<"Movement", 2, "movement">,         // each result element is one operand element: transpose, slice, pad, gather
    I32EnumCase<"Reduction", 3, "reduction">,       // reduce, softmax, normalize, scan
    I32EnumCase<"Contraction", 4, "contraction">,   // einsum
    I32EnumCase<"Convolution", 5, "convolution">,
    I32EnumCase<"Window", 6, "window">,             // pooling
    I32EnumCase<"Communication", 7, "communication">,
    I32EnumCase<"None", 8, "none">]> {              // constants, return
  let cppNamespace = "::autopar";
}

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

class Autopar_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::autopar";
}

def Autopar_UnaryKind : Autopar_Enum<"UnaryKind", "function of one element", [
  I32EnumCase<"Abs", 0, "abs">, I32EnumCase<"Ceil", 1, "ceil">, I32EnumCase<"Cos", 2, "cos">,
  I32EnumCase<"Erf", 3, "erf">, I32EnumCase<"Exp", 4, "exp">, I32EnumCase<"Floor", 5, "floor">,
  I32EnumCase<"GeluErf", 6, "gelu_erf">, I32EnumCase<"GeluTanh", 7, "gelu_tanh">,
  I32EnumCase<"IsNan", 8, "is_nan">, I32EnumCase<"Log", 9, "log">, I32EnumCase<"Neg", 10, "neg">,
  I32EnumCase<"Not", 11, "not">, I32EnumCase<"Reciprocal", 12, "reciprocal">, I32EnumCase<"Relu", 13, "relu">,
  I32EnumCase<"Round", 14, "round">, I32EnumCase<"Rsqrt", 15, "rsqrt">, I32EnumCase<"Sigmoid", 16, "sigmoid">,
  I32EnumCase<"Sign", 17, "sign">, I32EnumCase<"Sin", 18, "sin">, I32EnumCase<"Sqrt", 19, "sqrt">,
  I32EnumCase<"Tanh", 20, "tanh">, I32EnumCase<"IsInf", 21, "is_inf">, I32EnumCase<"Atan", 22, "atan">]>;

def Autopar_BinaryKind : Autopar_Enum<"BinaryKind", "function of two elements", [
  I32EnumCase<"Add", 0, "add">, I32EnumCase<"Sub", 1, "sub">, I32EnumCase<"Mul", 2, "mul">,
  I32EnumCase<"Div", 3, "div">, I32EnumCase<"Max", 4, "max">, I32EnumCase<"Min", 5, "min">,
  I32EnumCase<"Pow", 6, "pow">, I32EnumCase<"Mod", 7, "mod">, I32EnumCase<"FMod", 8, "fmod">,
  I32EnumCase<"And", 9, "and">, I32EnumCase<"Or", 10, "or">, I32EnumCase<"Xor", 11, "xor">,
  I32EnumCase<"Shl", 12, "shl">, I32EnumCase<"Shr", 13, "shr">]>;

def Autopar_ComparePredicate : Autopar_Enum<"ComparePredicate", "comparison of two elements", [
  I32EnumCase<"Eq", 0, "eq">, I32EnumCase<"Ne", 1, "ne">, I32EnumCase<"Lt", 2, "lt">,
  I32EnumCase<"Le", 3, "le">, I32EnumCase<"Gt", 4, "gt">, I32EnumCase<"Ge", 5, "ge">]>;

def Autopar_NormKind : Autopar_Enum<"NormKind", "what a norm subtracts and divides by", [
  I32EnumCase<"Layer", 0, "layer">, I32EnumCase<"Rms", 1, "rms">]>;

def Autopar_Activation : Autopar_Enum<"Activation", "function that a library applies to the elements of its result", [
  I32EnumCase<"None", 0, "none">, I32EnumCase<"Relu", 1, "relu">, I32EnumCase<"GeluErf", 2, "gelu_erf">,
  I32EnumCase<"GeluTanh", 3, "gelu_tanh">, I32EnumCase<"Tanh", 4, "tanh">, I32EnumCase<"Sigmoid", 5, "sigmoid">,
  I32EnumCase<"Silu", 6, "silu">]>;

def Autopar_BufferSpace : Autopar_Enum<"BufferSpace", "where a buffer is stored", [
  I32EnumCase<"Arena", 0, "arena">, I32EnumCase<"Persistent", 1, "persistent">]>;

/// The part of a training step to which an op belongs. An inference is one task, forward.
def Autopar_Task : Autopar_Enum<"Task", "part of a training step", [
  I32EnumCase<"Forward", 0, "forward">,                // what the loss depends on, and what else follows from it alone
  I32EnumCase<"InputGradient", 1, "input_gradient">,   // leads to the gradients of several parameters
  I32EnumCase<"WeightGradient", 2, "weight_gradient">, // leads to the gradient of one parameter
  I32EnumCase<"Update", 3, "update">]>;                // all others: what follows from gradients, the learning rate

//===----------------------------------------------------------------------===//
// What states and outputs are for
//===----------------------------------------------------------------------===//

/// Names are unique among states of one role: those of `model` are the user's.
def Autopar_StateRole : Autopar_Enum<"StateRole", "what a state is kept for", [
  I32EnumCase<"Model", 0, "model">,           // a parameter that changes, or an input of --state
  I32EnumCase<"Optimizer", 1, "optimizer">,   // the number of the step, and what an optimizer keeps of a parameter
  I32EnumCase<"LossScale", 2, "loss_scale">,  // a scale that adapts, and what it adapts by
  I32EnumCase<"Random", 3, "random">,         // the number of the step, which random numbers depend on
  I32EnumCase<"Extent", 4, "extent">,         // the rows of growing states that are in use
  I32EnumCase<"Average", 5, "average">,       // the average of the parameter of its name
  I32EnumCase<"Hyperparameter", 6, "hyperparameter">]>; // one of the recipe's `at_run_time`, which no step changes

/// Names are unique among outputs of one role: those of `model` are the user's.
def Autopar_OutputRole : Autopar_Enum<"OutputRole", "what an output tells", [
  I32EnumCase<"Model", 0, "model">,           // an output of the model
  I32EnumCase<"Loss", 1, "loss">,
  I32EnumCase<"GradNorm", 2, "grad_norm">,    // of all gradients, before clipping
  I32EnumCase<"LearningRate", 3, "learning_rate">,
  I32EnumCase<"LossScale", 4, "loss_scale">,
  I32EnumCase<"Skipped", 5, "skipped">,       // whether the step changed nothing
  I32EnumCase<"NoLabels", 7, "no_labels">,    // whether the step counts no label
  I32EnumCase<"CountedLabels", 8, "counted_labels">, // how many; until the optimizer is added
  I32EnumCase<"Metric", 9, "metric">,         // what a metric of an evaluation is made of (`autopar.metrics`)
  I32EnumCase<"Check", 6, "check">]>;         // whether the run has to end (`autopar.checks`)

#endif // AUTOPAR_INTERFACES_ENUMS_TD
