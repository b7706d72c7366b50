//===- Mutation.h - Breaks one collective of a local program ----*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_MUTATION_H
#define AUTOPAR_TEST_PROPERTY_MUTATION_H

#include "Random.h"
#include "autopar/Interfaces/Sharding.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace autopar::property {

/// What was done to which op.
struct Mutation {
  std::string what;
  /// Where an error counts as reported at the mutated op: the op itself or, for
  /// a dropped one, an op that read its result.
  llvm::SmallVector<mlir::Location> places;
};

/// Gives every op of the module a location of its own.
void numberLocations(mlir::ModuleOp module);

/// Drops or doubles one random collective or position op, or changes its axes,
/// kind or dimension, so that the module still verifies; nullopt if this draw
/// cannot.
std::optional<Mutation> mutate(mlir::ModuleOp module, const Mesh &mesh,
                               Random &random);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_MUTATION_H
