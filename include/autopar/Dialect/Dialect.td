//===- Dialect.td - The autopar dialect and its attributes --------------------===//

#ifndef AUTOPAR_DIALECT_DIALECT_TD
#define AUTOPAR_DIALECT_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "autopar/Interfaces/Enums.td"

def Autopar_Dialect : Dialect {
  let name = "autopar";
  let cppNamespace = "::autopar";
  let summary = "Tensor programs, how they are sharded over a mesh of devices, and what the devices exchange";
  let description = [{
    About 40 ops: the smallest set that keeps what matters to a parallel plan
    visible. Shapes are static (symbolic dimensions are bound at import). A module
    holds `@setup` and `@step` (after Partition: one of each per stage).

    Attributes that passes attach by name:

    | attribute | on | written by | meaning |
    |---|---|---|---|
    | `autopar.model` | module | import | file name of the model, a string |
    | `autopar.names` | op | import | array of strings: the ONNX name of each result, "" for none |
    | `autopar.recipe` | module | driver | `#training.recipe`: the recipe by which @step is to be trained |
    | `autopar.evaluation` | module | driver | `#training.recipe`: the recipe of the training whose model this module evaluates |
    | `autopar.trained_states` | module | driver | a dictionary: the parameters that another entry changes, by name with the types that they have there |
    | `autopar.hashes` | module | driver | `{model, recipe}`: hashes (16 digits) of the graph and of the recipe of a training, for those who read logs and checkpoints |
    | `autopar.precision` | module | driver | "fp32" (or none), "tf32", "bf16" or "fp16": the type in which matrix multiplications and convolutions are computed |
    | `autopar.narrow_gradient_sums` | module | training | a unit: devices may add up their parts of a gradient in the type in which the parts were computed; missing: in the gradient's own type |
    | `autopar.metrics` | module | training | a dictionary: the metrics of an evaluation, and when the training asks for them, as in the manifest (docs/RuntimeABI.md) |
    | `autopar.counted_rows` | module | training | the name of the input that says which rows of a batch count, a string |
    | `autopar.check_numerics` | module | driver | a unit: a step ends the run at the first number that is not finite (`--check-numerics`) |
    | `autopar.request` | module | driver | a dictionary: what is asked of the plan, gone after planning (Planning/RequestAttribute.h) |
    | `autopar.plan` | module | plan | a dictionary: the fields of a plan file but tensors and ops (docs/PlanFile.md) |
    | `autopar.schedule_steps` | module | training | the step at which the schedule of the learning rate ends, an integer; missing: it has no end |
    | `autopar.task` | op of @step | training | `#autopar.task`: the part of a training step to which it belongs; gone after partition |
    | `autopar.stages` | module | plan | number of pipeline stages |
    | `autopar.source` | function argument | import | `#autopar.input`, `#autopar.parameter`, `#autopar.state`, `#autopar.setup_result` |
    | `autopar.result` | function result | import | `#autopar.output`, `#autopar.gradient`, `#autopar.next_state` or `#autopar.setup_value` |
    | `autopar.sharding` | function argument, result | plan | how the value is sharded |
    | `autopar.shardings` | op | plan | array: how each result is sharded for its users |
    | `autopar.strategy` | op | plan | what each axis does in the op |
    | `autopar.operand_steps`, `autopar.result_steps` | op | plan | arrays, one per operand or result: the `#autopar.reshard_step`s of its reshard, in order; missing: there are none. Gone after insert-reshards |
    | `autopar.regathers` | op | plan | numbers of operands, ascending: their reshard is made again, although an op before this one had the same. Gone after insert-reshards |
    | `autopar.regather` | reshard, collective | partition | it makes a reshard again: an integer that no other such reshard of the function has, so that nothing merges them |
    | `autopar.steps` | function result | plan | the `#autopar.reshard_step`s of its reshard, if it has one; gone after insert-reshards |
    | `autopar.padded` | GEMM | plan | a unit: its operands are padded, so that their rows in memory are aligned; gone after align-operands |
    | `autopar.stage` | op, function | plan, partition | pipeline stage |
    | `autopar.global_type` | function argument, result | partition | type before the split |
    | `autopar.origin` | op | partition | number of the op of the whole program, then of the part of a composite; gone after the equality check |
    | `autopar.kept` | function | partition | name of the function that this is an untouched copy of; gone after the equality check |
    | `autopar.target` | module | driver or plan | "cpu" (or none), "cuda", or "emulated" |
    | `autopar.cpu` | module | driver | the CPU for which code is made (`--cpu`), a string; missing: this host's |
    | `autopar.entry` | module | driver | the name of the entry (`--entry`) of which this is the program |
    | `autopar.fixed_inputs` | module | import | `#autopar.fixed_input`s: inputs to which `--bind` gave a value |
    | `autopar.checks` | module | import, check-numerics | `#autopar.check`s: results of @step that end a run |
    | `autopar.index_bounds` | module | import, add-loss | `#autopar.index_bound`s: parts of inputs that hold indices |
    | `autopar.known_tensors` | module | import | `#autopar.known_tensor`s: weights whose values the importer looked at |
    | `autopar.module_tensors` | module | import | of a file that lists its module's parameters: whether each tensor of floats is trained if the recipe names none, as `{fc.weight = true}` |
    | `autopar.state_outputs` | module | import | the model's outputs that are states in the next step, by the states' names: `{h = "h_next"}` |
    | `autopar.hyperparameters` | module | training | `#autopar.hyperparameter`s: numbers that a run may set |
    | `autopar.arguments`, `autopar.results` | function | schedule | `#autopar.port`s: what the function's arguments and results were |
    | `autopar.arena_bytes` | function | schedule | bytes of the arena |
    | `autopar.persistent` | module | schedule | per stage its `#autopar.persistent`s |
    | `autopar.op` | kernel, communication | schedule | the ONNX node that reports name |
    | `autopar.row_rank` | kernel | schedule | leading dimensions that are rows; gone after assign-buffers |
    | `autopar.in_place` | kernel | schedule | per output the input that it may be stored over, or -1 |
    | `autopar.layouts` | kernel, collective, recv | schedule | per result its dimensions as stored; gone after assign-buffers |
    | `autopar.sequence` | communication | schedule | its place in the one global order |
    | `autopar.stream` | kernel, communication | schedule | the stream that it runs on; missing: 0 |
    | `autopar.value` | buffer | schedule | the number of the value that it holds |
    | `autopar.weight_files` | module | lower | `#autopar.weight_file`s: the files that parameters name |
    | `autopar.made_weights` | module | lower | `#autopar.made_weight`s: parameters that the compiler writes |
    | `autopar.cpu_features` | module | lower | the CPU features that the code needs, strings |
    | `autopar.kernels` | gpu.module | lower | `#autopar.grid_kernel`s: the kernels by number |
    | `autopar.description` | gpu.func | lower | lines of text that say what the kernel computes |
    | `autopar.given` | function argument | a person | the elements with which `autopar-interpret` runs the function |
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    static constexpr llvm::StringLiteral kModel = "autopar.model";
    static constexpr llvm::StringLiteral kNames = "autopar.names";
    static constexpr llvm::StringLiteral kRecipe = "autopar.recipe";
    static constexpr llvm::StringLiteral kEvaluation = "autopar.evaluation";
    static constexpr llvm::StringLiteral kTrainedStates = "autopar.trained_states";
    static constexpr llvm::StringLiteral kHashes = "autopar.hashes";
    static constexpr llvm::StringLiteral kPrecision = "autopar.precision";
    static constexpr llvm::StringLiteral kNarrowGradientSums = "autopar.narrow_gradient_sums";
    static constexpr llvm::StringLiteral kMetrics = "autopar.metrics";
    static constexpr llvm::StringLiteral kCountedRows = "autopar.counted_rows";
    static constexpr llvm::StringLiteral kRequest = "autopar.request";
    static constexpr llvm::StringLiteral kPlan = "autopar.plan";
    static constexpr llvm::StringLiteral kSource = "autopar.source";
    static constexpr llvm::StringLiteral kResult = "autopar.result";
    static constexpr llvm::StringLiteral kSharding = "autopar.sharding";
    static constexpr llvm::StringLiteral kShardings = "autopar.shardings";
    static constexpr llvm::StringLiteral kStrategy = "autopar.strategy";
    static constexpr llvm::StringLiteral kOperandSteps = "autopar.operand_steps";
    static constexpr llvm::StringLiteral kResultSteps = "autopar.result_steps";
    static constexpr llvm::StringLiteral kRegathers = "autopar.regathers";
    static constexpr llvm::StringLiteral kRegather = "autopar.regather";
    static constexpr llvm::StringLiteral kSteps = "autopar.steps";
    static constexpr llvm::StringLiteral kPadded = "autopar.padded";
    static constexpr llvm::StringLiteral kStage = "autopar.stage";
    static constexpr llvm::StringLiteral kGlobalType = "autopar.global_type";
    static constexpr llvm::StringLiteral kOrigin = "autopar.origin";
    static constexpr llvm::StringLiteral kKept = "autopar.kept";
    static constexpr llvm::StringLiteral kTask = "autopar.task";
    static constexpr llvm::StringLiteral kScheduleSteps = "autopar.schedule_steps";
    static constexpr llvm::StringLiteral kHyperparameters = "autopar.hyperparameters";
    static constexpr llvm::StringLiteral kStages = "autopar.stages";
    static constexpr llvm::StringLiteral kCheckNumerics = "autopar.check_numerics";
    static constexpr llvm::StringLiteral kTarget = "autopar.target";
    static constexpr llvm::StringLiteral kCpu = "autopar.cpu";
    static constexpr llvm::StringLiteral kEntry = "autopar.entry";
    static constexpr llvm::StringLiteral kFixedInputs = "autopar.fixed_inputs";
    static constexpr llvm::StringLiteral kChecks = "autopar.checks";
    static constexpr llvm::StringLiteral kIndexBounds = "autopar.index_bounds";
    static constexpr llvm::StringLiteral kKnownTensors = "autopar.known_tensors";
    static constexpr llvm::StringLiteral kModuleTensors = "autopar.module_tensors";
    static constexpr llvm::StringLiteral kStateOutputs = "autopar.state_outputs";
    static constexpr llvm::StringLiteral kArguments = "autopar.arguments";
    static constexpr llvm::StringLiteral kResults = "autopar.results";
    static constexpr llvm::StringLiteral kArenaBytes = "autopar.arena_bytes";
    static constexpr llvm::StringLiteral kPersistent = "autopar.persistent";
    static constexpr llvm::StringLiteral kOp = "autopar.op";
    static constexpr llvm::StringLiteral kRowRank = "autopar.row_rank";
    static constexpr llvm::StringLiteral kInPlace = "autopar.in_place";
    static constexpr llvm::StringLiteral kLayouts = "autopar.layouts";
    static constexpr llvm::StringLiteral kSequence = "autopar.sequence";
    static constexpr llvm::StringLiteral kStream = "autopar.stream";
    static constexpr llvm::StringLiteral kValue = "autopar.value";
    static constexpr llvm::StringLiteral kWeightFiles = "autopar.weight_files";
    static constexpr llvm::StringLiteral kMadeWeights = "autopar.made_weights";
    static constexpr llvm::StringLiteral kCpuFeatures = "autopar.cpu_features";
    static constexpr llvm::StringLiteral kKernels = "autopar.kernels";
    static constexpr llvm::StringLiteral kDescription = "autopar.description";
    static constexpr llvm::StringLiteral kGiven = "autopar.given";
    void registerAttributes();
  }];
}

