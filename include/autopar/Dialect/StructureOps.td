//===- StructureOps.td - Shardings and what devices exchange ------------------===//

#ifndef AUTOPAR_DIALECT_STRUCTUREOPS_TD
#define AUTOPAR_DIALECT_STRUCTUREOPS_TD

include "autopar/Dialect/ComputeOps.td"
include "autopar/Dialect/ScheduleAttributes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Autopar_MeshOp : Op<Autopar_Dialect, "mesh", [Symbol]> {
  let summary = "the mesh of every stage: `autopar.mesh @mesh #autopar.mesh<[\"data\"=2]>`";
  let description = [{
    Created by autopar-plan or autopar-apply-plan, in place of one that is there;
    removed by lowering.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Autopar_MeshAttr:$mesh);
  let assemblyFormat = "$sym_name $mesh attr-dict";
}

def Autopar_ReshardSteps : TypedArrayAttrBase<Autopar_ReshardStepAttr, "steps from one sharding to another">;

def Autopar_ReshardOp : Op<Autopar_Dialect, "reshard", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "the same global value, sharded otherwise";
  let description = [{
    Types are global. `steps`, one after the other, lead from `from` to `to`.
    `fill` says per dimension what positions outside an interval of `to` read as.
    Created by insert-reshards (Partition) with the steps that the plan records;
    removed by partition, which makes a local op or collective of each step.
  }];
  let arguments = (ins Autopar_Tensor:$input, Autopar_ShardingAttr:$from, Autopar_ShardingAttr:$to,
                       OptionalAttr<F64ArrayAttr>:$fill, Autopar_ReshardSteps:$steps);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to (`fill` `=` $fill^)? `steps` `=` $steps attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Autopar_FunctionOp : Op<Autopar_Dialect, "function", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a value that several ops compute, as one function of `inputs`: `autopar.function %v of(%x) derivative = \"softplus\" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>`";
  let description = [{
    The result is `value`. Its derivative is not that of the ops that compute `value`: the row `derivative` of the table in
    lib/Training/Derivatives/Functions.cpp builds the gradients of `inputs`, with `parameters` as numbers. Without a `derivative` the
    gradient goes to `value`. autopar-check-numerics looks at the result, and not at what lies between `inputs` and `value`.

    Created by the importer, only of a model that is trained or whose numbers are checked, and by autopar-differentiate where numbers are
    checked; removed by autopar-drop-functions at the end of phase training.
  }];
  let arguments = (ins Autopar_Float:$value, Variadic<Autopar_Tensor>:$inputs, OptionalAttr<StrAttr>:$derivative,
                       OptionalAttr<DictionaryAttr>:$parameters);
  let results = (outs Autopar_Float:$result);
  let assemblyFormat = [{
    $value `of` `(` $inputs `)` (`derivative` `=` $derivative^)? (`parameters` `=` $parameters^)? attr-dict
    `:` functional-type(operands, results) }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// A number of `parameters`; `otherwise` where it has none of that name.
    double getNumber(::llvm::StringRef name, double otherwise = 0);
    /// Dimensions that `parameters` lists; none without.
    ::llvm::ArrayRef<int64_t> getDims();
  }];
}

//===----------------------------------------------------------------------===//
// Local ops and collectives: created by partition, on local types. After buffer
// assignment they have memref operands, a destination and no result.
//===----------------------------------------------------------------------===//

def Autopar_Value : AnyTypeOf<[Autopar_Tensor, AnyStridedMemRef]>;

class Autopar_CollectiveOp<string mnemonic, dag attributes, list<Trait> traits = []>
    : Op<Autopar_Dialect, mnemonic, !listconcat([
        DeclareOpInterfaceMethods<KernelOpInterface>, MeshAxesOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let arguments = !con((ins Autopar_Value:$input, Optional<AnyStridedMemRef>:$output,
                            FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes), attributes);
  let results = (outs Optional<Autopar_Tensor>:$result);
  let assemblyFormat = "$input (`outs` $output^)? `mesh` `=` $mesh `axes` `=` $axes attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let description = [{
    Created by partition from a reshard, on local types; assign-buffers gives it
    memrefs and a destination; removed by lowering, which calls the runtime.
  }];
  let extraClassDefinition = [{
    ::autopar::KernelClass $cppClass::getKernelClass() {
      return ::autopar::KernelClass::Communication;
    }
    void $cppClass::getEffects(::llvm::SmallVectorImpl<
        ::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      ::autopar::collectiveEffects(*this, effects);
    }
  }];
}

