//===- Canonicalizer.h - MLIR's canonicalizer for our regions ---*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_CANONICALIZER_H
#define AUTOPAR_DIALECT_CANONICALIZER_H

#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace autopar {

/// MLIR's canonicalizer without its simplification of control flow, which would
/// walk all regions again. Until kernels become control flow each region has
/// one block, and the patterns remove dead ops.
inline std::unique_ptr<mlir::Pass> createCanonicalizer() {
  return mlir::createCanonicalizerPass(
      mlir::GreedyRewriteConfig()
          .setUseTopDownTraversal(true)
          .setRegionSimplificationLevel(
              mlir::GreedySimplifyRegionLevel::Disabled));
}

} // namespace autopar

#endif // AUTOPAR_DIALECT_CANONICALIZER_H