class Autopar_Attr<string name, string attrMnemonic> : AttrDef<Autopar_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Mesh and sharding
//===----------------------------------------------------------------------===//

def Autopar_MeshAttr : Autopar_Attr<"Mesh", "mesh"> {
  let summary = "named device axes: `#autopar.mesh<[\"data\"=4, \"tensor\"=2]>`";
  let description = [{
    Row-major: the last axis varies fastest over device numbers. An axis named
    `time` comes first and counts micro-batches. Each axis is held as its prime
    factors: `"tensor.0"` names the first prime factor of `"tensor"`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names, ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::autopar::Mesh toMesh() const;
    static MeshAttr get(::mlir::MLIRContext *context, const ::autopar::Mesh &mesh);
  }];
}

def Autopar_ShardingAttr : Autopar_Attr<"Sharding", "sharding"> {
  let summary = "how a value is sharded over a mesh: `#autopar.sharding<@mesh, [{\"data\"}, {}], partial = {\"tensor\": sum}>`";
  let description = [{
    One list of axes per dimension, major to minor; a value may be partial over
    axes, with the reduction that makes it whole. `{"x", step = 4, offset = -1,
    length = 6}` is an overlapping interval (a halo): device j holds positions
    j*step + offset to j*step + offset + length - 1.
  }];
  let parameters = (ins
    "::mlir::FlatSymbolRefAttr":$mesh,
    ArrayRefParameter<"::autopar::DimShardingAttr">:$dims,
    OptionalArrayRefParameter<"::autopar::PartialAttr">:$partial);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Axis names resolved to the mesh's sub-axes. The names must exist (verified).
    ::autopar::Sharding toSharding(const ::autopar::Mesh &mesh) const;
    static ShardingAttr get(::mlir::FlatSymbolRefAttr symbol, const ::autopar::Sharding &sharding,
                            const ::autopar::Mesh &mesh);
  }];
}

