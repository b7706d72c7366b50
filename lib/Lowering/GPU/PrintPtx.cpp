//===- PrintPtx.cpp - Kernels as PTX for readers --------------------------===//

#include "CompileFatbin.h"
#include "autopar/Lowering/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_PRINTPTX
#include "autopar/Lowering/Passes.h.inc"

namespace {

struct PrintPtxPass : impl::PrintPtxBase<PrintPtxPass> {
  using PrintPtxBase::PrintPtxBase;

  void runOnOperation() override {
    for (auto kernels : getOperation().getOps<mlir::gpu::GPUModuleOp>()) {
      llvm::Expected<std::string> ptx = compileToPtx(kernels, arch);
      if (!ptx) {
        kernels.emitError(llvm::toString(ptx.takeError()));
        return signalPassFailure();
      }
      llvm::outs() << *ptx;
    }
  }
};

} // namespace
} // namespace autopar
