//===- LowerReshard.h - Collectives from one sharding to another *- C++ -*-===//

#ifndef AUTOPAR_LIB_PARTITION_LOWERRESHARD_H
#define AUTOPAR_LIB_PARTITION_LOWERRESHARD_H

#include "OpPlan.h"

namespace autopar {

/// `globalType` cut down to what one device holds.
mlir::RankedTensorType localType(mlir::Type globalType,
                                 const Sharding &sharding, const Mesh &mesh);

/// Emits a local op or collective for each step of a reshard, of which `input`
/// is the local operand; returns the local result.
mlir::Value lowerReshard(mlir::OpBuilder &builder, ReshardOp reshard,
                         mlir::Value input, const PlannedModule &planned);

} // namespace autopar

#endif // AUTOPAR_LIB_PARTITION_LOWERRESHARD_H