def Autopar_DimShardingAttr : Autopar_Attr<"DimSharding", "dim_sharding"> {
  let summary = "axes that split one dimension, written inside a sharding";
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$axes, "bool":$hasInterval,
                        "int64_t":$step, "int64_t":$offset, "int64_t":$length);
  let hasCustomAssemblyFormat = 1;
}

def Autopar_PartialAttr : Autopar_Attr<"Partial", "partial"> {
  let summary = "axis over which a value is partial and its reduction, written inside a sharding";
  let parameters = (ins "::mlir::StringAttr":$axis, "::autopar::ReduceKind":$kind);
  let hasCustomAssemblyFormat = 1;
}

def Autopar_StrategyAttr : Autopar_Attr<"Strategy", "strategy"> {
  let summary = "what each axis does in an op: `#autopar.strategy<@mesh, {\"data\": split 0, \"tensor\": pass 1}>`";
  let description = [{
    `split f` splits factor f of the op's sharding rule; `pass p` lets a partial
    value through by the rule's pass p. Axes not listed do nothing: each device
    along them computes the same.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, OptionalArrayRefParameter<"::mlir::StringAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$kinds, OptionalArrayRefParameter<"int64_t">:$indices);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::autopar::Assignment toAssignment(const ::autopar::Mesh &mesh) const;
    static StrategyAttr get(::mlir::FlatSymbolRefAttr symbol, const ::autopar::Assignment &assignment,
                            const ::autopar::Mesh &mesh);
  }];
}

