//===- PropertyTests.cpp - Random programs, whole against partitioned -----===//
//
// 1. Random graphs with random legal plans: the interpreter gives the same for
//    the whole, the partitioned and the scheduled program, this one byte by
//    byte, and the checker and verify-schedule pass.
// 2. Random mutations of these (Mutation.h): the checker reports each one that
//    changes a result, at what was broken or at what reads it. --mutations
//    makes mutants of every kind, counts them by kind and leaves the rest out.
// 3. The first of them (--programs) compiled and run on as many processes as
//    their plans have devices give the same too.
//
// A third of the graphs is differentiated first: gradients are results, too.
// With files, planned programs (autopar compile --stop-after plan) take the
// place of random ones.
//
// 4. --decompositions: every composite, split along what it reduces, on random
//    and on edge values, and nothing else.
// 5. --derivatives: gradients of every op against finite differences, and
//    nothing else; with files, of whole models that a recipe trains (autopar
//    compile --train RECIPE --stop-after import).
// 6. --plans: searched plans of small programs against all their plans, and
//    nothing else.
//
// Every op with a sharding rule must be in some graph, and every collective in
// some partitioned program.
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "Decompositions.h"
#include "Derivatives.h"
#include "MutantTest.h"
#include "PlanQuality.h"
#include "RandomGraph.h"
#include "RandomPlan.h"
#include "RealPrograms.h"
#include "autopar/Cost/TargetNames.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "autopar/Equality/Passes.h"
#include "autopar/Partition/Passes.h"
#include "autopar/Schedule/Passes.h"
#include "autopar/Training/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace autopar;
using namespace autopar::property;

namespace {
/// What the command line asks for. (Compiling a program sets LLVM's options
/// anew, so they are not kept there.)
struct Settings {
  int64_t graphs, mutants, programs;
  uint64_t seed;
  std::string dumpFolder, target;
  bool onlyMutations, onlyDecompositions, onlyDerivatives, onlyPlans;
  std::vector<std::string> files;
};
} // namespace

static Settings settings;

static void readSettings(int argc, char **argv) {
  using namespace llvm::cl;
  static opt<int64_t> graphs("graphs", init(1000), desc("random graphs"));
  static opt<int64_t> mutants("mutants", init(4), desc("mutants per graph"));
  static opt<bool> onlyMutations(
      "mutations", desc("mutants only, --mutants of each kind per graph"));
  static opt<int64_t> programs("programs", init(0),
                               desc("graphs that run on real ranks too"));
  static opt<uint64_t> seed("seed", init(1), desc("seed of graph 0"));
  static opt<std::string> dump("dump", desc("folder for the IR of failures"));
  static opt<std::string> target("target", init("cpu"),
                                 desc("of real ranks: cpu or emulated"));
  static opt<bool> onlyDecompositions(
      "decompositions", desc("composites split along what they reduce only"));
  static opt<bool> onlyDerivatives(
      "derivatives", desc("gradients against finite differences only"));
  static opt<bool> onlyPlans(
      "plans", desc("searched plans against all plans of --graphs programs "
                    "only, by default 40"));
  static list<std::string> files(Positional, desc("[FILE ...]"));
  ParseCommandLineOptions(argc, argv,
                          "random programs, whole against partitioned\n");
  if (programs > graphs ||
      (graphs <= 0 && !onlyDecompositions && !onlyDerivatives)) {
    llvm::errs() << "--graphs must be above 0, and --programs at most that: "
                    "the first of the graphs run\n";
    std::exit(1);
  }
  constexpr int64_t kPlans = 40;
  if (onlyPlans && graphs.getNumOccurrences() == 0)
    graphs = kPlans;
  settings = {graphs,
              mutants,
              programs,
              seed,
              dump,
              target,
              onlyMutations,
              onlyDecompositions,
              onlyDerivatives,
              onlyPlans,
              {files.begin(), files.end()}};
}

namespace {

/// What all graphs together gave.
struct Counts {
  int64_t passed = 0, failed = 0;
  int64_t overTime = 0; // of those passed
  int64_t trained = 0;  // of those passed: with gradients
  int64_t programs = 0; // equal on real ranks
  MutantTable mutants;
  std::map<StringRef, int64_t> graphsWith; // this op, and local programs
};

class PropertyTest {
public:
  PropertyTest(MLIRContext &context, uint64_t seed, Counts &counts)
      : context(context), seed(seed), random(seed), counts(counts) {}

  void run();
  /// The same of a planned program.
  void run(StringRef file);

private:
  bool test(ModuleOp whole);
  bool fails(ModuleOp module, const Twine &what);
  bool runPartition();
  bool runSchedule();
  bool runProgram();
  bool checkResults();
  void countOps(ModuleOp module);
  void testMutants();

  MLIRContext &context;
  uint64_t seed;
  Random random;
  Counts &counts;
  Mesh mesh;
  OwningOpRef<ModuleOp> planned, local;
  WholeResults expected;
};

} // namespace

