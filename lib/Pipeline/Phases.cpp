//===- Phases.cpp - The order of the compiler's phases --------------------===//
//
// The order of the phases, and of the passes of import, training and plan. The
// passes of the others are ordered in Partition/Pipeline.cpp,
// Schedule/Pipeline.cpp, Lowering/CPU/Pipelines.cpp and
// Lowering/GPU/Pipelines.cpp.
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipeline/Phases.h"
#include "CountProgram.h"
#include "autopar/Dialect/Canonicalizer.h"
#include "autopar/Frontend/Passes.h"
#include "autopar/Lowering/Passes.h"
#include "autopar/Partition/Passes.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Schedule/Passes.h"
#include "autopar/Training/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar {

llvm::StringRef stringifyPhase(Phase phase) {
  if (phase == Phase::Executable)
    return "executable";
  return kPhasesOfIR[static_cast<unsigned>(phase)];
}

std::optional<Phase> parsePhase(llvm::StringRef name) {
  const auto *known = llvm::find(kPhasesOfIR, name);
  if (known == std::end(kPhasesOfIR))
    return std::nullopt;
  return static_cast<Phase>(known - std::begin(kPhasesOfIR));
}

/// The graph as it was written: few ops, each doing something.
static void buildImportPhase(OpPassManager &manager) {
  // Shape arithmetic is folded already; what exporters leave (double
  // transposes, reshapes of reshapes) goes before anything is moved.
  manager.addPass(createCanonicalizer());
  manager.addPass(createCSEPass());
}

/// The passes that make what Planning reads: the step, and the setup that runs
/// once before it.
static void buildTrainingPhase(OpPassManager &manager) {
  // Runs before weights are moved, so that they are converted at load, and
  // before losses, which have the full type, and derivatives, which have the
  // types of the values that they derive.
  manager.addPass(createAssignPrecision());
  manager.addPass(createStackParameters());
  manager.addPass(createKeepTrainedStates());
  manager.addPass(createAddLoss());
  manager.addPass(createAddMetrics());
  manager.addPass(createDifferentiate());
  manager.addPass(createAccumulateGradients());
  manager.addPass(createAddOptimizer());
  // Derivatives are built without looking around.
  manager.addPass(createCanonicalizer());
  manager.addPass(createCSEPass());
  manager.addPass(createCheckNumerics());
  manager.addPass(createDropFunctions());
  // Weights that are only re-ordered or folded are computed at load.
  manager.addPass(createMoveToSetup());
  manager.addPass(createCanonicalizer());
  manager.addPass(createCSEPass());
  // Runs last, because ops of several tasks may have been merged.
  manager.addPass(createAssignTasks());
}

static void buildPlanPhase(OpPassManager &manager,
                           const PhaseOptions &options) {
  if (options.planFile.empty()) {
    SearchPlanOptions search;
    search.trace = options.tracePlanning;
    search.from = options.fromPlan;
    search.entry = options.entry;
    manager.addPass(createSearchPlan(search, options.planned, options.stored,
                                     countProgram));
  } else {
    manager.addPass(createApplyPlan({options.planFile, options.entry},
                                    options.planned, countProgram));
  }
  manager.addPass(createVerifyPlan());
}

static void buildLowerPhase(OpPassManager &manager,
                            const PhaseOptions &options) {
  if (options.model) {
    manager.addPass(
        createPlaceWeights(options.weights, options.model, options.made));
  } else {
    // Runs again because IR that is resumed may have been edited.
    manager.addPass(createVerifySchedule());
    manager.addPass(createVerifyProgram());
    if (!options.weights.executable.empty())
      manager.addPass(createPlaceWeights(options.weights));
  }
  manager.addPass(createLower({options.cudaSource}));
}

void buildPhase(Phase phase, OpPassManager &manager,
                const PhaseOptions &options) {
  switch (phase) {
  case Phase::Import:
    return buildImportPhase(manager);
  case Phase::Training:
    return buildTrainingPhase(manager);
  case Phase::Plan:
    return buildPlanPhase(manager, options);
  case Phase::Partition:
    return buildPartitionPipeline(manager);
  case Phase::Schedule:
    buildSchedulePipeline(manager);
    // Verifies whole programs; the pipeline also runs on single functions.
    return manager.addPass(createVerifyProgram());
  case Phase::Lower:
    return buildLowerPhase(manager, options);
  case Phase::Executable:
    return manager.addPass(createWriteExecutable(options.programs));
  }
}

template <Phase phase> static void registerPhase() {
  static std::string flag = ("autopar-phase-" + stringifyPhase(phase)).str();
  static std::string text =
      ("the passes of phase " + stringifyPhase(phase)).str();
  static PassPipelineRegistration<> registration(
      flag, text, [](OpPassManager &manager) { buildPhase(phase, manager); });
}

namespace {
/// The options, as text, that the driver gives as objects.
struct WeightOptions : PassPipelineOptions<WeightOptions> {
  Option<std::string> model{*this, "model", llvm::cl::desc("the ONNX file")};
  Option<std::string> executable{
      *this, "executable",
      llvm::cl::desc("the executable; none: weights have no places")};
  Option<std::string> weights{*this, "weights",
                              llvm::cl::desc("file or folder of the weights")};
  Option<bool> embed{*this, "embed",
                     llvm::cl::desc("put all weights into the executable"),
                     llvm::cl::init(false)};
};
} // namespace

void registerPhasePipelines() {
  registerPhase<Phase::Import>();
  registerPhase<Phase::Training>();
  registerPhase<Phase::Plan>();
  registerPhase<Phase::Partition>();
  registerPhase<Phase::Schedule>();
  static PassPipelineRegistration<WeightOptions> lower(
      "autopar-phase-lower", "the passes of phase lower",
      [](OpPassManager &manager, const WeightOptions &options) {
        PhaseOptions phase;
        phase.weights = {options.model, options.executable, options.embed,
                         options.weights};
        buildPhase(Phase::Lower, manager, phase);
      });
  static PassPipelineRegistration<WeightOptions> executable(
      "autopar-phase-executable", "compile a lowered module, write the file",
      [](OpPassManager &manager, const WeightOptions &options) {
        manager.addPass(createWriteExecutable(
            {options.model, options.executable, options.embed}));
      });
}

} // namespace autopar
