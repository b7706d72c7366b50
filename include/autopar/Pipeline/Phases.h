//===- Phases.h - The order of the compiler's phases ------------*- C++ -*-===//

#ifndef AUTOPAR_PIPELINE_PHASES_H
#define AUTOPAR_PIPELINE_PHASES_H

#include "autopar/Lowering/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace autopar {

/// Each phase ends at one border of docs/Architecture.md.
enum class Phase {
  Import,
  Training,
  Plan,
  Partition,
  Schedule,
  Lower,
  Executable
};

/// Phases after which compilation may stop, by number, as users write them: the
/// executable is no IR.
inline constexpr llvm::StringRef kPhasesOfIR[] = {
    "import", "training", "plan", "partition", "schedule", "lower"};
llvm::StringRef stringifyPhase(Phase phase);
/// One of kPhasesOfIR.
std::optional<Phase> parsePhase(llvm::StringRef name);

struct PlannedModel;
class StoredTensors;

/// What passes read and write beside the module.
struct PhaseOptions {
  /// Plan: take the plan of `entry` from this file; empty: search one.
  std::string planFile, entry;
  /// Plan: search one that keeps what fits of this file's plan; empty: a free
  /// one.
  std::string fromPlan;
  /// Plan: tell of each trial on stderr.
  bool tracePlanning = false;
  /// Plan: leaves what was planned here, too.
  PlannedModel *planned = nullptr;
  /// Plan: what entries before this one store; null: nothing.
  const StoredTensors *stored = nullptr;
  /// Lower: where weights are; with no executable nobody says. `model`, `made`:
  /// the files of `weights` as they were read and planned already.
  PlaceWeightsOptions weights;
  const OnnxModel *model = nullptr;
  MadeWeights *made = nullptr;
  /// Lower, GPU: write the program as CUDA C++ into this folder; empty: do not.
  std::string cudaSource;
  /// Executable: leaves the program here.
  std::vector<ProgramBytes> *programs = nullptr;
};

/// The passes of a phase, from the IR at the border before it to its own.
/// Import follows the ONNX importer; Training derives the training step of a
/// module that has a recipe, and moves what no step changes to @setup.
void buildPhase(Phase phase, mlir::OpPassManager &manager,
                const PhaseOptions &options = {});

/// `--autopar-phase-import`, `--autopar-phase-training`, ..., for autopar-opt:
/// each takes the output of the one before, also that of `autopar compile
/// --stop-after`. `--autopar-phase-lower="model=M executable=E"` and
/// `--autopar-phase-executable="model=M executable=E"` end with the executable
/// that `autopar compile M -o E` writes.
void registerPhasePipelines();

} // namespace autopar

#endif // AUTOPAR_PIPELINE_PHASES_H
