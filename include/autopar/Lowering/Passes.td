//===- Passes.td - From scheduled IR to LLVM ----------------------------------===//

#ifndef AUTOPAR_LOWERING_PASSES_TD
#define AUTOPAR_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

class LoweringPass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::cf::ControlFlowDialect"];
}

def LowerToCpu : LoweringPass<"autopar-lower-to-cpu"> {
  let summary = "make kernels functions of loops and the schedule calls of the runtime";
  let description = [{
    One function per distinct kernel body, in scf, arith, math and LLVM; matrix
    products and convolutions become calls of the runtime's library with a constant
    descriptor. `@setup_s` and `@step_s` become host functions; `aprt_program_stages`
    and `aprt_program_manifest` are made (docs/RuntimeABI.md).
  }];
}

def ApproximateMath : LoweringPass<"autopar-approximate-math"> {
  let summary = "replace functions of f32 by polynomials that vectorize";
}

#endif // AUTOPAR_LOWERING_PASSES_TD
