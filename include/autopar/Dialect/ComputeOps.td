//===- ComputeOps.td - What the model computes --------------------------------===//
//
// Shapes are static; operands never broadcast by themselves (autopar.broadcast
// does), so rules, kernels and derivatives see one shape. Each op states its
// sharding rule beside its verifier in lib/Dialect.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_COMPUTEOPS_TD
#define AUTOPAR_DIALECT_COMPUTEOPS_TD

include "autopar/Dialect/Dialect.td"
include "autopar/Interfaces/Interfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Autopar_Tensor : StaticShapeTensorOf<[AnyFloat, AnyInteger]>;
def Autopar_Float : StaticShapeTensorOf<[AnyFloat]>;
def Autopar_Bool : StaticShapeTensorOf<[I1]>;
def Autopar_IntTensor : StaticShapeTensorOf<[AnyInteger]>;
def Autopar_Index : RankedTensorOf<[I64]>; // a scalar tensor<i64> computed from the device's position

class Autopar_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Op<Autopar_Dialect, mnemonic, !listconcat([Pure], traits)>;

/// Ops whose localize is the default copy. `facts`: the methods of
/// KernelOpInterface that the op defines although they have a default.
class Autopar_Op<string mnemonic, list<Trait> traits = [], list<string> facts = []>
    : Autopar_ComputeOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
        DeclareOpInterfaceMethods<KernelOpInterface, facts>], traits)>;

