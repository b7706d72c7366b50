//===- ScheduleAttributes.td - What Schedule decides, as attributes -----------===//

#ifndef AUTOPAR_DIALECT_SCHEDULEATTRIBUTES_TD
#define AUTOPAR_DIALECT_SCHEDULEATTRIBUTES_TD

include "autopar/Dialect/Dialect.td"

//===----------------------------------------------------------------------===//
// Tensors of a scheduled program
//===----------------------------------------------------------------------===//

class Autopar_HeldTensorAttr<string name, string attrMnemonic, dag more> : Autopar_Attr<name, attrMnemonic> {
  let parameters = !con((ins OptionalParameter<"::mlir::Attribute">:$what, "::mlir::ShapedType":$type,
    OptionalParameter<"::mlir::RankedTensorType">:$global_type, OptionalParameter<"::autopar::ShardingAttr">:$sharding), more);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Autopar_PersistentAttr : Autopar_HeldTensorAttr<"Persistent", "persistent", (ins DefaultValuedParameter<"bool", "false">:$constant)> {
  let summary = "a tensor of a stage that is outside its arena: a row of `autopar.persistent`";
  let description = [{
    `what` is a parameter, an input, a state or a setup value; `type` is what a
    device has of it, `sharding` which block of `global_type` that is. A
    `constant` parameter is part of the model's graph: no run gives other numbers
    for it. Set by assign-buffers, `constant` by place-weights.
  }];
}

def Autopar_PortAttr : Autopar_HeldTensorAttr<"Port", "port",
    (ins EnumParameter<Autopar_BufferSpace>:$space, "int64_t":$position, DefaultValuedParameter<"int64_t", "-1">:$value)> {
  let summary = "an argument or a result of a function in buffer form: an entry of `autopar.arguments` or `autopar.results`";
  let description = [{
    `what` tells where an argument comes from or where a result goes; `type`,
    `global_type` and `sharding` are as those of `persistent`. It is the buffer of
    that space and position (bytes of the arena, or the row of a persistent
    tensor), and the value of that number. Set by assign-buffers.
  }];
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

def Autopar_LibraryCallAttr : Autopar_Attr<"LibraryCall", "library_call"> {
  let summary = "the library call that a kernel is: `#autopar.library_call<gemm, a = 0, b = 1, bias = 2, activation = relu>`";
  let description = [{
    `kind` is a row of LibraryKinds.def. Operands are written by their role, as
    their number among the kernel's inputs; a role that no operand has is absent,
    and -1 in `operands`. A GEMM is `activation(a * b + bias) + addend`, a
    convolution of image `a` with filter `b` is `activation(a * b + bias +
    addend)`. A filter gradient, of images `a` and the gradient `b` of their
    convolution, is a convolution of both with batch and channels exchanged, and
    has no epilogue. `bias` holds one value per column or channel, `addend` one
    per element. Set by form-kernels as the analysis of kernel groups decided it,
    and verified against the kernel's body ever after; Lowering emits it as it
    stands.

    `channels_last`, of kinds that have images: their images are stored so, else
    row-major; set by assign-layouts. `packed`: the call reads the operand that
    its kind packs in a form of the library's own that @setup makes of it, the
    stage's form of that number; set by pack-weights.
  }];
  let parameters = (ins "::autopar::CallKind":$kind, ArrayRefParameter<"int64_t">:$operands, "::autopar::Activation":$activation,
                        "bool":$channels_last, "int64_t":$packed);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of the kernel's input that has `role`; -1 if none has.
    int64_t getOperand(::llvm::StringRef role) const;
    /// The input that may be packed: that of the kind's packed role; -1 if the
    /// kind packs none.
    int64_t getPackable() const;
    bool has(::autopar::EpilogueStep step) const;
    /// The steps of the call's epilogue, in the order of its kind.
    ::llvm::SmallVector<::autopar::EpilogueStep, 3> getEpilogue() const;
    /// The same call with other `channels_last` and `packed`.
    LibraryCallAttr withMemory(bool channelsLast, int64_t packed) const;
  }];
}

#endif // AUTOPAR_DIALECT_SCHEDULEATTRIBUTES_TD
