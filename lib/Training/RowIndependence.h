//===- RowIndependence.h - Whether rows meet --------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_ROWINDEPENDENCE_H
#define AUTOPAR_LIB_TRAINING_ROWINDEPENDENCE_H

#include "StepFunction.h"

namespace autopar {

/// The first op that `value` depends on and in which rows meet, as in a sum
/// over the batch; null if each row of `value`, dimension 0, depends on the
/// same row of the inputs alone. It follows the ops' sharding rules; an op
/// without one, and one whose rule says less than the op does, is taken for one
/// in which rows meet.
mlir::Operation *findMeetingRows(StepFunction &step, mlir::Value value);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_ROWINDEPENDENCE_H
