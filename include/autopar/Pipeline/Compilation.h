//===- Compilation.h - One model through all phases -------------*- C++ -*-===//

#ifndef AUTOPAR_PIPELINE_COMPILATION_H
#define AUTOPAR_PIPELINE_COMPILATION_H

#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Pipeline/Phases.h"
#include "autopar/Planning/Plan.h"
#include "autopar/Planning/Search.h"
#include "mlir/IR/MLIRContext.h"
#include <chrono>

namespace autopar {

/// What the commands ask for.
struct CompileRequest {
  std::string model;
  ImportOptions import;
  PlanRequest plan;
  std::string planFile; // take this plan instead of searching
  std::string weights;  // where the executable finds the weights
  std::string output;
  bool verbose = false;
};

/// Runs phases in order. Messages go to stderr, as `autopar: error: ...`; a
/// function that returns failure has said why.
class Compilation {
public:
  explicit Compilation(CompileRequest request);

  mlir::LogicalResult importModel();
  mlir::LogicalResult makePlan();
  /// Partition, Schedule or Lower.
  mlir::LogicalResult run(Phase phase);
  mlir::LogicalResult writeExecutable();
  /// All phases up to `last`, Executable not among them.
  mlir::LogicalResult runThrough(Phase last);

  mlir::ModuleOp module() { return *ir; }
  const Plan &plan() const { return chosen; }
  /// The plan as a table; only after makePlan.
  std::string describePlan() const { return table; }

private:
  mlir::LogicalResult runPasses(Phase phase);
  mlir::LogicalResult placeWeights();
  void report(Phase phase);
  mlir::LogicalResult fail(llvm::Error error);

  CompileRequest request;
  mlir::MLIRContext context;
  std::unique_ptr<OnnxModel> file;
  mlir::OwningOpRef<mlir::ModuleOp> ir;
  Plan chosen;
  std::string table;
  std::chrono::steady_clock::time_point began, phaseBegan;
};

} // namespace autopar

#endif // AUTOPAR_PIPELINE_COMPILATION_H
