//===- PropertyTests.cpp - Random programs, whole against partitioned -----===//
//
// 1. Random graphs with random legal plans: the interpreter gives the same for
//    the whole, the partitioned and the scheduled program, and the checker
//    passes.
// 2. Random mutations of their collectives: the checker reports each one that
//    changes a result, at the mutated op.
// 3. The first of them (--programs) compiled and run on as many processes as
//    their plans have devices give the same too.
//
// Every op with a sharding rule must be in some graph, and every collective in
// some partitioned program.
//
//===----------------------------------------------------------------------===//

#include "Mutation.h"
#include "RandomGraph.h"
#include "RandomPlan.h"
#include "RealPrograms.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "autopar/Equality/Passes.h"
#include "autopar/Partition/Passes.h"
#include "autopar/Schedule/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace autopar;
using namespace autopar::property;
using interpreter::NamedTensor;
using interpreter::Tensor;

namespace {
/// What the command line asks for. (Compiling a program sets LLVM's options
/// anew, so they are not kept there.)
struct Settings {
  int64_t graphs, mutants, programs;
  uint64_t seed;
  std::string dumpFolder, target;
};
} // namespace

static Settings settings;

static void readSettings(int argc, char **argv) {
  using namespace llvm::cl;
  static opt<int64_t> graphs("graphs", init(1000), desc("random graphs"));
  static opt<int64_t> mutants("mutants", init(4), desc("mutants per graph"));
  static opt<int64_t> programs("programs", init(0),
                               desc("graphs that run on real ranks too"));
  static opt<uint64_t> seed("seed", init(1), desc("seed of graph 0"));
  static opt<std::string> dump("dump", desc("folder for the IR of failures"));
  static opt<std::string> target("target", init("cpu"),
                                 desc("of real ranks: cpu or emulated"));
  ParseCommandLineOptions(argc, argv,
                          "random programs, whole against partitioned\n");
  settings = {graphs, mutants, programs, seed, dump, target};
}

namespace {

/// Errors and notes of one run, in place of the terminal.
struct Diagnostics {
  std::string text; // the first error
  SmallVector<Location> places;
  ScopedDiagnosticHandler handler;

  explicit Diagnostics(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (text.empty())
            text = diagnostic.str();
          places.push_back(diagnostic.getLocation());
          for (Diagnostic &note : diagnostic.getNotes())
            places.push_back(note.getLocation());
          return success();
        }) {}
};

/// What all graphs together gave.
struct Counts {
  int64_t passed = 0, failed = 0;
  int64_t overTime = 0;               // of those passed
  int64_t changed = 0, unchanged = 0; // mutants
  int64_t atOp = 0, atReader = 0;     // where the checker reports those changed
  int64_t programs = 0;               // equal on real ranks
  std::map<StringRef, int64_t> graphsWith; // this op, and local programs

  int64_t reported() const { return atOp + atReader; }
};

class PropertyTest {
public:
  PropertyTest(MLIRContext &context, uint64_t seed, Counts &counts)
      : context(context), seed(seed), random(seed), counts(counts) {}

  void run();

private:
  bool fails(ModuleOp module, const Twine &what);
  bool runPartition();
  bool runSchedule();
  bool runProgram();
  bool checkResults();
  void countOps(ModuleOp module);
  bool checkerPasses(ModuleOp module, Diagnostics &diagnostics);
  std::optional<std::string> differs(ModuleOp module);
  std::optional<std::string> compareWithWhole(ArrayRef<NamedTensor> results);
  void testMutant();

