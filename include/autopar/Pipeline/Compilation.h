//===- Compilation.h - One model through all phases -------------*- C++ -*-===//

#ifndef AUTOPAR_PIPELINE_COMPILATION_H
#define AUTOPAR_PIPELINE_COMPILATION_H

#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Lowering/MadeWeights.h"
#include "autopar/Pipeline/Phases.h"
#include "autopar/Planning/Constraints/StoredTensors.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Planning/Search/Search.h"
#include "autopar/Support/Progress.h"
#include "autopar/Training/TrainedStates.h"
#include "mlir/IR/MLIRContext.h"
#include <chrono>

namespace autopar {

/// A request for one program: the options of the commands, checked and parsed.
struct CompileRequest {
  std::string model;
  ImportOptions import;
  PlanRequest plan;
  std::string planFile; // take this plan in place of a search
  std::string
      fromPlan; // search a plan that keeps the decisions of this one that fit
  bool clusterGiven = false;    // the user gave a cluster: that of a plan must
                                // have as many devices
  std::string output = "a.out"; // the executable
  std::string weights;       // the place where the executable finds the weights
  bool embedWeights = false; // all weights go into the executable
  std::string target;        // "cpu", "cuda", "emulated"; empty: the cluster's
  std::string cpu;       // the CPU for which code is made; empty: this host's
  std::string precision; // "fp32", "tf32", "bf16", "fp16"; empty: the recipe's,
                         // the plan file's, the old plan's, or else fp32
  std::string recipe;    // file: how to train; empty: inference
  bool checkNumerics = false; // end a run at the first NaN or infinity
  std::string cudaSource;     // folder for the program as CUDA C++; empty: none
  std::string entry; // `--entry` as it was written; empty: the only one
  /// The name of the entry in plan files, folders and messages: `batch=1`, or
  /// with the number of ranks if the program is for several numbers,
  /// `batch=1,2-ranks`.
  std::string planName;
  /// The tensors that the entries planned before this one store; this entry
  /// adds its own. Null if there is one entry only.
  std::shared_ptr<StoredTensors> stored;
  /// A training writes here which states it changes, for the entry that
  /// evaluates it. Null if there is no such entry.
  std::shared_ptr<TrainedStates> trained;
  std::string dumpPhases; // folder for the IR of each phase; empty: none
  bool tracePlanning = false;
  bool remarks = false; // print remarks, those of the plan's decisions too
  bool verbose = false;
};

/// The things that the entries of one executable share.
struct ExecutableParts {
  MadeWeights made;
  std::vector<ProgramBytes> programs;
  std::shared_ptr<const OnnxModel> model; // once a program reads it
};

/// Prints IR that autopar-opt reads back. It has locations, which carry the
/// names of nodes.
void printModule(mlir::ModuleOp module, llvm::raw_ostream &os);

/// Runs phases in order. Messages go to stderr, as `autopar: error: ...`; a
/// function that returns failure has said why.
class Compilation {
public:
  explicit Compilation(CompileRequest request);

  mlir::LogicalResult importModel();
  mlir::LogicalResult deriveStep();
  mlir::LogicalResult makePlan();
  /// Runs all phases up to `last`. Executable adds the program to `to`, which
  /// Lower and later phases need.
  mlir::LogicalResult runThrough(Phase last, ExecutableParts *to = nullptr);
  /// Does the same after importModel was called.
  mlir::LogicalResult runOn(Phase last, ExecutableParts *to = nullptr);
  /// Does the same after makePlan was called.
  mlir::LogicalResult runPlanned(Phase last, ExecutableParts *to = nullptr);

  mlir::ModuleOp module() { return *ir; }
  /// The plan; only after makePlan.
  const Plan &plan() const { return planned.plan; }
  const ModelGraph &graph() const { return planned.graph; }
  /// The meshes that the search tried; empty if the plan was given.
  llvm::ArrayRef<SearchTrial> tried() const { return planned.tried; }
  /// The names and types of the model's inputs; only after importModel.
  std::string describeInputs() const;
  /// The plan as a table; only after makePlan.
  std::string describePlan() const { return table; }

private:
  mlir::LogicalResult runPasses(Phase phase, ExecutableParts *to = nullptr);
  void describeRequest();
  /// Returns whether this entry evaluates what another entry trains.
  bool evaluatesTrained() const {
    return request.trained && request.recipe.empty();
  }
  mlir::LogicalResult followPlan();
  mlir::LogicalResult bindAsPlanned(const Plan &plan);
  mlir::FailureOr<std::string> precisionOfPlan(llvm::StringRef path,
                                               const Plan &plan);
  mlir::LogicalResult readRecipe();
  static llvm::Error checkRanks(const Cluster &cluster, Phase last);
  llvm::Error dump(Phase phase);
  void report(Phase phase);
  void showProgress(Phase phase);
  mlir::LogicalResult fail(llvm::Error error);

  CompileRequest request;
  mlir::MLIRContext context;
  std::shared_ptr<const OnnxModel> file;
  std::optional<Recipe> recipe; // none: inference
  mlir::OwningOpRef<mlir::ModuleOp> ir;
  PlannedModel planned;
  std::string table;
  std::chrono::steady_clock::time_point began, phaseBegan;
  std::unique_ptr<Progress> progress; // null: none is shown
};

} // namespace autopar

#endif // AUTOPAR_PIPELINE_COMPILATION_H