def Autopar_AllReduceOp : Autopar_CollectiveOp<"all_reduce", (ins Autopar_ReduceKindAttr:$kind)> {
  let summary = "every device along `axes` gets the reduction of all their values";
}
def Autopar_AllGatherOp : Autopar_CollectiveOp<"all_gather", (ins I64Attr:$dim)> {
  let summary = "blocks along `axes` put together in dimension `dim`, cut to the result's size";
}
def Autopar_ReduceScatterOp : Autopar_CollectiveOp<"reduce_scatter", (ins I64Attr:$dim, Autopar_ReduceKindAttr:$kind)> {
  let summary = "the reduction along `axes`, of which each device keeps its block of `dim`";
}
def Autopar_AllToAllOp : Autopar_CollectiveOp<"all_to_all", (ins I64Attr:$split_dim, I64Attr:$concat_dim)> {
  let summary = "`axes` move from dimension `concat_dim`, which becomes whole, to `split_dim`, which is split";
}
def Autopar_HaloOp : Autopar_CollectiveOp<"halo",
    (ins I64Attr:$dim, I64Attr:$size, I64Attr:$step, I64Attr:$offset, F64Attr:$fill)> {
  let summary = "from a plain block of dimension `dim` (global `size`) to the interval j*step + offset + [0, result size)";
  let description = [{
    Positions outside [0, size) get `fill`. The interval may cover several
    neighbours or none. Created and removed as the other collectives.
  }];
}

def Autopar_CollectiveBroadcastOp : Autopar_CollectiveOp<"collective_broadcast", (ins I64Attr:$root)> {
  let summary = "every device along `axes` gets the value of device `root` of them, counted major to minor";
  let description = [{
    Written by hand so far: partition makes none. assign-buffers gives it memrefs
    and a destination; removed by lowering, which calls the runtime.
  }];
}

class Autopar_PositionOp<string mnemonic, dag attributes, list<string> facts = []>
    : Op<Autopar_Dialect, mnemonic, [Pure, MeshAxesOpInterface, DeclareOpInterfaceMethods<KernelOpInterface, facts>]> {
  let arguments = !con((ins Autopar_Tensor:$input, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes), attributes);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$input `mesh` `=` $mesh `axes` `=` $axes attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let description = [{
    Created by partition; form-kernels moves it into a kernel's body, with which
    lowering removes it.
  }];
}

def Autopar_SliceBlockOp : Autopar_PositionOp<"slice_block", (ins I64Attr:$dim)> {
  let summary = "the device's own block of `dim` along `axes`: [j*B, j*B + B) of the operand, B the result's size";
  let description = [{
    What is past the operand's end is unspecified. Created by partition from a
    reshard; form-kernels moves it into a kernel's body, with which lowering
    removes it.
  }];
}
def Autopar_MaskOp : Autopar_PositionOp<"mask", (ins I64Attr:$dim, I64Attr:$size, F64Attr:$value), ["roundsResult"]> {
  let summary = "`value` where the position j*B + i along `dim` is `size` (the global size) or more";
}
def Autopar_KeepFirstOp : Autopar_PositionOp<"keep_first", (ins Autopar_ReduceKindAttr:$kind), ["roundsResult"]> {
  let summary = "replicated to partial: the first device along `axes` keeps the value, the others get the neutral element";
}

