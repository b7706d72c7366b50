//===- OpFacts.h - What planning knows of an op by itself -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_OPFACTS_H
#define AUTOPAR_LIB_PLANNING_OPFACTS_H

#include "autopar/Planning/Model/ModelGraph.h"
#include "mlir/IR/Operation.h"

namespace autopar {

/// Without its name and place. `tf32`: whether contractions may be rounded so.
GraphOpFacts factsOf(mlir::Operation *op, bool tf32);
/// What the facts depend on, as the interfaces promise: ops with the same key
/// have equal ones.
std::vector<const void *> keyOf(mlir::Operation *op);
bool isEqual(const GraphOpFacts &a, const GraphOpFacts &b);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_OPFACTS_H
