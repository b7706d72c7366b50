//===- LowerReshard.h - Collectives from one sharding to another *- C++ -*-===//

#ifndef AUTOPAR_LIB_PARTITION_LOWERRESHARD_H
#define AUTOPAR_LIB_PARTITION_LOWERRESHARD_H

#include "OpPlan.h"
#include "autopar/Cost/Reshard.h"

namespace autopar {

/// `globalType` cut down to what one device holds.
mlir::RankedTensorType localType(mlir::Type globalType,
                                 const Sharding &sharding, const Mesh &mesh);

/// Replaces reshards by the steps that Planning priced, the cheapest ones over
/// the table of Cost/Reshard.h.
class ReshardLowering {
public:
  explicit ReshardLowering(const PlannedModule &planned)
      : planned(planned), cache(planned.mesh, planned.reshardCost()) {}

  /// The local value that `reshard` makes of `input`; an error at the reshard
  /// if there is no legal path.
  mlir::FailureOr<mlir::Value> lower(mlir::OpBuilder &builder,
                                     ReshardOp reshard, mlir::Value input);

private:
  mlir::Value emit(mlir::OpBuilder &builder, ReshardOp reshard,
                   const ReshardStep &step, mlir::Value input) const;

  const PlannedModule &planned;
  ReshardCache cache;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PARTITION_LOWERRESHARD_H
