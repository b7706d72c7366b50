//===- Compilation.cpp - One model through all phases ---------------------===//

#include "autopar/Pipeline/Compilation.h"
#include "WeightPlaces.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/Executable.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Planning/WritePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace autopar {

/// `autopar: error: node 'x': message`, notes below it.
static void printDiagnostic(Diagnostic &diagnostic) {
  StringRef severity =
      diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error"
      : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                                                                : "note";
  std::string text = diagnostic.str();
  StringRef node = nodeName(diagnostic.getLocation());
  llvm::errs() << "autopar: " << severity << ": ";
  if (!node.empty() && !StringRef(text).contains("'" + node.str() + "'"))
    llvm::errs() << "node '" << node << "': ";
  llvm::errs() << text << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    printDiagnostic(note);
}

Compilation::Compilation(CompileRequest asked)
    : request(std::move(asked)), began(std::chrono::steady_clock::now()),
      phaseBegan(began) {
  context.loadDialect<AutoparDialect, func::FuncDialect>();
  context.printOpOnDiagnostic(false); // whole functions say nothing to users
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
      printDiagnostic(diagnostic);
    return success();
  });
}

LogicalResult Compilation::fail(llvm::Error error) {
  llvm::errs() << "autopar: error: " << llvm::toString(std::move(error))
               << "\n";
  return failure();
}

/// A line per phase when asked for, and when the user has waited for a while.
void Compilation::report(Phase phase) {
  auto now = std::chrono::steady_clock::now();
  auto seconds = [](auto duration) {
    return std::chrono::duration<double>(duration).count();
  };
  if (request.verbose || seconds(now - began) > 3)
    llvm::errs() << llvm::format("autopar: %-10s %7.2f s\n",
                                 stringifyPhase(phase).str().c_str(),
                                 seconds(now - phaseBegan));
  phaseBegan = now;
}

LogicalResult Compilation::runPasses(Phase phase) {
  PassManager manager(&context);
  buildPhase(phase, manager);
  if (failed(manager.run(*ir)))
    return failure();
  report(phase);
  return success();
}

LogicalResult Compilation::importModel() {
  auto model = OnnxModel::read(request.model, request.import.read);
  if (!model)
    return fail(model.takeError());
  file = std::move(*model);
  ir = importOnnx(*file, request.import, &context);
  return ir ? runPasses(Phase::Import) : failure();
}

LogicalResult Compilation::makePlan() {
  FailureOr<ModelGraph> graph = readModel(*ir);
  if (failed(graph))
    return failure();
  llvm::Expected<Plan> plan = request.planFile.empty()
                                  ? searchPlan(*graph, request.plan)
                                  : readPlanFile(request.planFile);
  if (!plan)
    return fail(plan.takeError());
  if (!request.planFile.empty()) {
    if (llvm::Error error = alignWith(*plan, *graph))
      return fail(std::move(error));
    if (llvm::Error error = verify(*plan, *graph))
      return fail(std::move(error));
  }
  chosen = std::move(*plan);
  table = describe(chosen, *graph);
  writePlan(*ir, *graph, chosen);
  return runPasses(Phase::Plan);
}

LogicalResult Compilation::run(Phase phase) {
  if (phase == Phase::Lower && failed(placeWeights()))
    return failure();
  return runPasses(phase);
}

LogicalResult Compilation::placeWeights() {
  if (chosen.cluster.slowest().kind != "cpu")
    return fail(llvm::createStringError(
        "the cluster's devices are " + chosen.cluster.slowest().name +
        ", for which this build generates no code; stop at "
        "--stop-after=schedule, use `autopar plan`, or compile for --ranks N"));
  if (llvm::Error error = placeWeightFiles(
          *ir, *file, {request.model, request.output, request.weights}))
    return fail(std::move(error));
  SmallVector<Attribute> features;
  for (const std::string &feature : hostCpuFeatures())
    features.push_back(StringAttr::get(&context, feature));
  (*ir)->setAttr(kCpuFeatures, ArrayAttr::get(&context, features));
  return success();
}

LogicalResult Compilation::writeExecutable() {
  auto stub = findStub();
  if (!stub)
    return fail(stub.takeError());
  auto object = compileToObject(*ir);
  if (!object)
    return fail(object.takeError());
  auto program = linkSharedObject(*object);
  if (!program)
    return fail(program.takeError());
  if (llvm::Error error =
          autopar::writeExecutable(request.output, *stub, *program))
    return fail(std::move(error));
  report(Phase::Executable);
  return success();
}

LogicalResult Compilation::runThrough(Phase last) {
  if (failed(importModel()))
    return failure();
  if (last >= Phase::Plan && failed(makePlan()))
    return failure();
  for (Phase phase : {Phase::Partition, Phase::Schedule, Phase::Lower})
    if (last >= phase && failed(run(phase)))
      return failure();
  return success();
}

} // namespace autopar
