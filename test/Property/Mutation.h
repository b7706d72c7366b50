//===- Mutation.h - Breaks one thing of a program ---------------*- C++ -*-===//
//
// A mutator changes one random place of a program and keeps all types. Most
// break local programs, as Partition left them; those that are `planned` break
// the planned program after composites are decomposed, so that Partition makes
// a consistent program of something else.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_PROPERTY_MUTATION_H
#define AUTOPAR_TEST_PROPERTY_MUTATION_H

#include "Random.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace autopar::property {

/// What was done, and where a report of it may stand.
struct Mutation {
  std::string what;
  /// The ops or functions that were changed.
  llvm::SmallVector<mlir::Location> places;
  /// What reads their results, also through collectives and messages: a mutated
  /// op may be a legal step that only leads elsewhere, and a dropped one is not
  /// there.
  llvm::SmallVector<mlir::Location> readers;
};

/// The program that a mutator draws from: all but the kept global copies.
struct Mutable {
  mlir::ModuleOp module;
  const Mesh &mesh;
  Random &random;
  bool onlyParts = false; // compute ops that composites decomposed into

  llvm::SmallVector<mlir::func::FuncOp> functions() const;
  /// A random op that suits; null: there is none.
  mlir::Operation *
  pickOp(llvm::function_ref<bool(mlir::Operation *)> suits) const;
};

/// `nullopt`: this draw cannot.
using MutateFunction = std::optional<Mutation> (*)(const Mutable &);

struct Mutator {
  llvm::StringRef kind;
  MutateFunction mutate;
  bool planned = false;
  bool onlyParts = false;
};

/// All kinds of mutations.
llvm::ArrayRef<Mutator> mutators();

/// Breaks one place by `mutator` so that the module still verifies; nullopt if
/// this draw cannot.
std::optional<Mutation> mutate(mlir::ModuleOp module, const Mesh &mesh,
                               const Mutator &mutator, Random &random);

/// Gives every op of the module a location of its own.
void numberLocations(mlir::ModuleOp module);

//===----------------------------------------------------------------------===//
// For mutators
//===----------------------------------------------------------------------===//

/// A collective or position op on tensors.
bool moves(mlir::Operation *op);
bool isCompute(mlir::Operation *op);
/// `what` was done to `op`, before its uses change.
Mutation mutationOf(mlir::Operation *op, const llvm::Twine &what);
/// The ops that read `value`, and what reads theirs while they only move it.
void addReaders(mlir::Value value, llvm::SmallVector<mlir::Location> &places);

// MutateCollectives.cpp
std::optional<Mutation> dropCollective(const Mutable &program);
std::optional<Mutation> doubleCollective(const Mutable &program);
std::optional<Mutation> changeAxes(const Mutable &program);
std::optional<Mutation> changeReduction(const Mutable &program);
std::optional<Mutation> changeDimension(const Mutable &program);
std::optional<Mutation> changeOffset(const Mutable &program);
std::optional<Mutation> changeFill(const Mutable &program);
std::optional<Mutation> replaceCollective(const Mutable &program);
std::optional<Mutation> changeBlockOffset(const Mutable &program);

// MutateValues.cpp
std::optional<Mutation> exchangeOperands(const Mutable &program);
std::optional<Mutation> replaceOperand(const Mutable &program);
std::optional<Mutation> replaceValue(const Mutable &program);
std::optional<Mutation> bypassCompute(const Mutable &program);
std::optional<Mutation> exchangeReturned(const Mutable &program);
std::optional<Mutation> replaceSent(const Mutable &program);

// MutateAttributes.cpp
std::optional<Mutation> changeProperty(const Mutable &program);
std::optional<Mutation> changeConstant(const Mutable &program);
std::optional<Mutation> passOff(const Mutable &program);

// MutateFunctions.cpp
std::optional<Mutation> exchangeSources(const Mutable &program);
std::optional<Mutation> changeArgumentLayout(const Mutable &program);
std::optional<Mutation> exchangeResultNames(const Mutable &program);
std::optional<Mutation> exchangeChannels(const Mutable &program);
std::optional<Mutation> exchangeStages(const Mutable &program);

// MutateTraining.cpp: of training steps.
std::optional<Mutation> dropGradientSum(const Mutable &program);
std::optional<Mutation> doubleGradientSum(const Mutable &program);
std::optional<Mutation> averageGradientSum(const Mutable &program);
std::optional<Mutation> skipInNorm(const Mutable &program);
std::optional<Mutation> updateReplicaOtherwise(const Mutable &program);
std::optional<Mutation> dropGradientTerm(const Mutable &program);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_MUTATION_H
