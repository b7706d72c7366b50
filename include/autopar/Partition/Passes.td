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
    ended at once.
  }];
}

def KeepGlobal : PartitionPass<"autopar-keep-global"> {
  let summary = "number the compute ops and keep a copy of each function";
  let description = [{
    Every compute op gets `autopar.origin`, a number that its local ops keep. The
    private copies (`@step.global`) are what check-equality compares with.
  }];
}

def InsertReshards : PartitionPass<"autopar-insert-reshards"> {
  let summary = "make every change of sharding an autopar.reshard";
  let description = [{
    Between what an op gives and how its result lies, and between how a value lies
    and what a user wants. A value gets one reshard per wanted sharding.
  }];
}

def SplitStages : PartitionPass<"autopar-split-stages"> {
  let summary = "make one function per stage, with send and recv between them";
  let description = [{
    `@step` becomes `@step_0`, `@step_1`, ...; a stage's `@setup_s` computes all
    setup values that its step reads.
  }];
}

def Partition : PartitionPass<"autopar-partition"> {
  let summary = "give every value its local type";
  let description = [{
    Compute ops are localized by their own interface, reshards become collectives
    by the shortest path, and operands whose bytes past the extent would enter a
    result are masked.
  }];
}

def CheckEquality : PartitionPass<"autopar-check-equality"> {
  let summary = "prove that the local program computes the global one";
  let description = [{
    Derives from the sharding rules what each local value holds. An op that reads
    or makes something else than the global program says is an error. Removes the
    global copies and the numbers when all is well.
  }];
}

def VerifyPartition : PartitionPass<"autopar-verify-partition"> {
  let summary = "state what no longer exists after partition";
  let description = [{
    No reshard, no strategy, no global copy; every argument and result has a
    sharding and a global type that make its local type.
  }];
}

#endif // AUTOPAR_PARTITION_PASSES_TD
