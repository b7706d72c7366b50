//===- Interfaces.td - All that a pass may ask of an op -----------------------===//

#ifndef AUTOPAR_INTERFACES_INTERFACES_TD
#define AUTOPAR_INTERFACES_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    How an op splits. Every compute op implements it: passes split, localize and
    check ops through it alone and name none.
  }];
  let methods = [
    InterfaceMethod<[{
        The factors of the op on its present types, and in which operands it is
        additive or monotone. Says the same for ops of one name, properties and
        types: Planning asks once for all of them.
      }], "::autopar::ShardingRule", "getShardingRule">,
    InterfaceMethod<[{
        Builds the op that one device runs: `operands` are local values,
        `resultTypes` local types. The default copies the op; an op whose
        attributes or semantics depend on position (padding, sizes, offsets)
        overrides it.
      }], "::mlir::Operation *", "localize",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::TypeRange":$resultTypes,
           "const ::autopar::Localization &":$localization),
      /*methodBody=*/"",
      /*defaultImplementation=*/[{
        return ::autopar::cloneLocal($_op.getOperation(), builder, operands, resultTypes);
      }]>
  ];
}

def DecomposeOpInterface : OpInterface<"DecomposeOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    A composite that can be written in smaller ops of the dialect. Done when a
    plan splits a factor of kind Decompose: the parts then split by their own
    rules into local statistics and their combination.
  }];
  let methods = [
    InterfaceMethod<"Builds the parts and returns values that replace the results.",
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<[{
        How many of the parts reduce over the factor, each on what the one before
        gave: so often devices combine their statistics when it is split. The
        same for ops of one name, properties and types.
      }], "int64_t", "getReductionCount">
  ];
}

def MeshAxesOpInterface : OpInterface<"MeshAxesOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    An op of a device's program that depends on the device's place along axes of
    the mesh: a collective over them, or an op that computes with the place.
  }];
  let methods = [
    InterfaceMethod<"The names of the axes, major to minor.", "::mlir::ArrayAttr", "getAxes">
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    What an op costs, in counts, never seconds, and what kernels may do with it.
    Cost, Schedule and Lowering ask these methods and name no compute op. They
    say the same for ops of one name, properties and types: Planning asks once
    for all of them.
  }];
  let methods = [
    InterfaceMethod<"What the op becomes.", "::autopar::KernelClass", "getKernelClass">,
    InterfaceMethod<[{
        Floating-point operations on the op's present types; a multiply-add is
        two. The default counts one per result element for classes that compute
        and none for those that move.
      }], "int64_t", "getFlops", (ins), "",
      [{ return ::autopar::defaultFlops($_op.getOperation()); }]>,
    InterfaceMethod<"How a loop nest computes it. The default follows from its kernel class.",
      "::autopar::LoopRole", "getLoopRole", (ins), "",
      [{ return ::autopar::defaultLoopRole($_op.getOperation()); }]>,
    InterfaceMethod<[{
        Of an op that reads whole rows of its operand: how many leading
        dimensions of the operand index rows; it reduces over all later ones
        (dimensions of size 1 aside).
      }], "std::optional<int64_t>", "getRowRank", (ins), "", [{ return std::nullopt; }]>,
    InterfaceMethod<"The dimension of the result whose elements are computed together, if there is one.",
      "std::optional<int64_t>", "getRowDim", (ins), "", [{ return std::nullopt; }]>,
    InterfaceMethod<"What mixed precision does with it.", "::autopar::PrecisionClass", "getPrecisionClass",
      (ins), "", [{ return ::autopar::PrecisionClass::Operands; }]>,
    InterfaceMethod<[{
        Whether an element of the result may lie between two numbers of its type
        until it is rounded: false where elements only move, are chosen, or
        change without a loss. The default follows from its kernel class.
      }], "bool", "roundsResult", (ins), "",
      [{ return ::autopar::defaultRoundsResult($_op.getOperation()); }]>,
    InterfaceMethod<[{
        Of an op whose result is a run of its only operand's elements, in
        row-major order: the number of the first one.
      }], "std::optional<int64_t>", "getReadRun", (ins), "", [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        Whether the operands' elements, operand after operand in row-major
        order, are the result's.
      }], "bool", "joinsOperands", (ins), "", [{ return false; }]>
  ];
}

def LibraryOpInterface : OpInterface<"LibraryOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    An op that a library computes whole, with an epilogue: the root of a call of
    a kind of LibraryKinds.def. `kernel` is the KernelOp of the call, in whose
    body the op is.
  }];
  let methods = [
    InterfaceMethod<[{
        The kinds of calls that compute the op on its present types, the best one
        first; a target takes the first one that its library has. Empty where no
        library computes it: a contraction that is no matrix product by strides,
        an image of more than 3 dimensions.
      }], "::llvm::SmallVector<::autopar::CallKind, 2>", "getCallKinds">,
    InterfaceMethod<[{
        The values that a call of `kind` reads in the roles that each call of the
        kind fills, in the order of the roles.
      }], "::llvm::SmallVector<::mlir::Value, 2>", "getCallOperands", (ins "::autopar::CallKind":$kind)>,
    InterfaceMethod<[{
        Whether a tensor of `sizes` (none is 1), broadcast along dimensions `dims` of a tensor of
        `shape`, is a bias of the result: one value per column, or per channel.
      }], "bool", "takesBias",
      (ins "::llvm::ArrayRef<int64_t>":$sizes, "::llvm::ArrayRef<int64_t>":$dims, "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<[{
        The layouts in which `kernel`, whose operands are stored by `layoutOf`,
        had best read its inputs. It may make the kernel read what is under
        views. The default is row-major.
      }], "::llvm::SmallVector<::autopar::Layout>", "chooseInputLayouts",
      (ins "::mlir::Operation *":$kernel, "::autopar::LayoutOf":$layoutOf), "",
      [{ return ::llvm::SmallVector<::autopar::Layout>(kernel->getNumOperands()); }]>,
    InterfaceMethod<"Reports an error if the buffers of `kernel` are not stored in the order that its call states.",
      "::llvm::LogicalResult", "verifyCallMemory", (ins "::mlir::Operation *":$kernel)>,
    InterfaceMethod<[{
        Of a kind whose packed form depends on the root alone: a text of what it
        depends on, of which equal texts share a form.
      }], "std::string", "describePacking", (ins "::mlir::Operation *":$kernel), "", [{ return ""; }]>
  ];
}

#endif // AUTOPAR_INTERFACES_INTERFACES_TD
