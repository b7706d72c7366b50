//===- LimitUnrolling.cpp - Loops around loops that stay loops ------------===//
//
// LLVM unrolls a loop whole if its trips are few and its body is small, outer
// loops too: a nest of 10 rows of 2 x 40 columns becomes 20 loops, and these
// become 800 iterations in a line. LLVM's analyses of such a line take seconds,
// and the code is no faster than with only the innermost loop unrolled.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_LIMITUNROLLING
#include "autopar/Lowering/Passes.h.inc"

namespace {

/// Iterations of a nest that may become straight code: a window of 7 x 7.
constexpr int64_t kMostUnrolled = 49;

/// A number of iterations that is too large whatever it is multiplied by.
constexpr int64_t kMany = kMostUnrolled + 1;

int64_t tripsOf(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return kMany;
  int64_t trips = llvm::divideCeil(std::max<int64_t>(*upper - *lower, 0),
                                   static_cast<uint64_t>(*step));
  return std::min(trips, kMany);
}

struct LimitUnrollingPass : impl::LimitUnrollingBase<LimitUnrollingPass> {
  void runOnOperation() override {
    auto disable = LLVM::LoopUnrollAttr::get(&getContext(),
                                             BoolAttr::get(&getContext(), true),
                                             {}, {}, {}, {}, {}, {});
    auto annotation =
        LLVM::LoopAnnotationAttr::get(&getContext(), {}, {}, {}, disable, {},
                                      {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
    // The iterations of the nests in each loop; inner loops come first.
    llvm::DenseMap<Operation *, int64_t> inside;
    getOperation()->walk([&](scf::ForOp loop) {
      int64_t within = inside.lookup(loop);
      int64_t all = tripsOf(loop) * std::max<int64_t>(within, 1);
      if (auto outer = loop->getParentOfType<scf::ForOp>())
        inside[outer] = std::min(inside[outer] + all, kMany);
      if (within > 0 && all > kMostUnrolled)
        loop->setAttr("loop_annotation", annotation);
    });
  }
};

} // namespace
} // namespace autopar