def Autopar_ReshardStepAttr : Autopar_Attr<"ReshardStep", "reshard_step"> {
  let summary = "a step from one sharding to another: `#autopar.reshard_step<all_to_all [\"x\"] dim = 1 concat_dim = 0>`";
  let description = [{
    `kind` says what happens along `axes`, major to minor; `dim` is split, joined
    or widened, `concat_dim` joined by an all_to_all, and partial values combine
    by `reduce` (absent: sum). A halo gives `dim` the interval that it has at the
    reshard's end. Planning records the steps, and partition emits them.
  }];
  let parameters = (ins EnumParameter<Autopar_ReshardKind>:$kind, ArrayRefParameter<"::mlir::StringAttr">:$axes,
    DefaultValuedParameter<"int64_t", "-1">:$dim, DefaultValuedParameter<"int64_t", "-1">:$concat_dim,
    DefaultValuedParameter<EnumParameter<Autopar_ReduceKind>.cppType, "::autopar::ReduceKind::Sum">:$reduce);
  let assemblyFormat = "`<` $kind ` ` `[` $axes `]` (`dim` `=` $dim^)? (`concat_dim` `=` $concat_dim^)? "
                       "(`reduce` `=` $reduce^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the step over sub-axes; nullopt if the mesh lacks one of the axes.
    std::optional<::autopar::ShardingStep> toStep(const ::autopar::Mesh &mesh) const;
    static ReshardStepAttr get(::mlir::MLIRContext *context, const ::autopar::ShardingStep &step, const ::autopar::Mesh &mesh);
  }];
}

