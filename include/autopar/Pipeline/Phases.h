//===- Phases.h - The order of the compiler's phases ------------*- C++ -*-===//

#ifndef AUTOPAR_PIPELINE_PHASES_H
#define AUTOPAR_PIPELINE_PHASES_H

#include "autopar/Lowering/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace autopar {

/// The phases of compilation. After each the IR is as docs/Architecture.md
/// says.
enum class Phase {
  Import,
  Training,
  Plan,
  Partition,
  Schedule,
  Lower,
  Executable
};

/// The names of the phases after which compilation may stop, by number. The
/// last phase is not among them: an executable is no IR.
inline constexpr llvm::StringRef kPhasesOfIR[] = {
    "import", "training", "plan", "partition", "schedule", "lower"};
llvm::StringRef stringifyPhase(Phase phase);
/// Parses one of kPhasesOfIR.
std::optional<Phase> parsePhase(llvm::StringRef name);

struct PlannedModel;
class StoredTensors;

/// The things that passes read and write beside the module.
struct PhaseOptions {
  /// Phase plan: takes the plan of `entry` from this file; empty: searches one.
  std::string planFile, entry;
  /// Phase plan: searches a plan that keeps the decisions of this file's plan
  /// that fit; empty: searches freely.
  std::string fromPlan;
  /// Phase plan: prints a line about each trial on stderr.
  bool tracePlanning = false;
  /// Phase plan: also leaves the plan here.
  PlannedModel *planned = nullptr;
  /// Phase plan: the tensors that the entries before this one store; null:
  /// none.
  const StoredTensors *stored = nullptr;
  /// Phase lower: where the weights are; nobody says it if there is no
  /// executable. `model` and `made` are the files of `weights` if they are read
  /// and planned already.
  PlaceWeightsOptions weights;
  const OnnxModel *model = nullptr;
  MadeWeights *made = nullptr;
  /// Phase lower, GPU: writes the program as CUDA C++ into this folder; empty:
  /// does not.
  std::string cudaSource;
  /// Phase executable: leaves the program here.
  std::vector<ProgramBytes> *programs = nullptr;
};

/// The passes of a phase, from the IR after the phase before it to the IR after
/// this one. Import follows the ONNX importer; Training derives the training
/// step of a module that has a recipe, and moves what no step changes to
/// @setup.
void buildPhase(Phase phase, mlir::OpPassManager &manager,
                const PhaseOptions &options = {});

/// Registers `--autopar-phase-import`, `--autopar-phase-training`, ... for
/// autopar-opt. Each takes the output of the phase before, also as `autopar
/// compile --stop-after` prints it. `--autopar-phase-lower="model=M
/// executable=E"` and `--autopar-phase-executable="model=M executable=E"` end
/// with the executable that `autopar compile M -o E` writes.
void registerPhasePipelines();

} // namespace autopar

#endif // AUTOPAR_PIPELINE_PHASES_H
