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
  mlir::Location place;
  /// What reads the op's result, also through other collectives: a mutated op
  /// may be a legal step that only leads elsewhere, and a dropped one is not
  /// there.
  llvm::SmallVector<mlir::Location> readers;
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
