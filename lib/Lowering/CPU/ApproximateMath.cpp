//===- ApproximateMath.cpp - Polynomials for functions of f32 -------------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_APPROXIMATEMATH
#include "autopar/Lowering/Passes.h.inc"

namespace {

/// The polynomials' relative error is below 3e-7. Sines call the C library,
/// since their polynomial's absolute error of 3e-6 is too large.
bool approximated(StringRef name) {
  return llvm::is_contained({"math.exp", "math.tanh", "math.erf", "math.log"},
                            name);
}

/// `value` as a constant of the type of `like`, a float or a vector of them.
Value constantLike(OpBuilder &builder, Value like, double value) {
  Type type = like.getType();
  TypedAttr attr =
      builder.getFloatAttr(getElementTypeOrSelf(type), APFloat(float(value)));
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(builder, like.getLoc(), attr);
}

/// The polynomial treats numbers below the smallest normal one as that one, so
/// they are scaled: log(x) -> log(x * 2^24) - 24 * log(2).
void scaleDenormals(math::LogOp log) {
  if (!getElementTypeOrSelf(log.getType()).isF32())
    return;
  OpBuilder builder(log);
  Location loc = log.getLoc();
  Value x = log.getOperand();
  Value isSmall = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                        x, constantLike(builder, x, 0x1p-126));
  Value scaled =
      arith::MulFOp::create(builder, loc, x, constantLike(builder, x, 0x1p24));
  log.getOperandMutable().assign(
      arith::SelectOp::create(builder, loc, isSmall, scaled, x));
  builder.setInsertionPointAfter(log);
  Value less = arith::SubFOp::create(builder, loc, log,
                                     constantLike(builder, x, 24 * M_LN2));
  Value result =
      arith::SelectOp::create(builder, loc, isSmall, less, log.getResult());
  log.getResult().replaceUsesWithIf(result, [&](OpOperand &use) {
    return use.getOwner() != less.getDefiningOp() &&
           use.getOwner() != result.getDefiningOp();
  });
}

/// Freezes the power of two that exp computes. For a constant NaN it is no
/// integer, so its conversion is undefined; any number will do, because it is
/// multiplied with NaN.
void freeze(arith::FPToSIOp power) {
  OpBuilder builder(power);
  builder.setInsertionPointAfter(power);
  Value frozen =
      LLVM::FreezeOp::create(builder, power.getLoc(), power.getResult());
  power.getResult().replaceAllUsesExcept(frozen, frozen.getDefiningOp());
}

struct ApproximateMathPass : impl::ApproximateMathBase<ApproximateMathPass> {
  void runOnOperation() override {
    getOperation()->walk(scaleDenormals);
    SmallVector<Operation *> functions;
    getOperation()->walk([&](Operation *op) {
      if (approximated(op->getName().getStringRef()))
        functions.push_back(op);
    });
    llvm::DenseSet<Operation *> conversions;
    getOperation()->walk([&](arith::FPToSIOp op) { conversions.insert(op); });
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, approximated);
    if (failed(applyOpPatternsGreedily(
            functions, std::move(patterns),
            GreedyRewriteConfig().setStrictness(
                GreedyRewriteStrictness::ExistingAndNewOps))))
      return signalPassFailure();
    getOperation()->walk([&](arith::FPToSIOp op) {
      if (!conversions.contains(op))
        freeze(op);
    });
  }
};

} // namespace
} // namespace autopar