//===----------------------------------------------------------------------===//
// Where arguments come from and results go
//===----------------------------------------------------------------------===//

def Autopar_InputAttr : Autopar_Attr<"Input", "input"> {
  let summary = "an argument that the user gives each step, by its ONNX name";
  let description = [{
    `blocks`, where there are any: the number of blocks of rows that a step takes, the argument's first dimension. The user's
    array has blocks and rows as one dimension.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalParameter<"int64_t">:$blocks);
  let assemblyFormat = "`<` $name (`,` `blocks` `=` $blocks^)? `>`";
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$name), "return $_get($_ctxt, name, int64_t(0));">];
  let extraClassDeclaration = [{
    /// The shape of the user's array, of an argument's with blocks.
    ::llvm::SmallVector<int64_t> joinBlocks(::llvm::ArrayRef<int64_t> shape) const;
  }];
}

def Autopar_ParameterAttr : Autopar_Attr<"Parameter", "parameter"> {
  let summary = "an argument read once from a file: name, file, offset and length in bytes";
  let description = [{
    `file` is relative to the model's folder; the model itself holds inline
    weights. An offset of -1: the bytes' place is not known. `constant`: the tensor
    of a node, which a training does not change unless the recipe names it.
    `file_shape`, where it is there: the tensor's shape in files, of which the argument
    has the elements in the same order, as of `"w" [1536, 512]` in a tensor<3x512x512xf32>.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalArrayRefParameter<"int64_t">:$file_shape,
                        "::mlir::StringAttr":$file, "int64_t":$offset, "int64_t":$length,
                        OptionalParameter<"bool">:$constant);
  let assemblyFormat = "`<` $name (` ` `[` $file_shape^ `]`)? `,` $file `,` `offset` `=` $offset `,` `length` `=` $length "
                       "(`,` `constant` `=` $constant^)? `>`";
  let extraClassDeclaration = [{
    /// The same tensor, elsewhere.
    ::autopar::ParameterAttr at(::mlir::StringAttr file, int64_t offset, int64_t length) const;
  }];
}

def Autopar_SetupResultAttr : Autopar_Attr<"SetupResult", "setup_result"> {
  let summary = "an argument of @step that is result `index` of @setup";
  let parameters = (ins "int64_t":$index);
  let assemblyFormat = "`<` $index `>`";
}

def Autopar_StateAttr : Autopar_Attr<"State", "state"> {
  let summary = "an argument of @step that lives from step to step, by its role and name";
  let description = [{
    `initial` says what it is in the first step: `#autopar.parameter<...>`, or a
    number for all its elements. In the next step it is the result of @step that is
    `#autopar.next_state` of the same name and role, which has its type and its
    sharding. `role` keeps names apart: a parameter may be called as a state of
    the optimizer is.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Attribute":$initial,
    DefaultValuedParameter<EnumParameter<Autopar_StateRole>.cppType, "::autopar::StateRole::Model">:$role);
  let assemblyFormat = "`<` $name `,` $initial (`,` `role` `=` $role^)? `>`";
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$name, "::mlir::Attribute":$initial),
                              "return $_get($_ctxt, name, initial, ::autopar::StateRole::Model);">];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The result of @step that is this state in the next step.
    ::autopar::NextStateAttr next() const;
  }];
}

