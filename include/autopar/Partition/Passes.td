//===- Passes.td - From the plan to what each device runs ---------------------===//

#ifndef AUTOPAR_PARTITION_PASSES_TD
#define AUTOPAR_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

class PartitionPass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def DecomposeComposites : PartitionPass<"autopar-decompose-composites"> {
  let summary = "replace composites whose reduced factor is split by their parts";
  let description = [{
    An op whose strategy splits a factor of kind Decompose becomes its parts. Each
    part gets the strategy that follows its operands; a part's partial result is
    ended at once, by an all-reduce. A part's origin is the composite's and the part's number.
  }];
}

def InsertReshards : PartitionPass<"autopar-insert-reshards"> {
  let summary = "make every change of sharding an autopar.reshard";
  let description = [{
    Between what an op gives and how its result is sharded, and between how a value
    is sharded and what a user wants. A value gets one reshard per wanted sharding,
    with the steps that the plan records (`autopar.result_steps`,
    `autopar.operand_steps`, `autopar.steps`), which are gone then. It is an error
    if the plan records none.
  }];
}

def SplitStages : PartitionPass<"autopar-split-stages"> {
  let summary = "make one function per stage, with send and recv between them";
  let description = [{
    `@step` becomes `@step_0`, `@step_1`, ... What depends on no input (constants,
    broadcasts of setup values) is never sent, but computed in each stage that
    reads it, whatever stage its op is in; a stage's `@setup_s` computes all setup
    values that its step reads.
  }];
}

def Partition : PartitionPass<"autopar-partition"> {
  let summary = "give every value its local type";
  let description = [{
    Compute ops are localized by their own interface, each step of a reshard
    becomes a local op or a collective, and operands whose bytes past the extent would enter a
    result are masked.
  }];
}

def VerifyPartition : PartitionPass<"autopar-verify-partition"> {
  let summary = "state what no longer exists after partition";
  let description = [{
    No reshard, no strategy, no global copy; every argument and result has a
    sharding and a global type that make its local type. Nothing is sent that
    depends on no input.
  }];
}

#endif // AUTOPAR_PARTITION_PASSES_TD
