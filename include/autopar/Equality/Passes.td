//===- Passes.td - The proof that local programs compute the whole ------------===//

#ifndef AUTOPAR_EQUALITY_PASSES_TD
#define AUTOPAR_EQUALITY_PASSES_TD

include "mlir/Pass/PassBase.td"

class EqualityPass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def KeepGlobal : EqualityPass<"autopar-keep-global"> {
  let summary = "number the compute ops and keep a copy of each function";
  let description = [{
    Run on the planned program, before anything changes it. Every compute op gets
    `autopar.origin`, a number that its local ops keep. The private copies
    (`@step.global`) are what check-equality compares with.
  }];
}

def CheckEquality : EqualityPass<"autopar-check-equality"> {
  let summary = "prove that the local program computes the global one";
  let description = [{
    Derives from the sharding rules what each local value holds. An op that reads
    or makes something else than the global program says is an error. Where local
    ops claim to be parts of a composite, its parts are made anew from the kept
    composite's own definition and take its place. Removes the global copies and
    the numbers when all is well.
  }];
}

#endif // AUTOPAR_EQUALITY_PASSES_TD
