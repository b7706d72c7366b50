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

/// What the commands ask for.
struct CompileRequest {
  std::string model;
  ImportOptions import;
  PlanRequest plan;
  std::string planFile;      // take this plan instead of searching
  std::string fromPlan;      // search a plan that keeps what fits of this one
  bool clusterGiven = false; // by the user: a plan's must have as many devices
  std::string output = "a.out"; // the executable
  std::string weights;          // where the executable finds the weights
  bool embedWeights = false;    // all of them in the executable
  std::string target;    // "cpu", "cuda", "emulated"; empty: the cluster's
  std::string cpu;       // that code is for; empty: this host's
  std::string precision; // "fp32", "tf32", "bf16", "fp16"; empty: the recipe's,
                         // the plan file's, the old plan's, or else fp32
  std::string recipe;    // file: how to train; empty: inference
  bool checkNumerics = false; // end a run at the first NaN or infinity
  std::string cudaSource;     // folder for the program as CUDA C++; empty: none
  std::string entry; // `--entry` as it was written; empty: the only one
  /// Plan files, folders and messages call the entry so: its name, and if the
  /// program is for several numbers of ranks how many, `batch=1,2-ranks`.
  std::string planName;
  /// The tensors that entries planned before this one store; it adds its own.
  /// Null: there is one entry only.
  std::shared_ptr<StoredTensors> stored;
  /// A training leaves here which states it changes, for the entry that
  /// evaluates it; null: there is none.
  std::shared_ptr<TrainedStates> trained;
  std::string dumpPhases; // folder for the IR of each phase; empty: none
  bool tracePlanning = false;
  bool remarks = false; // print remarks, those of the plan's decisions too
  bool verbose = false;
};

/// What the entries of one executable share.
struct ExecutableParts {
  MadeWeights made;
  std::vector<ProgramBytes> programs;
  std::shared_ptr<const OnnxModel> model; // once a program reads it
};

/// IR that autopar-opt reads back: with locations, which carry nodes' names.
void printModule(mlir::ModuleOp module, llvm::raw_ostream &os);

/// Runs phases in order. Messages go to stderr, as `autopar: error: ...`; a
/// function that returns failure has said why.
class Compilation {
public:
  explicit Compilation(CompileRequest request);

  mlir::LogicalResult importModel();
  mlir::LogicalResult deriveStep();
  mlir::LogicalResult makePlan();
  /// All phases up to `last`; Executable adds the program to `to`, which Lower
  /// and later phases need.
  mlir::LogicalResult runThrough(Phase last, ExecutableParts *to = nullptr);
  /// The same after importModel.
  mlir::LogicalResult runOn(Phase last, ExecutableParts *to = nullptr);
  /// The same after makePlan.
  mlir::LogicalResult runPlanned(Phase last, ExecutableParts *to = nullptr);

  mlir::ModuleOp module() { return *ir; }
  /// What was planned; only after makePlan.
  const Plan &plan() const { return planned.plan; }
  const ModelGraph &graph() const { return planned.graph; }
  /// What the search tried; none where the plan was given.
  llvm::ArrayRef<SearchTrial> tried() const { return planned.tried; }
  /// Names and types of the model's inputs; only after importModel.
  std::string describeInputs() const;
  /// The plan as a table; only after makePlan.
  std::string describePlan() const { return table; }

private:
  mlir::LogicalResult runPasses(Phase phase, ExecutableParts *to = nullptr);
  void describeRequest();
  /// True if it evaluates what another entry trains.
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
  mlir::Attribute recipe; // null: inference
  mlir::OwningOpRef<mlir::ModuleOp> ir;
  PlannedModel planned;
  std::string table;
  std::chrono::steady_clock::time_point began, phaseBegan;
  std::unique_ptr<Progress> progress; // null: none is shown
};

} // namespace autopar

#endif // AUTOPAR_PIPELINE_COMPILATION_H