  MLIRContext &context;
  uint64_t seed;
  Random random;
  Counts &counts;
  const Mesh *mesh = nullptr;
  OwningOpRef<ModuleOp> planned, local;
  std::vector<NamedTensor> expected;
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

static Tensor randomValue(StringRef name, RankedTensorType type) {
  return interpreter::randomTensor(type, name, /*seed=*/0);
}

static FailureOr<std::vector<NamedTensor>> runAll(ModuleOp module) {
  return interpreter::runModule(module, randomValue);
}

/// How the results differ from the whole program's; nullopt: they do not.
std::optional<std::string> PropertyTest::differs(ModuleOp module) {
  Diagnostics diagnostics(&context);
  auto results = runAll(module);
  if (failed(results))
    return "does not run: " + diagnostics.text;
  return compareWithWhole(*results);
}

std::optional<std::string>
PropertyTest::compareWithWhole(ArrayRef<NamedTensor> results) {
  // Sums of f32 in another order; f64 shows what is wrong by less.
  bool single = llvm::any_of(expected, [](const NamedTensor &result) {
    return result.value.element().isF32();
  });
  return interpreter::compareResults(expected, results, single ? 1e-3 : 1e-7,
                                     /*scale=*/1);
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

bool PropertyTest::checkerPasses(ModuleOp module, Diagnostics &diagnostics) {
  OwningOpRef<ModuleOp> checked = module.clone();
  PassManager manager(&context);
  manager.addPass(createCheckEquality());
  return succeeded(manager.run(*checked));
}

bool PropertyTest::checkResults() {
  if (auto difference = differs(*local))
    return !fails(*local, *difference);
  Diagnostics diagnostics(&context);
  if (checkerPasses(*local, diagnostics))
    return true;
  return !fails(*local, "the checker refuses it: " + diagnostics.text);
}

/// Kernels, then buffers with their overlaps in the arena, still give the same.
bool PropertyTest::runSchedule() {
  OwningOpRef<ModuleOp> scheduled = local->clone();
  for (auto build : {+[](PassManager &manager) {
                       manager.addPass(createCheckEquality());
                       manager.addPass(createFormKernels());
                     },
                     +[](PassManager &manager) {
                       manager.addPass(createOrderWork());
                       manager.addPass(createAssignBuffers());
                       manager.addPass(createVerifySchedule());
                     }}) {
    PassManager manager(&context);
    build(manager);
    Diagnostics diagnostics(&context);
    if (failed(manager.run(*scheduled)))
      return !fails(*scheduled, "schedule: " + diagnostics.text);
    if (auto difference = differs(*scheduled))
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
    difference = compareWithWhole(*results);
  llvm::sys::fs::remove_directories(folder);
  return !difference || !fails(*planned, "on real ranks: " + *difference);
}

void PropertyTest::countOps(ModuleOp module) {
  llvm::DenseSet<StringRef> present;
  module.walk([&](Operation *op) {
    if (present.insert(op->getName().getStringRef()).second)
      ++counts.graphsWith[op->getName().getStringRef()];
  });
}

/// A mutant that changes a result must be reported at the mutated op.
void PropertyTest::testMutant() {
  OwningOpRef<ModuleOp> mutant = local->clone();
  std::optional<Mutation> mutation;
  for (int attempt = 0; attempt < 10 && !mutation; ++attempt) {
    mutant = local->clone();
    mutation = mutate(*mutant, *mesh, random);
  }
  if (!mutation)
    return;
  auto difference = differs(*mutant);
  if (!difference) {
    ++counts.unchanged;
    return;
  }
  ++counts.changed;
  Diagnostics diagnostics(&context);
  if (checkerPasses(*mutant, diagnostics)) {
    fails(*mutant, mutation->what + " passes the checker, but " + *difference);
    return;
  }
  if (llvm::is_contained(diagnostics.places, mutation->place))
    ++counts.atOp;
  else if (llvm::any_of(diagnostics.places, [&](Location place) {
             return llvm::is_contained(mutation->readers, place);
           }))
    ++counts.atReader;
  else
    fails(*mutant,
          mutation->what + " is reported elsewhere: " + diagnostics.text);
}

void PropertyTest::run() {
  OwningOpRef<ModuleOp> graph = makeGraph(context, random);
  mesh = &random.pick(planMeshes());
  planned = graph->clone();
  bool overTime = makePlan(*planned, *mesh, random);
  if (failed(verify(*planned))) {
    fails(*planned, "the random plan does not verify");
    return;
  }
  auto whole = runAll(*graph);
  if (failed(whole)) {
    fails(*planned, "the whole program does not run");
    return;
  }
  expected = std::move(*whole);
  if (!runPartition())
    return;
  numberLocations(*local);
  if (!checkResults() || !runSchedule())
    return;
  countOps(*graph);
  countOps(*local);
  if (seed < settings.seed + uint64_t(settings.programs)) {
    if (!runProgram())
      return;
    ++counts.programs;
  }
  ++counts.passed;
  counts.overTime += overTime;
  for (int64_t i = 0; i < settings.mutants; ++i)
    testMutant();
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

int main(int argc, char **argv) {
  readSettings(argc, argv);
  DialectRegistry registry;
  registry.insert<AutoparDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Counts counts;
  for (int64_t i = 0; i < settings.graphs; ++i)
    PropertyTest(context, settings.seed + i, counts).run();
  llvm::outs() << "graphs: " << counts.passed
               << " equal the whole and pass the checker, " << counts.overTime
               << " of them in micro-batches\n"
               << "mutants: " << counts.changed << " change a result, "
               << counts.reported() << " of them are reported (" << counts.atOp
               << " at the mutated op, " << counts.atReader
               << " at what reads it); " << counts.unchanged
               << " change nothing\n";
  bool complete = reportOps(context, counts);
  counts.failed += !complete;
  if (settings.programs > 0)
    llvm::outs() << "on real ranks: " << counts.programs << " equal\n";
  llvm::outs() << counts.passed + counts.reported() << " passed, "
               << counts.failed << " failed\n";
  return counts.failed != 0;
}
