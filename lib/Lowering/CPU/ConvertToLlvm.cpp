//===- ConvertToLlvm.cpp - The last of our loops' arithmetic --------------===//
//
// MLIR's passes of the same patterns ask of each op of the program whether it
// may stay, five times. Few ops are of the C library or expanded, and the rest
// is converted at once.
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
    // Functions of narrow types are of f32, with conversions around.
    apply(populateLibm);
    apply(arith::populateArithExpandOpsPatterns);
    apply(arith::populateExpandBFloat16Patterns);
    if (failed(convert()))
      signalPassFailure();
  }

private:
  /// The C library has no functions of vectors, and our loops call none.
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
