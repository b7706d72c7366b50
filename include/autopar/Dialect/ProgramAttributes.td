//===- ProgramAttributes.td - What the manifest tells of a program ------------===//
//
// Rows of attributes of the module, each an array. Lowering writes them to the
// manifest (docs/RuntimeABI.md).
//
//===--------------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_PROGRAMATTRIBUTES_TD
#define AUTOPAR_DIALECT_PROGRAMATTRIBUTES_TD

include "autopar/Dialect/Dialect.td"

class Autopar_RowAttr<string name, string attrMnemonic, dag fields> : Autopar_Attr<name, attrMnemonic> {
  let parameters = fields;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

def Autopar_FixedInputAttr : Autopar_RowAttr<"FixedInput", "fixed_input",
    (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$text, "::mlir::DenseElementsAttr":$value)> {
  let summary = "an input that is a constant of the program: a row of `autopar.fixed_inputs`";
  let description = [{
    `text` is what `--bind` gave it as, `value` its elements:
    `#autopar.fixed_input<name = "rate", text = "16000", value = dense<16000> : tensor<i64>>`.
    Set by the importer.
  }];
}

def Autopar_CheckAttr : Autopar_RowAttr<"Check", "check",
    (ins "::mlir::StringAttr":$output, "::mlir::StringAttr":$message, OptionalParameter<"::mlir::ArrayAttr">:$places)> {
  let summary = "a result of @step that ends a run: a row of `autopar.checks`";
  let description = [{
    `output` names the result, a boolean that ends the run with `message` if it
    is true. With `places`, texts, it is an i32 that ends the run if it is above
    0: the number, counted from 1, of the place that ends the message. Set by the
    importer and by the passes that add checks.
  }];
}

def Autopar_IndexBoundAttr : Autopar_RowAttr<"IndexBound", "index_bound",
    (ins "::mlir::StringAttr":$input, OptionalParameter<"::mlir::StringAttr">:$table, OptionalParameter<"::mlir::IntegerAttr">:$dim,
     OptionalParameter<"::mlir::StringAttr">:$text, "int64_t":$size, OptionalParameter<"::mlir::IntegerAttr">:$ignored,
     "::mlir::DenseI64ArrayAttr":$shape, "::mlir::DenseI64ArrayAttr":$starts, "::mlir::DenseI64ArrayAttr":$sizes)> {
  let summary = "a part of an input that holds indices: a row of `autopar.index_bounds`";
  let description = [{
    The elements of `input` (of `shape`, without blocks of rows) from `starts`
    on, `sizes` in each dimension, are indices of dimension `dim` of tensor
    `table` of the model. A run ends if one is outside of [-size, size). The
    labels of a loss are classes from 0 on: they have a `text` that says so in
    place of `table` and `dim`, and `ignored` if there is a number that stands
    for no class. Set by the importer and by add-loss.
  }];
}

def Autopar_HyperparameterAttr : Autopar_RowAttr<"Hyperparameter", "hyperparameter",
    (ins "::mlir::StringAttr":$name, OptionalParameter<"::mlir::FloatAttr">:$least, OptionalParameter<"::mlir::FloatAttr">:$above,
     OptionalParameter<"::mlir::FloatAttr">:$below, DefaultValuedParameter<"bool", "false">:$integer)> {
  let summary = "a number that a run may set: a row of `autopar.hyperparameters`";
  let description = [{
    The values that it may have: `least` and more, or more than `above`; less
    than `below`, if that is there; only integers if `integer`. Set by
    add-optimizer.
  }];
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

def Autopar_KnownTensorAttr : Autopar_RowAttr<"KnownTensor", "known_tensor",
    (ins "::mlir::StringAttr":$name, "int64_t":$bytes, "::mlir::StringAttr":$content)> {
  let summary = "a weight whose values the importer looked at: a row of `autopar.known_tensors`";
  let description = [{
    The program is right for the values whose bytes have the hash `content` only.
    Set by the importer.
  }];
}

def Autopar_WeightFileAttr : Autopar_RowAttr<"WeightFile", "weight_file",
    (ins "::mlir::StringAttr":$file, "::mlir::StringAttr":$name, OptionalParameter<"::mlir::IntegerAttr">:$size,
     OptionalParameter<"::mlir::StringAttr">:$structure, OptionalParameter<"::mlir::StringAttr">:$content,
     DefaultValuedParameter<"bool", "false">:$made)> {
  let summary = "a file of weights: a row of `autopar.weight_files`";
  let description = [{
    `file` is its name in parameters, `name` its place relative to the
    executable. `size` (in bytes), `structure` and `content` (hashes) describe a
    file that was there when the program was compiled; `made` says that the
    compiler writes it. Set by place-weights, in the order of `file`.
  }];
}

def Autopar_MadeWeightAttr : Autopar_RowAttr<"MadeWeight", "made_weight",
    (ins "::mlir::StringAttr":$name, "int64_t":$offset, "int64_t":$size)> {
  let summary = "a parameter whose bytes the compiler writes itself: a row of `autopar.made_weights`";
  let description = [{
    `size` bytes at `offset` of the weights that are in the executable or beside
    it. Set by place-weights; it stays after Lowering, for write-executable.
  }];
}

//===----------------------------------------------------------------------===//
// Kernels of a GPU
//===----------------------------------------------------------------------===//

def Autopar_GridKernelAttr : Autopar_RowAttr<"GridKernel", "grid_kernel",
    (ins "::mlir::StringAttr":$name, "int64_t":$threads, "int64_t":$shared_bytes, "int64_t":$scalars,
     "::mlir::DenseI64ArrayAttr":$bytes, "::mlir::DenseI64ArrayAttr":$access)> {
  let summary = "a kernel that a GPU launches by its number: a row of `autopar.kernels`";
  let description = [{
    `threads` and `shared_bytes` are those of a block. The kernel's arguments are
    buffers, with their `bytes` and `access` (1: read, 2: written, 3: both), and
    then `scalars` numbers. Set by lower-to-gpu on the gpu.module of the kernels.
  }];
}

#endif // AUTOPAR_DIALECT_PROGRAMATTRIBUTES_TD