/// Counts and prints a failure; true for convenience.
bool PropertyTest::fails(ModuleOp module, const Twine &what) {
  ++counts.failed;
  llvm::outs() << "seed " << seed << ": " << what << "\n";
  if (settings.dumpFolder.empty())
    return true;
  std::error_code error;
  std::string path = settings.dumpFolder + "/seed" + std::to_string(seed);
  llvm::raw_fd_ostream plan(path + ".planned.mlir", error);
  planned->print(plan, OpPrintingFlags().enableDebugInfo(false));
  llvm::raw_fd_ostream program(path + ".mlir", error);
  module.print(program, OpPrintingFlags().enableDebugInfo(false));
  return true;
}

bool PropertyTest::runPartition() {
  local = planned->clone();
  PassManager manager(&context);
  buildLocalizePipeline(manager);
  Diagnostics diagnostics(&context);
  if (succeeded(manager.run(*local)))
    return true;
  return !fails(*planned, "partition: " + diagnostics.text);
}

bool PropertyTest::checkResults() {
  if (auto difference = expected.differs(*local))
    return !fails(*local, *difference);
  Diagnostics diagnostics(&context);
  if (checkerPasses(*local))
    return true;
  return !fails(*local, "the checker refuses it: " + diagnostics.text);
}

static void buildKernels(PassManager &manager) {
  manager.addPass(createCheckEquality());
  manager.addPass(createFormKernels());
}

static void buildBuffers(PassManager &manager) {
  manager.addPass(createOrderWork());
  manager.addPass(createAssignLayouts());
  manager.addPass(createAssignBuffers());
  manager.addPass(createAssignStreams());
  manager.addPass(createVerifySchedule());
}

/// Kernels, then bytes, still give the same: with layouts, names of one buffer
/// and results that are stored over operands, as some target has them.
bool PropertyTest::runSchedule() {
  OwningOpRef<ModuleOp> scheduled = local->clone();
  StringRef target = random.chance(60) ? kTargetCpu : kTargetEmulated;
  (*scheduled)
      ->setAttr(AutoparDialect::kTarget, StringAttr::get(&context, target));
  for (auto build : {buildKernels, buildBuffers}) {
    PassManager manager(&context);
    build(manager);
    Diagnostics diagnostics(&context);
    if (failed(manager.run(*scheduled)))
      return !fails(*scheduled, "schedule: " + diagnostics.text);
    if (auto difference = expected.differs(*scheduled))
      return !fails(*scheduled, "schedule: " + *difference);
  }
  return true;
}

/// The same on real ranks: all values, but not what setup computes.
bool PropertyTest::runProgram() {
  SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("autopar-property", folder))
    llvm::report_fatal_error("cannot make a temporary folder");
  auto results = runOnRanks(*planned, settings.target, randomValue, folder);
  std::optional<std::string> difference;
  if (!results)
    difference = llvm::toString(results.takeError());
  else
    difference = expected.differs(*results);
  (void)llvm::sys::fs::remove_directories(folder);
  return !difference || !fails(*planned, "on real ranks: " + *difference);
}

void PropertyTest::countOps(ModuleOp module) {
  llvm::DenseSet<StringRef> present;
  module.walk([&](Operation *op) {
    if (present.insert(op->getName().getStringRef()).second)
      ++counts.graphsWith[op->getName().getStringRef()];
  });
}

/// Some mutants of random kinds, or some of each kind.
void PropertyTest::testMutants() {
  auto fail = [&](ModuleOp mutant, const Twine &what) { fails(mutant, what); };
  MutantTest test(*planned, *local, mesh, expected, random);
  int64_t kinds = mutators().size();
  int64_t count = settings.mutants * (settings.onlyMutations ? kinds : 1);
  for (int64_t i = 0; i < count; ++i)
    test.run(settings.onlyMutations ? i % kinds : random.below(kinds),
             counts.mutants, fail);
}

/// Whether the planned program and what is made of it equal the whole.
bool PropertyTest::test(ModuleOp whole) {
  if (failed(expected.run(whole)))
    return !fails(*planned, "the whole program does not run");
  if (!runPartition())
    return false;
  numberLocations(*local);
  if (!checkResults() || (!settings.onlyMutations && !runSchedule()))
    return false;
  countOps(whole);
  countOps(*local);
  return true;
}

void PropertyTest::run(StringRef file) {
  planned = parseSourceFile<ModuleOp>(file, &context);
  if (!planned || planned->getOps<MeshOp>().empty()) {
    ++counts.failed;
    llvm::outs() << file << ": no planned program\n";
    return;
  }
  mesh = (*planned->getOps<MeshOp>().begin()).getMesh().toMesh();
  if (!test(*planned))
    return;
  ++counts.passed;
  if (settings.mutants > 0)
    testMutants();
}

