//===- CollectiveSteps.h - Collectives of a schedule, as steps --*- C++ -*-===//

#ifndef AUTOPAR_LIB_SIMULATE_COLLECTIVESTEPS_H
#define AUTOPAR_LIB_SIMULATE_COLLECTIVESTEPS_H

#include "autopar/Cost/Reshard.h"
#include "mlir/IR/Operation.h"

namespace autopar {

/// Returns whether `op`, whose operands are memrefs, is a collective that plans
/// know.
bool isPlannedCollective(mlir::Operation &op);
/// Returns the kind, sub-axes and bytes of such a collective, which has a
/// destination; the bytes are counted as those of ReshardStep. It is an error
/// at the op if the mesh lacks one of its axes.
mlir::FailureOr<ReshardStep> stepOfCollective(mlir::Operation &op,
                                              const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_LIB_SIMULATE_COLLECTIVESTEPS_H
