//===- ConvertToLlvm.cpp - The last of our loops' arithmetic --------------===//
//
// This pass applies the patterns of five passes of MLIR, each of which would
// ask of every op of the program whether it may stay. Here only the few ops
// that call the C library or are expanded are rewritten first; all others are
// converted at once.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_CONVERTTOLLVM
#include "autopar/Lowering/Passes.h.inc"

namespace {

struct ConvertToLlvmPass : impl::ConvertToLlvmBase<ConvertToLlvmPass> {
  void runOnOperation() override {
    if (hasVectorFunctions())
      return signalPassFailure();
    // Functions of narrow types are computed in f32, between conversions.
    apply(populateLibm);
    apply(arith::populateArithExpandOpsPatterns);
    apply(arith::populateExpandBFloat16Patterns);
    if (failed(convert()))
      signalPassFailure();
  }

private:
  /// Returns whether a math op computes vectors, for which the C library has no
  /// functions; our loops have no such op.
  bool hasVectorFunctions() {
    auto check = [](Operation *op) -> WalkResult {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
          isa<VectorType>(op->getResult(0).getType()))
        return op->emitOpError("of a vector: take it apart before");
      return WalkResult::advance();
    };
    return getOperation()->walk(check).wasInterrupted();
  }

  static void populateLibm(RewritePatternSet &patterns) {
    populateMathToLibmConversionPatterns(patterns);
  }

  void apply(void (*populate)(RewritePatternSet &)) {
    RewritePatternSet patterns(&getContext());
    populate(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }

  LogicalResult convert() {
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(getContext());
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect,
                             func::FuncDialect, math::MathDialect>();
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace
} // namespace autopar
