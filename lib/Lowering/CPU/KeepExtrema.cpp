//===- KeepExtrema.cpp - Maxima that the vectorizer knows ---------===//

#include "autopar/Lowering/Passes.h"
#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_KEEPEXTREMA
#include "autopar/Lowering/Passes.h.inc"

namespace {

template <typename From, typename To> void keepAsIntrinsic(From op) {
  Type type = getElementTypeOrSelf(op.getType());
  if ((!type.isF32() && !type.isF64()) ||
      !bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::nsz))
    return;
  OpBuilder builder(op);
  Value kept =
      To::create(builder, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(),
                 convertArithFastMathFlagsToLLVM(op.getFastmath()));
  op.replaceAllUsesWith(kept);
  op.erase();
}

struct KeepExtremaPass : impl::KeepExtremaBase<KeepExtremaPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto maximum = dyn_cast<arith::MaximumFOp>(op))
        keepAsIntrinsic<arith::MaximumFOp, LLVM::MaximumOp>(maximum);
      else if (auto minimum = dyn_cast<arith::MinimumFOp>(op))
        keepAsIntrinsic<arith::MinimumFOp, LLVM::MinimumOp>(minimum);
    });
  }
};

} // namespace
} // namespace autopar
