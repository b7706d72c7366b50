//===- Passes.td - From whole programs to planned ones ------------------------===//

#ifndef AUTOPAR_PLANNING_PASSES_TD
#define AUTOPAR_PLANNING_PASSES_TD

include "mlir/Pass/PassBase.td"

def SearchPlan : Pass<"autopar-plan", "::mlir::ModuleOp"> {
  let summary = "search a plan and write it as attributes";
  let description = [{
    Reads @setup and @step into a problem, solves it, and adds the mesh, the
    sharding of every value, the strategy and stage of every op, and the steps of
    every reshard. The module says
    what is asked of the plan (`autopar.request`, as `autopar compile` writes it at
    import). If it does not, options of the pass do: `ranks` or `cluster`, and those of
    the table kRequestOptions (PlanRequest.h), which are as on the command line:
    `strategy=data,tensor mesh=data=2,tensor=2 fewest-devices=true`.
    The memory of the plan is the search's estimate. In phase plan the pass then makes
    the plan's program, up to its schedule, and records what that holds. If it exceeds
    the limit, the pass searches anew and leaves as much free.
  }];
  let dependentDialects = ["::autopar::AutoparDialect"];
  let options = [
    Option<"ranks", "ranks", "int64_t", "0", "CPU ranks on this host">,
    Option<"cluster", "cluster", "std::string", "\"\"", "file or NODESxDEVICES:TYPE[@GBps]; instead of ranks">,
    Option<"trace", "trace", "bool", "false", "tell of each trial on stderr">,
    Option<"saveTo", "save", "std::string", "\"\"", "also write the plan to this file">,
    Option<"from", "from", "std::string", "\"\"", "keep what fits of this plan, JSON">,
    Option<"entry", "entry", "std::string", "\"\"", "of a file with plans for several entries the one to keep from">];
}

def ApplyPlan : Pass<"autopar-apply-plan", "::mlir::ModuleOp"> {
  let summary = "write a plan file as attributes";
  let description = [{
    In place of a search. The plan is matched with the module by names and checked
    (docs/PlanFile.md has the errors); its memory is estimated anew, and in phase plan
    its program counted, for the file may have been edited. It must meet the module's
    request, if there is one. What it adds is what autopar-plan adds.
  }];
  let dependentDialects = ["::autopar::AutoparDialect"];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "the plan, JSON">,
    Option<"entry", "entry", "std::string", "\"\"", "of a file with plans for several entries the one to take">];
}

def VerifyPlan : Pass<"autopar-verify-plan", "::mlir::ModuleOp"> {
  let summary = "state that no value is without a sharding";
  let description = [{
    A mesh; every argument and result with a sharding of its rank; every compute
    op with a strategy that its rule allows and with shardings of its results;
    steps that lead from each sharding to the one that a reader wants; no op that
    reads from a later stage.
  }];
}

#endif // AUTOPAR_PLANNING_PASSES_TD
