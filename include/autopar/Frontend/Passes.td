//===- Passes.td - From the imported graph to setup and step ------------------===//

#ifndef AUTOPAR_FRONTEND_PASSES_TD
#define AUTOPAR_FRONTEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def MoveToSetup : Pass<"autopar-move-to-setup", "::mlir::ModuleOp"> {
  let summary = "move what depends on no input from @step to @setup";
  let description = [{
    Masks, position tables, folded batch norm, re-ordered weights: computed once,
    at load. Their results become arguments of `@step`. What costs nothing where it
    is used stays there: constants, positions, broadcasts and reshapes, so that a
    bias is not stored once per row; and short elementwise chains with one use
    whose result is large (over 1 MiB) and larger than what they are made of.

    Run on the IR after import, canonicalized. A second run changes nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

#endif // AUTOPAR_FRONTEND_PASSES_TD
