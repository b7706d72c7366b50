//===- Compile.cpp - From a model to an executable ------------------------===//

#include "autopar/Pipeline/Compile.h"
#include "WeightFiles.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Executable.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Planning/WritePlan.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include <chrono>

using namespace mlir;

namespace autopar {

namespace {

/// One compilation: its state from phase to phase.
class Compilation {
public:
  Compilation(const CompileRequest &request, llvm::raw_ostream &log)
      : request(request), log(log),
        diagnostics(&context, [](Diagnostic &d) { print(d); }) {
    context.printOpOnDiagnostic(false); // whole functions help no one
  }

  bool run() {
    return runPhase(Phase::Import, &Compilation::import) &&
           runPhase(Phase::Plan, &Compilation::plan) &&
           runPhase(Phase::Partition, &Compilation::partition) &&
           runPhase(Phase::Schedule, &Compilation::schedule) &&
           runPhase(Phase::Lower, &Compilation::lower) &&
           runPhase(Phase::Executable, &Compilation::executable);
  }

private:
  /// Runs a phase unless an earlier one was the last; prints its IR if it is.
  bool runPhase(Phase phase, bool (Compilation::*body)()) {
    if (phase > request.stopAfter)
      return true;
    auto start = std::chrono::steady_clock::now();
    if (!(this->*body)())
      return false;
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    if (request.verbose)
      log << llvm::formatv("{0,-11}{1,8:F2} s\n", stringifyPhase(phase),
                           seconds.count());
    if (phase != request.stopAfter || phase == Phase::Executable)
      return true;
    return request.output.empty() || writeIR();
  }

  bool import() {
    auto read = OnnxModel::read(request.model, request.import.read);
    if (!read)
      return fail(read.takeError());
    model = std::move(*read);
    module = importOnnx(*model, request.import, &context);
    return module && runPasses(buildImportPipeline);
  }

  bool plan() {
    FailureOr<ModelGraph> graph = readModel(*module);
    if (failed(graph))
      return false;
    auto start = std::chrono::steady_clock::now();
    llvm::Expected<Plan> plan = findPlan(*graph);
    if (!plan)
      return fail(plan.takeError());
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    writePlan(*module, *graph, *plan);
    log << describe(*plan, *graph)
        << llvm::formatv("planned in {0:F2} s\n", seconds.count());
    if (!request.savePlan.empty())
      if (llvm::Error error = writePlanFile(*plan, request.savePlan))
        return fail(std::move(error));
    return runPasses(
        [](OpPassManager &manager) { manager.addPass(createVerifyPlan()); });
  }

  llvm::Expected<Plan> findPlan(const ModelGraph &graph) {
    if (request.planFile.empty())
      return searchPlan(graph, request.plan);
    llvm::Expected<Plan> plan = readPlanFile(request.planFile);
    if (!plan)
      return plan;
    if (llvm::Error error = alignWith(*plan, graph))
      return std::move(error);
    if (llvm::Error error = verify(*plan, graph))
      return std::move(error);
    return plan;
  }

  bool partition() { return runPhasePasses(Phase::Partition); }

  bool schedule() {
    // Before arguments become buffers: parameters get their final places.
    if (request.stopAfter == Phase::Executable)
      if (llvm::Error error = placeWeights(*module, *model, request.model,
                                           request.weights, request.output))
        return fail(std::move(error));
    return runPhasePasses(Phase::Schedule);
  }

  bool lower() { return runPhasePasses(Phase::Lower); }

  bool executable() {
    auto object = compileToObject(*module);
    if (!object)
      return fail(object.takeError());
    auto program = linkSharedObject(*object);
    if (!program)
      return fail(program.takeError());
    auto stub = findStub();
    if (!stub)
      return fail(stub.takeError());
    if (llvm::Error error = writeExecutable(request.output, *stub, *program))
      return fail(std::move(error));
    return true;
  }

  bool runPhasePasses(Phase phase) {
    return runPasses([phase](OpPassManager &manager) {
      buildPhasePipeline(manager, phase);
    });
  }

  bool runPasses(llvm::function_ref<void(OpPassManager &)> build) {
    PassManager manager(&context);
    manager.enableVerifier(true);
    build(manager);
    return succeeded(manager.run(*module));
  }

  bool writeIR() {
    llvm::Error error =
        llvm::writeToOutput(request.output, [&](llvm::raw_ostream &os) {
          module->print(os, OpPrintingFlags().enableDebugInfo(true));
          return llvm::Error::success();
        });
    return error ? fail(std::move(error)) : true;
  }

  static bool fail(llvm::Error error) {
    llvm::errs() << "autopar: error: " << llvm::toString(std::move(error))
                 << "\n";
    return false;
  }

  /// Names the ONNX node where the location knows it.
  static void print(Diagnostic &diagnostic) {
    auto line = [](Diagnostic &d, StringRef severity) {
      llvm::errs() << "autopar: " << severity << ": ";
      if (StringRef node = nodeName(d.getLocation()); !node.empty())
        llvm::errs() << "node '" << node << "': ";
      llvm::errs() << d << "\n";
    };
    StringRef severity =
        diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error"
        : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                                                                  : "note";
    line(diagnostic, severity);
    for (Diagnostic &note : diagnostic.getNotes())
      line(note, "note");
  }

  const CompileRequest &request;
  llvm::raw_ostream &log;
  MLIRContext context;
  ScopedDiagnosticHandler diagnostics;
  std::unique_ptr<OnnxModel> model;
  OwningOpRef<ModuleOp> module;
};

} // namespace

bool compile(const CompileRequest &request, llvm::raw_ostream &log) {
  return Compilation(request, log).run();
}

} // namespace autopar
