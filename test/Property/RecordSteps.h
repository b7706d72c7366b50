//===- RecordSteps.h - The steps of reshards of random plans ----*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_RECORDSTEPS_H
#define AUTOPAR_TEST_PROPERTY_RECORDSTEPS_H

#include "autopar/Interfaces/Sharding.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar::property {

/// Writes the steps of each reshard on a module that has strategies, shardings
/// and the number of stages, as a plan for CPU ranks would. A reshard that no
/// steps make has none.
void recordSteps(mlir::ModuleOp module, const Mesh &mesh);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_RECORDSTEPS_H
