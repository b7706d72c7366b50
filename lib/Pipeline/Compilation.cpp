//===- Compilation.cpp - One model through all phases ---------------------===//

#include "autopar/Pipeline/Compilation.h"
#include "DescribeStep.h"
#include "ProgramHashes.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Frontend/ExportWarnings.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/CpuFeatures.h"
#include "autopar/Planning/Plan/ReadPlanFile.h"
#include "autopar/Planning/RequestAttribute.h"
#include "autopar/Planning/WarnOfBlocks.h"
#include "autopar/Report/PlanText.h"
#include "autopar/Report/RemarkOnPlan.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/MemoryFailure.h"
#include "autopar/Support/Output.h"
#include "autopar/Support/Text.h"
#include "autopar/Training/Passes.h"
#include "autopar/Training/RecipeAttr.h"
#include "autopar/runtime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace autopar {

/// `autopar: error: node 'x': message`, notes below it.
static void printDiagnostic(Diagnostic &diagnostic) {
  StringRef severity =
      diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error"
      : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning"
      : diagnostic.getSeverity() == DiagnosticSeverity::Remark  ? "remark"
                                                                : "note";
  std::string text = diagnostic.str();
  StringRef node = nodeName(diagnostic.getLocation());
  if (!node.empty() && !StringRef(text).contains("'" + node.str() + "'"))
    text = "node '" + node.str() + "': " + text;
  llvm::errs() << "autopar: " << severity << ": " << printable(text) << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    printDiagnostic(note);
}