def Autopar_NextStateAttr : Autopar_Attr<"NextState", "next_state"> {
  let summary = "a result of @step: the state of that role and name in the next step";
  let parameters = (ins "::mlir::StringAttr":$name,
    DefaultValuedParameter<EnumParameter<Autopar_StateRole>.cppType, "::autopar::StateRole::Model">:$role);
  let assemblyFormat = "`<` $name (`,` `role` `=` $role^)? `>`";
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$name),
                              "return $_get($_ctxt, name, ::autopar::StateRole::Model);">];
}

def Autopar_GradientAttr : Autopar_Attr<"Gradient", "gradient"> {
  let summary = "a result of a training step: the loss's gradient by the parameter of that name";
  let description = "`file_shape`: as that of the parameter.";
  let parameters = (ins "::mlir::StringAttr":$name, OptionalArrayRefParameter<"int64_t">:$file_shape);
  let assemblyFormat = "`<` $name (` ` `[` $file_shape^ `]`)? `>`";
}

def Autopar_OutputAttr : Autopar_Attr<"Output", "output"> {
  let summary = "a result that the user gets each step: an output of the model by its ONNX name, or what `role` says";
  let parameters = (ins "::mlir::StringAttr":$name,
    DefaultValuedParameter<EnumParameter<Autopar_OutputRole>.cppType, "::autopar::OutputRole::Model">:$role);
  let assemblyFormat = "`<` $name (`,` `role` `=` $role^)? `>`";
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$name),
                              "return $_get($_ctxt, name, ::autopar::OutputRole::Model);">,
                  /// An output that the compiler adds has its role's name.
                  AttrBuilder<(ins "::autopar::OutputRole":$role),
                              "return $_get($_ctxt, ::mlir::StringAttr::get($_ctxt, ::autopar::stringifyOutputRole(role)), role);">];
}

def Autopar_TaskAttr : EnumAttr<Autopar_Dialect, Autopar_Task, "task"> {
  let assemblyFormat = "`<` $value `>`";
}

def Autopar_SetupValueAttr : Autopar_Attr<"SetupValue", "setup_value"> {
  let summary = "a result of @setup: the name of the ONNX value it holds";
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
}

//===----------------------------------------------------------------------===//
// Kinds (Interfaces/Enums.td) as attributes
//===----------------------------------------------------------------------===//

class Autopar_EnumAttr<EnumInfo info, string attrMnemonic> : EnumAttr<Autopar_Dialect, info, attrMnemonic>;
def Autopar_UnaryKindAttr : Autopar_EnumAttr<Autopar_UnaryKind, "unary_kind">;
def Autopar_BinaryKindAttr : Autopar_EnumAttr<Autopar_BinaryKind, "binary_kind">;
def Autopar_ComparePredicateAttr : Autopar_EnumAttr<Autopar_ComparePredicate, "compare_predicate">;
def Autopar_NormKindAttr : Autopar_EnumAttr<Autopar_NormKind, "norm_kind">;
def Autopar_ReduceKindAttr : Autopar_EnumAttr<Autopar_ReduceKind, "reduce_kind">;
def Autopar_BufferSpaceAttr : Autopar_EnumAttr<Autopar_BufferSpace, "buffer_space">;

#endif // AUTOPAR_DIALECT_DIALECT_TD
