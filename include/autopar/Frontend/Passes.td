//===- Passes.td - From the imported graph to setup and step ------------------===//

#ifndef AUTOPAR_FRONTEND_PASSES_TD
#define AUTOPAR_FRONTEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignPrecision : Pass<"autopar-assign-precision", "::mlir::ModuleOp"> {
  let summary = "compute matrix multiplications and convolutions in bf16 or fp16";
  let description = [{
    As the module's `autopar.precision` says (fp32 or absent, tf32: nothing). Matrix multiplications and convolutions
    of f32 values get operands and results of the low type; softmax, norms, sums, exp, log and powers keep f32; all
    other ops follow their operands, the widest of them, with biases, scales and other vectors of parameters giving
    way. So does a matrix multiplication by a table that is computed from constants. Values that depend on no input
    stay f32 up to their use, and inputs and outputs of @step keep their types.

    Run before autopar-move-to-setup, so that converted weights are made at load.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def MoveToSetup : Pass<"autopar-move-to-setup", "::mlir::ModuleOp"> {
  let summary = "move what depends on no input from @step to @setup";
  let description = [{
    Masks, position tables, folded batch norm and re-ordered weights are examples.
    They are computed once, at load, and their results become arguments of `@step`.
    Ops that cost nothing where they are used stay there: constants, positions,
    broadcasts and reshapes, so that a bias is not stored once per row; and short
    elementwise chains with one use whose result is large (over 1 MiB) and larger
    than their operands.

    Run on the IR after import, canonicalized. A second run changes nothing.
  }];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

#endif // AUTOPAR_FRONTEND_PASSES_TD