Compilation::Compilation(CompileRequest asked)
    : request(std::move(asked)), began(std::chrono::steady_clock::now()),
      phaseBegan(began) {
  DialectRegistry registry;
  registerTraining(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<AutoparDialect, TrainingDialect, func::FuncDialect>();
  context.printOpOnDiagnostic(false); // whole functions say nothing to users
  bool remarks = request.remarks;
  context.getDiagEngine().registerHandler(
      [this, remarks](Diagnostic &diagnostic) {
        if (!remarks && diagnostic.getSeverity() == DiagnosticSeverity::Remark)
          return success();
        if (progress)
          progress->pause();
        printDiagnostic(diagnostic);
        return success();
      });
}

/// Shows progress over all phases, unless lines about each trial or phase are
/// printed anyway.
void Compilation::showProgress(Phase phase) {
  if (request.verbose || request.tracePlanning)
    return;
  if (!progress) {
    SmallVector<StringRef> phases(ArrayRef<StringRef>{kPhasesOfIR});
    phases.push_back(stringifyPhase(Phase::Executable));
    progress = std::make_unique<Progress>(phases, Progress::ofStderr());
  }
  progress->begin(static_cast<size_t>(phase));
}

LogicalResult Compilation::fail(llvm::Error error) {
  progress.reset();
  llvm::errs() << "autopar: error: "
               << printable(llvm::toString(std::move(error))) << "\n";
  return failure();
}

/// A line per phase when asked for, and when the user has waited for a while.
void Compilation::report(Phase phase) {
  auto now = std::chrono::steady_clock::now();
  auto seconds = [](auto duration) {
    return std::chrono::duration<double>(duration).count();
  };
  if (progress)
    progress->pause();
  bool isLong = seconds(now - began) > 3 && !Progress::isOff();
  if (request.verbose || isLong)
    llvm::errs() << llvm::format("autopar: %-10s %7.2f s\n",
                                 stringifyPhase(phase).str().c_str(),
                                 seconds(now - phaseBegan));
  phaseBegan = now;
}

void printModule(ModuleOp module, llvm::raw_ostream &os) {
  OpPrintingFlags flags;
  flags.enableDebugInfo(); // locations carry the nodes' names
  module->print(os, flags);
  os << "\n";
}

/// `DIR/2-plan.mlir`, of several entries in a folder per entry.
llvm::Error Compilation::dump(Phase phase) {
  if (request.dumpPhases.empty())
    return llvm::Error::success();
  llvm::SmallString<128> path(request.dumpPhases);
  llvm::sys::path::append(path, request.planName);
  if (std::error_code code = llvm::sys::fs::create_directories(path))
    return llvm::createStringError(code, "--dump-phases " + path + ": " +
                                             code.message());
  llvm::sys::path::append(path, Twine(static_cast<int>(phase) + 1) + "-" +
                                    stringifyPhase(phase) + ".mlir");
  std::string text;
  llvm::raw_string_ostream os(text);
  printModule(*ir, os);
  return writeFile(path, text);
}

LogicalResult Compilation::runPasses(Phase phase, ExecutableParts *to) {
  PhaseOptions options;
  options.planFile = request.planFile;
  options.fromPlan = request.fromPlan;
  options.entry = request.planName;
  options.tracePlanning = request.tracePlanning;
  options.planned = &planned;
  options.stored = request.stored.get();
  options.cudaSource = request.cudaSource;
  options.weights = {request.model, request.output, request.embedWeights,
                     request.weights};
  if (to) {
    to->model = file;
    options.model = file.get();
    options.made = &to->made;
    options.programs = &to->programs;
  }
  PassManager manager(&context);
#ifdef NDEBUG
  constexpr bool afterEachPass = false; // it takes as long as many passes do
#else
  constexpr bool afterEachPass = true;
#endif
  manager.enableVerifier(afterEachPass);
  setActivity("running phase '" + stringifyPhase(phase).str() + "' of " +
              request.model);
  buildPhase(phase, manager, options);
  showProgress(phase);
  bool ends = phase == Phase::Executable; // nobody reads the IR any more
  if (failed(manager.run(*ir)) ||
      (!afterEachPass && !ends && failed(verify(*ir)))) {
    progress.reset();
    return failure();
  }
  report(phase);
  if (ends)
    return success();
  if (llvm::Error error = dump(phase))
    return fail(std::move(error));
  return success();
}

/// A plan is of the model in one precision, which its file says; "": fp32.
FailureOr<std::string> Compilation::precisionOfPlan(StringRef path,
                                                    const Plan &plan) {
  const std::string &precision = plan.precision;
  if (!llvm::is_contained(kPrecisions, StringRef(precision)))
    return fail(llvm::createStringError(
        "plan file " + path + ": 'precision' is '" + precision +
        "', not one of " + llvm::join(ArrayRef(kPrecisions), ", ")));
  return precision == kPrecisions[0] ? "" : precision;
}

/// Takes the facts about the model from the plan's file for this compilation.
LogicalResult Compilation::followPlan() {
  if (request.planFile.empty())
    return success();
  llvm::Expected<Plan> plan = readPlanFile(request.planFile, request.planName);
  if (!plan)
    return fail(plan.takeError());
  FailureOr<std::string> precision = precisionOfPlan(request.planFile, *plan);
  if (failed(precision))
    return failure();
  if (request.checkNumerics && !plan->checksNumerics)
    return fail(llvm::createStringError(
        "--check-numerics: plan file " + request.planFile +
        " is of the model without; plan it with --check-numerics"));
  request.checkNumerics = plan->checksNumerics;
  StringRef is = precision->empty() ? StringRef(kPrecisions[0]) : *precision;
  if (!request.precision.empty() && request.precision != is)
    return fail(llvm::createStringError("--precision " + request.precision +
                                        ": plan file " + request.planFile +
                                        " is of the model in " + is));
  if (!precision->empty())
    request.precision = *precision;
  return bindAsPlanned(*plan);
}

/// The recipe, checked, and what it says of the import and the precision. What
/// neither it nor the request says of that is as in the old plan.
LogicalResult Compilation::readRecipe() {
  std::string precision = request.precision;
  if (precision.empty() && !request.fromPlan.empty()) {
    llvm::Expected<Plan> plan =
        readOldPlanFile(request.fromPlan, request.planName);
    if (!plan)
      return fail(plan.takeError());
    FailureOr<std::string> old = precisionOfPlan(request.fromPlan, *plan);
    if (failed(old))
      return failure();
    precision = *old;
  }
  if (request.recipe.empty()) {
    request.precision =
        evaluatesTrained() ? request.trained->precision : precision;
    return success();
  }
  auto buffer = llvm::MemoryBuffer::getFile(request.recipe, /*IsText=*/true);
  if (!buffer)
    return fail(llvm::createStringError("--train " + request.recipe + ": " +
                                        buffer.getError().message()));
  auto value = parseJson((*buffer)->getBuffer());
  if (!value)
    return fail(llvm::createStringError("recipe " + request.recipe + ": " +
                                        toString(value.takeError())));
  llvm::json::Object *object = value->getAsObject();
  const llvm::json::Value *given = object ? object->get("precision") : nullptr;
  if (object && !precision.empty() && (!given || given->getAsNull()))
    (*object)["precision"] = precision;
  auto read = recipeFromJSON(*value, request.recipe);
  if (!read)
    return fail(read.takeError());
  if (!request.precision.empty() && request.precision != read->precision)
    return fail(llvm::createStringError("--precision " + request.precision +
                                        ": the recipe's is " +
                                        read->precision));
  request.precision = read->precision;
  request.import.trained =
      TrainingOptions{read->dropout, read->seed, read->unbiasedVariance, {}};
  if (read->trainable)
    request.import.trained->parameters.insert(read->trainable->begin(),
                                              read->trainable->end());
  recipe = std::move(*read);
  return success();
}

/// Writes the request as attributes that passes read.
void Compilation::describeRequest() {
  auto set = [&](StringRef name, StringRef value) {
    (*ir)->setAttr(name, StringAttr::get(&context, value));
  };
  if (!request.precision.empty() && request.precision != "fp32")
    set(AutoparDialect::kPrecision, request.precision);
  if (!request.target.empty())
    set(AutoparDialect::kTarget, request.target);
  if (!request.cpu.empty())
    set(AutoparDialect::kCpu, request.cpu);
  if (!request.entry.empty())
    set(AutoparDialect::kEntry, request.entry);
  PlanRequest asked = request.plan;
  if (!request.clusterGiven &&
      !(request.planFile.empty() && request.fromPlan.empty()))
    asked.cluster = {}; // the plan's
  asked.bindings = request.import.bindings;
  asked.states = request.import.states;
  (*ir)->setAttr(AutoparDialect::kRequest, toAttribute(asked, &context));
  if (recipe) {
    auto attribute = RecipeAttr::get(&context, *recipe);
    (*ir)->setAttr(AutoparDialect::kRecipe, attribute);
    (*ir)->setAttr(AutoparDialect::kHashes, programHashes(*file, attribute));
  }
  if (evaluatesTrained())
    (*ir)->setAttr(AutoparDialect::kTrainedStates,
                   toAttribute(*request.trained, &context));
  if (evaluatesTrained() && request.trained->evaluation)
    (*ir)->setAttr(AutoparDialect::kEvaluation,
                   RecipeAttr::get(&context, *request.trained->evaluation));
  if (request.checkNumerics)
    (*ir)->setAttr(AutoparDialect::kCheckNumerics, UnitAttr::get(&context));
}

LogicalResult Compilation::importModel() {
  setActivity("reading " + request.model);
  showProgress(Phase::Import);
  auto model = OnnxModel::read(request.model, request.import.read);
  if (!model)
    return fail(model.takeError());
  file = std::move(*model);
  if (failed(followPlan()) || failed(readRecipe()))
    return failure();
  request.import.checksNumerics = request.checkNumerics;
  ir = importOnnx(*file, request.import, &context);
  if (!ir) {
    progress.reset();
    return failure();
  }
  describeRequest();
  return runPasses(Phase::Import);
}

LogicalResult Compilation::deriveStep() {
  if (failed(runPasses(Phase::Training)))
    return failure();
  if (recipe && request.trained) {
    *request.trained = trainedStatesOf(*ir);
    request.trained->precision = request.precision;
    if (recipe->evaluation)
      request.trained->evaluation = recipe;
  }
  if (recipe)
    for (const std::string &text : exportWarnings(
             *file, trainedNames(ir->lookupSymbol<func::FuncOp>("step")),
             request.import.trained->parameters.empty()))
      llvm::errs() << "autopar: warning: " << printable(text) << "\n";
  return success();
}

LogicalResult Compilation::makePlan() {
  if (failed(runPasses(Phase::Plan)))
    return failure();
  if (targetName(*ir) == kTargetCpu && !request.cudaSource.empty())
    return fail(llvm::createStringError(
        "--emit cuda-source: that is of GPU programs; add --target cuda"));
  warnOfBlocks(*ir, planned.graph);
  if (request.remarks)
    remarkOnPlan(*ir, planned.graph, planned.plan);
  table = planned.kept + describeTraining(*ir) +
          describe(planned.plan, planned.graph);
  if (request.stored) {
    if (evaluatesTrained())
      if (llvm::Error error =
              request.stored->checkStates(planned.plan, planned.graph))
        return fail(std::move(error));
    table =
        request.stored->describe(planned.plan, planned.graph, planned.refusal) +
        table;
    request.stored->add(request.entry, planned.plan, planned.graph);
  }
  return success();
}

LogicalResult Compilation::runThrough(Phase last, ExecutableParts *to) {
  return success(succeeded(importModel()) && succeeded(runOn(last, to)));
}

std::string Compilation::describeInputs() const {
  return autopar::describeInputs(ir.get());
}

/// A plan may be for more devices than a program can have.
llvm::Error Compilation::checkRanks(const Cluster &cluster, Phase last) {
  if (last < Phase::Lower || cluster.deviceCount() <= APRT_MAX_RANKS)
    return llvm::Error::success();
  return llvm::createStringError(
      "an executable has at most " + Twine(APRT_MAX_RANKS) +
      " ranks, but the cluster has " + Twine(cluster.deviceCount()) +
      " devices; `autopar plan` plans for them");
}

LogicalResult Compilation::runOn(Phase last, ExecutableParts *to) {
  if (llvm::Error error = checkRanks(request.plan.cluster, last))
    return fail(std::move(error));
  if (last >= Phase::Training && failed(deriveStep()))
    return failure();
  if (last >= Phase::Plan && failed(makePlan()))
    return failure();
  return runPlanned(last, to);
}

LogicalResult Compilation::runPlanned(Phase last, ExecutableParts *to) {
  if (llvm::Error error = checkRanks(planned.plan.cluster, last))
    return fail(std::move(error));
  for (Phase phase :
       {Phase::Partition, Phase::Schedule, Phase::Lower, Phase::Executable})
    if (last >= phase && failed(runPasses(phase, to)))
      return failure();
  progress.reset(); // what is printed next has the screen for itself
  return success();
}

} // namespace autopar
