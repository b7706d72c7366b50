//===- MutantTest.cpp - Mutants of one program ----------------------------===//

#include "MutantTest.h"
#include "autopar/Partition/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autopar::property {

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

void MutantCounts::add(const MutantCounts &other) {
  made += other.made;
  changed += other.changed;
  atPlace += other.atPlace;
  atReader += other.atReader;
  elsewhere += other.elsewhere;
  missed += other.missed;
}

MutantCounts sum(const MutantTable &table) {
  MutantCounts total;
  for (auto &[kind, counts] : table)
    total.add(counts);
  return total;
}

void printTable(const MutantTable &table) {
  llvm::outs() << "  made changed reported missed  kind of mutation\n";
  for (auto &[kind, counts] : table)
    llvm::outs() << llvm::format(
                        "%6lld %7lld %8lld %6lld  ", (long long)counts.made,
                        (long long)counts.changed, (long long)counts.reported(),
                        (long long)counts.missed)
                 << mutators()[kind].kind << "\n";
}

//===----------------------------------------------------------------------===//
// Mutants
//===----------------------------------------------------------------------===//

static LogicalResult runPasses(ModuleOp module,
                               void (*build)(OpPassManager &)) {
  Diagnostics quiet(module.getContext());
  PassManager manager(module.getContext());
  build(manager);
  return manager.run(module);
}

MutantTest::MutantTest(ModuleOp planned, ModuleOp local, const Mesh &mesh,
                       const WholeResults &expected, Random &random)
    : decomposed(planned.clone()), local(local), mesh(mesh), expected(expected),
      random(random) {
  if (failed(runPasses(*decomposed, buildDecomposePipeline)))
    decomposed = nullptr;
  else
    numberLocations(*decomposed);
}

/// A mutant of the local program; null if the draws do not suit it.
OwningOpRef<ModuleOp> MutantTest::make(const Mutator &mutator,
                                       std::optional<Mutation> &mutation) {
  ModuleOp from = mutator.planned ? *decomposed : local;
  for (int attempt = 0; attempt < 10; ++attempt) {
    OwningOpRef<ModuleOp> mutant = from.clone();
    mutation = mutate(*mutant, mesh, mutator, random);
    if (mutation &&
        (!mutator.planned || succeeded(runPasses(*mutant, buildSplitPipeline))))
      return mutant;
  }
  return nullptr;
}

static bool anyOf(ArrayRef<Location> places, ArrayRef<Location> reported) {
  return llvm::any_of(reported, [&](Location place) {
    return llvm::is_contained(places, place);
  });
}

bool MutantTest::run(size_t kind, MutantTable &table, Fail fail) {
  std::optional<Mutation> mutation;
  OwningOpRef<ModuleOp> mutant = make(mutators()[kind], mutation);
  if (!mutant)
    return false;
  MutantCounts &counts = table[kind];
  ++counts.made;
  auto difference = expected.differs(*mutant);
  if (!difference)
    return true;
  ++counts.changed;
  Diagnostics diagnostics(mutant->getContext());
  if (checkerPasses(*mutant)) {
    ++counts.missed;
    fail(*mutant, mutation->what + " passes the checker, but " + *difference);
  } else if (anyOf(mutation->places, diagnostics.places)) {
    ++counts.atPlace;
  } else if (anyOf(mutation->readers, diagnostics.places)) {
    ++counts.atReader;
  } else {
    ++counts.elsewhere;
    fail(*mutant,
         mutation->what + " is reported elsewhere: " + diagnostics.text);
  }
  return true;
}

} // namespace autopar::property