/// Ops that build their local form themselves.
class Autopar_LocalizedOp<string mnemonic, list<Trait> traits = [], list<string> facts = []>
    : Autopar_ComputeOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["localize"]>,
        DeclareOpInterfaceMethods<KernelOpInterface, facts>], traits)>;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def Autopar_UnaryOp : Autopar_Op<"unary", [SameOperandsAndResultShape], ["getFlops", "getPrecisionClass", "roundsResult"]> {
  let summary = "a function of each element: `autopar.unary tanh %x : tensor<2xf32> -> tensor<2xf32>`";
  let description = [{
    Result type is the operand's, except is_nan and is_inf (i1). `round` is half
    to even. `gelu_erf` is x*(1+erf(x/sqrt 2))/2, `gelu_tanh` its tanh form.
  }];
  let arguments = (ins Autopar_UnaryKindAttr:$kind, Autopar_Tensor:$input);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "`` $kind $input attr-dict `:` type($input) `->` type($result)";
  let builders = [OpBuilder<(ins "::autopar::UnaryKind":$kind, "::mlir::Value":$input), [{
    auto type = ::llvm::cast<::mlir::RankedTensorType>(input.getType());
    bool isTest = kind == UnaryKind::IsNan || kind == UnaryKind::IsInf;
    build($_builder, $_state, isTest ? type.clone($_builder.getI1Type()) : type, kind, input);
  }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Autopar_BinaryOp : Autopar_Op<"binary", [SameOperandsAndResultType], ["getPrecisionClass", "roundsResult"]> {
  let summary = "a function of two elements: `autopar.binary add %a, %b : tensor<2xf32>`";
  let description = [{
    Integer division truncates and is 0 where the divisor is 0 (bytes past an
    extent are unspecified). `mod` has the divisor's sign, `fmod` the dividend's.
    `max` and `min` carry NaN on. `shl` by the width or more gives 0; `shr` copies the sign of signed integers and
    fills unsigned ones with zeros, also by the width or more.
  }];
  let arguments = (ins Autopar_BinaryKindAttr:$kind, Autopar_Tensor:$lhs, Autopar_Tensor:$rhs);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "`` $kind $lhs `,` $rhs attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Autopar_CompareOp : Autopar_Op<"compare", [SameOperandsAndResultShape, SameTypeOperands]> {
  let summary = "whether a comparison holds: `autopar.compare lt %a, %b : tensor<2xf32> -> tensor<2xi1>`";
  let description = "With NaN only `ne` holds. Rule: every dimension splits; no partial passes.";
  let arguments = (ins Autopar_ComparePredicateAttr:$predicate, Autopar_Tensor:$lhs, Autopar_Tensor:$rhs);
  let results = (outs Autopar_Bool:$result);
  let assemblyFormat = "`` $predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasFolder = 1;
}

def Autopar_SelectOp : Autopar_Op<"select",
    [SameOperandsAndResultShape, AllTypesMatch<["onTrue", "onFalse", "result"]>], ["roundsResult"]> {
  let summary = "elementwise choice: `autopar.select %c, %a, %b : tensor<2xi1>, tensor<2xf32>`";
  let description = [{
    `onTrue` where the condition holds, else `onFalse`; what is not chosen does not
    matter, NaN included. Rule: every dimension splits; both values may be partial
    together, by one whole condition.
  }];
  let arguments = (ins Autopar_Bool:$condition, Autopar_Tensor:$onTrue, Autopar_Tensor:$onFalse);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($condition) `,` type($result)";
  let hasFolder = 1;
}

def Autopar_ConvertOp : Autopar_Op<"convert", [SameOperandsAndResultShape], ["getPrecisionClass"]> {
  let summary = "element type conversion: `autopar.convert %x : tensor<2xi64> -> tensor<2xf32>`";
  let description = "Float to integer truncates; to i1 is `!= 0`; from i1 gives 0 or 1.";
  let arguments = (ins Autopar_Tensor:$input);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

def Autopar_ConstantOp : Autopar_LocalizedOp<"constant",
    [ConstantLike, AllTypesMatch<["value", "result"]>], ["getLoopRole", "roundsResult"]> {
  let summary = "a small constant: scalars and integer tables. Weights are arguments, never constants";
  let description = "Rule: a splat splits along every dimension; any other constant is whole on each device.";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{ build($_builder, $_state, value.getShapedType(), value); }]>];
}

def Autopar_IotaOp : Autopar_LocalizedOp<"iota", [], ["getLoopRole"]> {
  let summary = "position along `dim`, plus `offset` where given: `autopar.iota dim = 0 : () -> tensor<4xi64>`";
  let description = "Localize gives the device's block its offset.";
  let arguments = (ins I64Attr:$dim, Optional<Autopar_Index>:$offset);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "`dim` `=` $dim (`offset` $offset^)? attr-dict `:` functional-type($offset, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shape and movement
//===----------------------------------------------------------------------===//

def Autopar_BroadcastOp : Autopar_Op<"broadcast", [], ["getLoopRole"]> {
  let summary = "`autopar.broadcast %b dims = [1] : tensor<3xf32> -> tensor<2x3xf32>`";
  let description = [{
    Operand dimension i becomes result dimension dims[i] (strictly increasing);
    an operand dimension of size 1 stretches; the other result dimensions repeat.
  }];
  let arguments = (ins Autopar_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$input `dims` `=` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Autopar_ReshapeOp : Autopar_Op<"reshape"> {
  let summary = "same elements in row-major order: `autopar.reshape %x : tensor<6xf32> -> tensor<2x3xf32>`";
  let description = "Rule: compound factors, from the common refinement of both shapes.";
  let arguments = (ins Autopar_Tensor:$input);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Autopar_TransposeOp : Autopar_Op<"transpose", [], ["getLoopRole"]> {
  let summary = "result dimension i is operand dimension perm[i]: `autopar.transpose %x perm = [1, 0] : ...`";
  let description = [{
    Rule: every dimension splits, and a partial passes. A kernel follows it with
    loops of its own where the innermost dimension moves.
  }];
  let arguments = (ins Autopar_Tensor:$input, DenseI64ArrayAttr:$perm);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$input `perm` `=` $perm attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Autopar_SliceOp : Autopar_Op<"slice", [], ["getReadRun"]> {
  let summary = "result index i reads operand index starts + i*steps; steps may be negative";
  let description = "Rule: a dimension that is taken whole splits; a cut one does not. cutDim(): the one that is cut, if steps are 1.";
  let arguments = (ins Autopar_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$input `starts` `=` $starts `steps` `=` $steps attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = "std::optional<int64_t> cutDim();";
}

def Autopar_PadOp : Autopar_Op<"pad"> {
  let summary = "`value` around the operand: low[i] elements before, high[i] after dimension i (none negative)";
  let description = [{
    Rule: a dimension without padding splits; a padded one does not. A partial sum
    passes where `value` is zero.
  }];
  let arguments = (ins Autopar_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, F64Attr:$value);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$input `low` `=` $low `high` `=` $high `value` `=` $value attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Autopar_ConcatOp : Autopar_Op<"concat", [], ["joinsOperands"]> {
  let summary = "operands one after the other along `dim`";
  let description = [{
    They agree in the other dimensions. Rule: all dimensions but `dim` split;
    operands may be partial together.
  }];
  let arguments = (ins Variadic<Autopar_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$inputs `dim` `=` $dim attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Autopar_GatherOp : Autopar_LocalizedOp<"gather"> {
  let summary = "rows of `data` along `dim`, chosen by `indices`; result shape: data with dim replaced by indices' shape";
  let description = [{
    A negative index counts from the end and an index outside is clamped. With
    `offset %o of size` (made by localize when `dim`, of global `size`, is split) that is
    done on the global index, then row index - offset is read; a row outside the block
    reads as zero: the result is partial (sum).
  }];
  let arguments = (ins Autopar_Tensor:$data, Autopar_IntTensor:$indices, Optional<Autopar_Index>:$offset, I64Attr:$dim, OptionalAttr<I64Attr>:$size);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$data `,` $indices (`offset` $offset^ `of` $size)? `dim` `=` $dim attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Autopar_GatherNdOp : Autopar_Op<"gather_nd", [], ["getLoopRole"]> {
  let summary = "ONNX GatherND: the last dimension of `indices` addresses the dimensions of `data` after `batch_dims`";
  let description = [{
    Negative indices and indices outside mean what they mean in gather. Rule: the
    dimensions of `indices` before the last split, batch dimensions with those of
    `data`, and so do dimensions of `data` behind the addressed ones, which do not.
  }];
  let arguments = (ins Autopar_Tensor:$data, Autopar_IntTensor:$indices, I64Attr:$batch_dims);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$data `,` $indices `batch_dims` `=` $batch_dims attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Autopar_GatherElementsOp : Autopar_LocalizedOp<"gather_elements"> {
  let summary = "result index i reads `data` at i, with `indices`[i] in place of i[dim]; indices and result have one shape";
  let description = [{
    Data and indices agree in the other dimensions. Indices outside, and `offset %o of
    size`, mean what they mean in gather: rows split, the result is partial (sum).
  }];
  let arguments = (ins Autopar_Tensor:$data, Autopar_IntTensor:$indices, Optional<Autopar_Index>:$offset, I64Attr:$dim, OptionalAttr<I64Attr>:$size);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$data `,` $indices (`offset` $offset^ `of` $size)? `dim` `=` $dim attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Autopar_ScatterOp : Autopar_LocalizedOp<"scatter", [], ["getFlops", "getPrecisionClass"]> {
  let summary = "rows of `updates` reduced where `indices` say along `dim`, neutral elements elsewhere: the dual of gather";
  let description = [{
    `autopar.scatter sum %u, %i dim = 0 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<10x8xf32>`: operand and
    result have the shapes of gather's result and data, and indices mean what they mean in gather. `batched`:
    the dimensions before `dim` are the indices' first ones too, each point of them has indices of its own:
    `autopar.scatter max %u, %i dim = 1 batched : (tensor<3x4xf32>, tensor<3x4xi64>) -> tensor<3x10xf32>`.
    With `offset %o of size` (made by localize when `dim`, of global `size`, is split) a row outside the block
    is left out. Kinds: sum (not of i1), max, min. Rule: updates split (the result is partial by `kind`), and
    so do the rows of the result, each by all updates.
  }];
  let arguments = (ins Autopar_ReduceKindAttr:$kind, Autopar_Tensor:$updates, Autopar_IntTensor:$indices,
                       Optional<Autopar_Index>:$offset, I64Attr:$dim, OptionalAttr<I64Attr>:$size, UnitAttr:$batched);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = [{ `` $kind $updates `,` $indices (`offset` $offset^ `of` $size)? `dim` `=` $dim
    (`batched` $batched^)? attr-dict `:` functional-type(operands, results) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many of the indices' dimensions come first in the result too.
    int64_t getBatchRank() { return getBatched() ? getDim() : 0; }
    /// Returns the shape of the indices without the batch dimensions.
    llvm::ArrayRef<int64_t> getPointShape() {
      return getIndices().getType().getShape().drop_front(getBatchRank());
    }
  }];
}

//===----------------------------------------------------------------------===//
// Contraction, convolution, windows
//===----------------------------------------------------------------------===//

def Autopar_EinsumOp : Autopar_Op<"einsum",
    [DeclareOpInterfaceMethods<LibraryOpInterface, ["chooseInputLayouts", "describePacking"]>], ["getFlops", "getPrecisionClass"]> {
  let summary = "sum of products: `autopar.einsum \"bmk,bkn->bmn\" %a, %b : ...`";
  let description = [{
    One letter per dimension; no letter twice in one operand. Letters of both
    operands and the result are batch, of both operands only are contracted, of
    one operand and the result are free. Every letter of an operand is in the
    other operand or the result. fp16 and bf16 accumulate in fp32.
  }];
  let arguments = (ins StrAttr:$equation, Autopar_Tensor:$lhs, Autopar_Tensor:$rhs);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$equation $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Letters of the operands and of the result.
    llvm::StringRef getLhsLetters();
    llvm::StringRef getRhsLetters();
    llvm::StringRef getResultLetters();
  }];
}

def Autopar_ConvolutionOp : Autopar_LocalizedOp<"convolution",
    [DeclareOpInterfaceMethods<LibraryOpInterface>], ["getFlops", "getPrecisionClass"]> {
  let summary = "cross-correlation of [n, c, spatial...] with [o, c/groups, window...]";
  let description = [{
    Rule: batch n, groups g, output channels o, input channels c (sum), and each
    spatial dimension through its window. A split spatial dimension reads an
    overlapping interval (halo) and has no padding left.
  }];
  let arguments = (ins Autopar_Float:$input, Autopar_Float:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high, I64Attr:$groups);
  let results = (outs Autopar_Float:$result);
  let assemblyFormat = [{ $input `,` $filter `strides` `=` $strides `dilations` `=` $dilations `low` `=` $pad_low
    `high` `=` $pad_high `groups` `=` $groups attr-dict `:` functional-type(operands, results) }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Autopar_PoolOp : Autopar_LocalizedOp<"pool", [], ["getFlops", "getPrecisionClass", "roundsResult"]> {
  let summary = "reduction (sum or max) over windows of the spatial dimensions of [n, c, spatial...]";
  let description = "Padding reads as the reduction's neutral element. An average is a sum times a count.";
  let arguments = (ins Autopar_ReduceKindAttr:$kind, Autopar_Tensor:$input, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = [{ `` $kind $input `window` `=` $window `strides` `=` $strides `dilations` `=` $dilations
    `low` `=` $pad_low `high` `=` $pad_high attr-dict `:` functional-type(operands, results) }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def Autopar_ReduceOp : Autopar_Op<"reduce", [], ["getRowRank", "getPrecisionClass", "roundsResult"]> {
  let summary = "reduction over `dims`, which disappear: `autopar.reduce sum %x dims = [1] : ...`";
  let description = [{
    Rule: every dimension splits; over one of `dims` the result is partial by
    `kind`, and bytes past the extent are masked. A partial of that kind passes. A
    reduction of nothing is the neutral element.
  }];
  let arguments = (ins Autopar_ReduceKindAttr:$kind, Autopar_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "`` $kind $input `dims` `=` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Autopar_ScanOp : Autopar_Op<"scan", [SameOperandsAndResultType], ["getRowDim", "getPrecisionClass", "roundsResult"]> {
  let summary = "running reduction along `dim` (sum is a cumulative sum)";
  let description = [{
    `exclusive`: an element is the reduction of those before it, the first one the
    neutral element. `reverse`: from the end. Rule: all dimensions but `dim` split;
    a partial of `kind` passes.
  }];
  let arguments = (ins Autopar_ReduceKindAttr:$kind, Autopar_Tensor:$input, I64Attr:$dim, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "`` $kind $input `dim` `=` $dim (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Autopar_TopKOp : Autopar_Op<"top_k", [], ["getFlops", "getRowDim"]> {
  let summary = "where the largest (or `smallest`) elements along `dim` are, best first: `autopar.top_k %x dim = 1 : tensor<4x8xf32> -> tensor<4x2xi64>`";
  let description = [{
    The result's size along `dim` is k. Of equal elements the first is better; NaN is larger
    than any number. The values are `gather_elements` of the operand at these positions.
  }];
  let arguments = (ins Autopar_Tensor:$input, I64Attr:$dim, UnitAttr:$smallest);
  let results = (outs TensorOf<[I64]>:$result);
  let assemblyFormat = "$input `dim` `=` $dim (`smallest` $smallest^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Autopar_SoftmaxOp : Autopar_Op<"softmax",
    [SameOperandsAndResultType, DeclareOpInterfaceMethods<DecomposeOpInterface>],
    ["getFlops", "getRowRank", "getRowDim", "getPrecisionClass"]> {
  let summary = "exp(x - max) / sum along `dim`; its logarithm with `log`";
  let description = "A row of -inf only gives NaN, as in ONNX. Split along `dim` it decomposes into local statistics.";
  let arguments = (ins Autopar_Float:$input, I64Attr:$dim, UnitAttr:$log);
  let results = (outs Autopar_Float:$result);
  let assemblyFormat = "$input `dim` `=` $dim (`log` $log^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Autopar_NormalizeOp : Autopar_Op<"normalize",
    [SameOperandsAndResultType, DeclareOpInterfaceMethods<DecomposeOpInterface>],
    ["getFlops", "getRowRank", "getPrecisionClass"]> {
  let summary = "layer: (x - mean)/sqrt(var + epsilon), rms: x/sqrt(mean(x^2) + epsilon), over `dims`";
  let description = "Scale and bias are ops of their own, fused with it. Split along `dims` it decomposes.";
  let arguments = (ins Autopar_NormKindAttr:$kind, Autopar_Float:$input, DenseI64ArrayAttr:$dims, F64Attr:$epsilon);
  let results = (outs Autopar_Float:$result);
  let assemblyFormat = "`` $kind $input `dims` `=` $dims `epsilon` `=` $epsilon attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // AUTOPAR_DIALECT_COMPUTEOPS_TD
