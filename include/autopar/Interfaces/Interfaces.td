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
        additive or monotone.
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
      (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::autopar";
  let description = "What an op costs, in counts, never seconds.";
  let methods = [
    InterfaceMethod<"What the op becomes.", "::autopar::KernelClass", "getKernelClass">,
    InterfaceMethod<[{
        Floating-point operations on the op's present types; a multiply-add is
        two. The default counts one per result element for classes that compute
        and none for those that move.
      }], "int64_t", "getFlops", (ins), "",
      [{ return ::autopar::defaultFlops($_op.getOperation()); }]>
  ];
}

#endif // AUTOPAR_INTERFACES_INTERFACES_TD
