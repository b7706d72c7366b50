//===- RandomPlan.h - Random legal plans ------------------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_RANDOMPLAN_H
#define AUTOPAR_TEST_PROPERTY_RANDOMPLAN_H

#include "Random.h"
#include "autopar/Interfaces/Sharding.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar::property {

/// The meshes that plans are drawn for: 2 to 8 devices, one to three axes, and
/// two micro-batches on 2 and 3 devices.
llvm::ArrayRef<Mesh> planMeshes();

/// Attaches a random plan to an imported module: each op any legal strategy,
/// each value any sharding; two stages in so many of 100 cases. Whether
/// micro-batches have parts of some value.
bool makePlan(mlir::ModuleOp module, const Mesh &mesh, Random &random,
              int twoStagesPercent);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_RANDOMPLAN_H
