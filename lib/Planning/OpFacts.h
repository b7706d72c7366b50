//===- OpFacts.h - What planning knows of an op by itself -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_OPFACTS_H
#define AUTOPAR_LIB_PLANNING_OPFACTS_H

#include "autopar/Planning/Model/ModelGraph.h"
#include "mlir/IR/Operation.h"

namespace autopar {

/// Returns the facts about an op, without its name and its place. `tf32` tells
/// whether contractions may round to this type.
GraphOpFacts factsOf(mlir::Operation *op, bool tf32);
/// Returns a key for the facts: the interfaces promise that ops with equal keys
/// have equal facts.
std::vector<const void *> keyOf(mlir::Operation *op);
bool isEqual(const GraphOpFacts &a, const GraphOpFacts &b);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_OPFACTS_H
