//===- MutantTest.h - Mutants of one program --------------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_MUTANTTEST_H
#define AUTOPAR_TEST_PROPERTY_MUTANTTEST_H

#include "Comparison.h"
#include "Mutation.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace autopar::property {

/// What became of the mutants of one kind.
struct MutantCounts {
  int64_t made = 0;    // and verify; planned ones are partitioned too
  int64_t changed = 0; // give other results than the whole, or do not run
  // Of those that change a result, where the checker reports them.
  int64_t atPlace = 0, atReader = 0, elsewhere = 0;
  int64_t missed = 0; // pass the checker

  int64_t reported() const { return atPlace + atReader + elsewhere; }
  void add(const MutantCounts &other);
};

/// By the place of the kind in `mutators()`.
using MutantTable = std::map<size_t, MutantCounts>;

/// Prints a line for each kind that was made.
void printTable(const MutantTable &table);
MutantCounts sum(const MutantTable &table);

/// Breaks one partitioned program again and again.
class MutantTest {
public:
  /// Called with a mutant that is missed, or reported at a wrong place.
  using Fail =
      llvm::function_ref<void(mlir::ModuleOp mutant, const llvm::Twine &what)>;

  /// `local` holds what Partition made of `planned` and the checker's claims.
  MutantTest(mlir::ModuleOp planned, mlir::ModuleOp local, const Mesh &mesh,
             const WholeResults &expected, Random &random);

  /// A mutant that changes a result must be reported, at what was broken or at
  /// what reads it. False: the program has no place for this kind.
  bool run(size_t kind, MutantTable &table, Fail fail);

private:
  mlir::OwningOpRef<mlir::ModuleOp> make(const Mutator &mutator,
                                         std::optional<Mutation> &mutation);

  mlir::OwningOpRef<mlir::ModuleOp> decomposed; // planned, in parts, numbered
  mlir::ModuleOp local;
  const Mesh &mesh;
  const WholeResults &expected;
  Random &random;
};

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_MUTANTTEST_H