void PropertyTest::run() {
  bool trained = seed % 3 == 0;
  OwningOpRef<ModuleOp> graph = makeGraph(context, random, trained);
  trained = trained && differentiateGraph(*graph);
  mesh = random.pick(planMeshes());
  planned = graph->clone();
  // Most stages for mutants: there are messages to exchange.
  bool overTime =
      makePlan(*planned, mesh, random, settings.onlyMutations ? 75 : 25);
  if (failed(verify(*planned))) {
    fails(*planned, "the random plan does not verify");
    return;
  }
  if (!test(*graph))
    return;
  if (seed < settings.seed + uint64_t(settings.programs)) {
    if (!runProgram())
      return;
    ++counts.programs;
  }
  ++counts.passed;
  counts.overTime += overTime;
  counts.trained += trained;
  if (settings.mutants > 0)
    testMutants();
}

/// Prints in how many programs each op is; false if one that should be in some
/// is in none.
static bool reportOps(MLIRContext &context, const Counts &counts) {
  static constexpr StringLiteral collectives[] = {
      "autopar.all_reduce", "autopar.all_gather", "autopar.reduce_scatter",
      "autopar.all_to_all", "autopar.halo"};
  std::string missing;
  llvm::outs() << "programs with";
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != AutoparDialect::getDialectNamespace())
      continue;
    bool wanted = name.hasInterface<ShardingRuleOpInterface>() ||
                  llvm::is_contained(collectives, name.getStringRef());
    auto found = counts.graphsWith.find(name.getStringRef());
    if (found != counts.graphsWith.end())
      llvm::outs() << " " << name.stripDialect() << " " << found->second;
    else if (wanted)
      missing += " " + name.getStringRef().str();
  }
  llvm::outs() << "\n";
  // A handful of graphs cannot hold all.
  if (missing.empty() || counts.passed < 200)
    return true;
  llvm::outs() << "no graph has" << missing << "\n";
  return false;
}

static int runDecompositions(MLIRContext &context) {
  DecompositionCounts counts = testDecompositions(context);
  llvm::outs() << "decompositions: " << counts.composites << " composites in "
               << counts.splits << " splits pass the checker\n"
               << counts.equal << " passed, " << counts.failed << " failed\n";
  return counts.failed != 0;
}

static int runDerivatives(MLIRContext &context) {
  DerivativeCounts counts =
      settings.files.empty()
          ? testDerivatives(context, settings.seed)
          : testWholeModels(context, settings.seed, settings.files);
  llvm::outs() << "derivatives of " << counts.ops
               << (settings.files.empty() ? " random ops" : " models") << "\n"
               << counts.passed << " passed, " << counts.failed << " failed\n";
  return counts.failed != 0;
}

/// Most plans must be the best of all.
static int runPlans(MLIRContext &context) {
  constexpr double kBestShare = 0.95;
  PlanCounts counts = testPlanQuality(context, settings.seed, settings.graphs);
  int64_t compared = counts.problems - counts.skipped;
  bool few = double(counts.best) < kBestShare * double(compared);
  llvm::outs() << "plans: of " << compared << " problems, " << counts.withMemory
               << " with a memory limit (" << counts.withNone
               << " that nothing fits) and " << counts.withStages
               << " with stages, " << counts.best
               << " have the best plan of all"
               << (few ? ", which is too few" : "")
               << llvm::formatv(", the worst takes {0:f3} times as long; ",
                                counts.worstRatio)
               << counts.aboveBest << " lower bounds above the best\n"
               << compared - counts.failed << " passed, " << counts.failed + few
               << " failed, " << counts.skipped << " skipped\n";
  return counts.failed != 0 || few;
}

int main(int argc, char **argv) {
  readSettings(argc, argv);
  DialectRegistry registry;
  registry.insert<AutoparDialect, func::FuncDialect>();
  registerTraining(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  if (settings.onlyDecompositions)
    return runDecompositions(context);
  if (settings.onlyDerivatives)
    return runDerivatives(context);
  if (settings.onlyPlans)
    return runPlans(context);
  Counts counts;
  for (const std::string &file : settings.files)
    PropertyTest(context, settings.seed, counts).run(file);
  for (int64_t i = 0; i < settings.graphs && settings.files.empty(); ++i)
    PropertyTest(context, settings.seed + i, counts).run();
  MutantCounts mutants = sum(counts.mutants);
  llvm::outs() << "graphs: " << counts.passed
               << " equal the whole and pass the checker, " << counts.overTime
               << " of them in micro-batches, " << counts.trained
               << " with gradients\n"
               << "mutants: " << mutants.made << " made, " << mutants.changed
               << " change a result, " << mutants.reported()
               << " of them are reported (" << mutants.atPlace
               << " at the mutated op, " << mutants.atReader
               << " at what reads it), " << mutants.missed << " missed\n";
  if (settings.onlyMutations)
    printTable(counts.mutants);
  bool complete = reportOps(context, counts);
  counts.failed += !complete;
  if (settings.programs > 0)
    llvm::outs() << "on real ranks: " << counts.programs << " equal\n";
  llvm::outs() << counts.passed + mutants.reported() << " passed, "
               << counts.failed << " failed\n";
  return counts.failed != 0;
}
