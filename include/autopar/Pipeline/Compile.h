//===- Compile.h - From a model to an executable ----------------*- C++ -*-===//

#ifndef AUTOPAR_PIPELINE_COMPILE_H
#define AUTOPAR_PIPELINE_COMPILE_H

#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Pipeline/Phases.h"
#include "autopar/Planning/Search.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace autopar {

/// What the commands `compile` and `plan` were asked for.
struct CompileRequest {
  std::string model;   // .onnx or .onnx.gz
  std::string output;  // the executable, or the IR of `stopAfter`; "-": stdout
  std::string weights; // where the executable finds the weights; "": the model
  ImportOptions import;
  PlanRequest plan;
  std::string planFile; // use this plan instead of searching one
  std::string savePlan; // keep the plan
  Phase stopAfter = Phase::Executable;
  bool verbose = false; // tell phases with times
};

/// Runs the phases up to request.stopAfter. The plan's table and, where
/// verbose, phases with times go to `log`; diagnostics go to stderr. False: one
/// was an error.
bool compile(const CompileRequest &request, llvm::raw_ostream &log);

} // namespace autopar

#endif // AUTOPAR_PIPELINE_COMPILE_H