def Autopar_BlockOffsetOp : Op<Autopar_Dialect, "block_offset",
    [Pure, MeshAxesOpInterface, DeclareOpInterfaceMethods<KernelOpInterface, ["getLoopRole"]>]> {
  let summary = "the device's linear index along `axes` times `block`: where its block begins";
  let description = [{
    Created by partition for ops that `localize` with global positions (iota,
    gather); form-kernels copies it into the bodies that read it, with which
    lowering removes it.
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, I64Attr:$block);
  let results = (outs Autopar_Index:$result);
  let assemblyFormat = "`mesh` `=` $mesh `axes` `=` $axes `block` `=` $block attr-dict `:` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "const ::autopar::Localization &":$localization, "unsigned":$factor)>];
}

//===----------------------------------------------------------------------===//
// Between stages
//===----------------------------------------------------------------------===//

def Autopar_SendOp : Op<Autopar_Dialect, "send",
    [DeclareOpInterfaceMethods<KernelOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "gives a local value to the device with the same place in `to_stage`, over `channel`";
  let description = [{
    Created by split-stages; partition makes its operand local, assign-buffers a
    memref; removed by lowering, which calls the runtime.
  }];
  let arguments = (ins Autopar_Value:$input, I64Attr:$channel, I64Attr:$to_stage);
  let assemblyFormat = "$input `channel` `=` $channel `to` $to_stage attr-dict `:` type($input)";
}
def Autopar_RecvOp : Op<Autopar_Dialect, "recv",
    [DeclareOpInterfaceMethods<KernelOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "takes what `from_stage` sent over `channel`";
  let description = [{
    Created by split-stages; partition makes its result local, assign-buffers
    replaces it by a destination; removed by lowering, which calls the runtime.
  }];
  let arguments = (ins Optional<AnyStridedMemRef>:$output, I64Attr:$channel, I64Attr:$from_stage);
  let results = (outs Optional<Autopar_Tensor>:$result);
  let assemblyFormat = "(`outs` $output^)? `channel` `=` $channel `from` $from_stage attr-dict `:` functional-type($output, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Kernels and buffers: created by Schedule
//===----------------------------------------------------------------------===//

def Autopar_YieldOp : Op<Autopar_Dialect, "yield", [Pure, Terminator, ReturnLike]> {
  let summary = "results of a kernel's body";
  let description = "Created and removed with its kernel.";
  let arguments = (ins Variadic<Autopar_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Autopar_KernelOp : Op<Autopar_Dialect, "kernel",
    [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "one launch or library call: the body is a tensor program over the operands";
  let description = [{
    Created by form-kernels on tensors; assign-buffers gives it memref operands and
    destinations (`outputs`) and no results. The body's arguments are tensors with the
    shapes of `inputs`; it yields one tensor per result or output. With `library` a
    library computes the body in that call; without it the kernel is loops.
    Assign-layouts adds kernels that copy. Removed by lowering.
  }];
  let arguments = (ins Variadic<Autopar_Value>:$inputs, Variadic<AnyStridedMemRef>:$outputs,
                       OptionalAttr<Autopar_LibraryCallAttr>:$library);
  let results = (outs Variadic<Autopar_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` $inputs `)` (`outs` `(` $outputs^ `)`)? (`library` $library^)? attr-dict-with-keyword
    `:` functional-type(operands, results) $body }];
  let hasVerifier = 1;
}

def Autopar_BufferOp : Op<Autopar_Dialect, "buffer", [Pure]> {
  let summary = "a place in memory: `autopar.buffer arena[4096] : memref<4xf32>`";
  let description = [{
    `position` is a byte offset in the arena, or the index of a persistent tensor.
    Created by assign-buffers; removed by lowering.
  }];
  let arguments = (ins Autopar_BufferSpaceAttr:$space, I64Attr:$position);
  let results = (outs AnyStridedMemRef:$result);
  let assemblyFormat = "`` $space `[` $position `]` attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Order between streams: created by assign-streams; removed by lowering
//===----------------------------------------------------------------------===//

class Autopar_EventOp<string mnemonic> : Op<Autopar_Dialect, mnemonic> {
  let arguments = (ins I64Attr:$event, I64Attr:$stream);
  let assemblyFormat = "$event `on` $stream attr-dict";
  let description = "Created by assign-streams; removed by lowering, which calls the runtime.";
}
def Autopar_RecordEventOp : Autopar_EventOp<"record_event"> {
  let summary = "`event` is done when all earlier work of `stream` is";
}
def Autopar_WaitEventOp : Autopar_EventOp<"wait_event"> {
  let summary = "later work of `stream` begins after the last record of `event` is done";
}

#endif // AUTOPAR_DIALECT_STRUCTUREOPS_TD
