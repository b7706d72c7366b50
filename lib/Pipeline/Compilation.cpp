//===- Compilation.cpp - One model through all phases ---------------------===//

#include "autopar/Pipeline/Compilation.h"
#include "WeightPlaces.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/Executable.h"
#include "autopar/Planning/PredictMemory.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Planning/WritePlan.h"
#include "autopar/Support/Output.h"
#include "autopar/runtime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

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
  buildPhase(phase, manager, {request.target, request.cudaSource});
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
  if (!ir)
    return failure();
  if (!request.precision.empty() && request.precision != "fp32")
    (*ir)->setAttr(kPrecision, StringAttr::get(&context, request.precision));
  return runPasses(Phase::Import);
}

/// The plan of --plan, for as many devices as the command line says.
llvm::Expected<Plan> Compilation::readPlan() {
  llvm::Expected<Plan> plan = readPlanFile(request.planFile, request.entry);
  if (!plan)
    return plan.takeError();
  int64_t devices = request.plan.cluster.deviceCount();
  if (request.clusterGiven && plan->cluster.deviceCount() != devices)
    return llvm::createStringError(
        "plan file " + request.planFile + " is for " +
        Twine(plan->cluster.deviceCount()) +
        " devices, but --ranks or --cluster says " + Twine(devices));
  return plan;
}

/// Whether fp16 was asked for, or the model's weights or inputs are.
static bool usesHalf(ModuleOp module, llvm::StringRef precision) {
  auto step = module.lookupSymbol<func::FuncOp>("step");
  return precision == "fp16" ||
         llvm::any_of(step.getArgumentTypes(), [](Type type) {
           return getElementTypeOrSelf(type).isF16();
         });
}

/// Code is made for the cluster's kind of device; an emulated GPU is one of
/// them.
llvm::Error Compilation::chooseTarget(const Cluster &cluster) {
  const DeviceType &device = cluster.slowest();
  bool isCpu = device.kind == "cpu";
  if (request.target.empty())
    request.target = (isCpu ? kTargetCpu : kTargetCuda).str();
  if ((request.target == kTargetCpu) != isCpu)
    return llvm::createStringError(
        "--target " + request.target + ": the cluster's devices are " +
        device.name + "; give one of " + (isCpu ? "GPUs" : "CPUs") +
        " by --cluster, or leave it to --ranks N");
  if (isCpu && !request.cudaSource.empty())
    return llvm::createStringError(
        "--emit cuda-source: that is of GPU programs; add --target cuda");
  if (isCpu && usesHalf(*ir, request.precision))
    llvm::errs()
        << "autopar: warning: a CPU stores fp16 and computes in fp32, several "
           "times slower than fp32 itself (9 times where it was measured); "
           "fp32, or bf16 on a processor with AMX or AVX512-BF16, suits it\n";
  if (!isCpu)
    (*ir)->setAttr(kTarget, StringAttr::get(&context, request.target));
  return llvm::Error::success();
}

LogicalResult Compilation::makePlan() {
  std::optional<Plan> given;
  if (!request.planFile.empty()) {
    llvm::Expected<Plan> plan = readPlan();
    if (!plan)
      return fail(plan.takeError());
    given = std::move(*plan);
  }
  if (llvm::Error error =
          chooseTarget(given ? given->cluster : request.plan.cluster))
    return fail(std::move(error));
  FailureOr<ModelGraph> graph = readModel(*ir);
  if (failed(graph))
    return failure();
  if (given) {
    chosen = std::move(*given);
    if (llvm::Error error = alignWith(chosen, *graph))
      return fail(std::move(error));
    if (llvm::Error error = verify(chosen, *graph))
      return fail(std::move(error));
    if (llvm::Error error = verify(chosen, *graph, request.plan.constraints))
      return fail(std::move(error));
    predictMemory(*graph, chosen); // the file may be edited
  } else {
    llvm::Expected<Plan> plan = searchPlan(*graph, request.plan);
    if (!plan)
      return fail(plan.takeError());
    chosen = std::move(*plan);
  }
  table = describe(chosen, *graph);
  writePlan(*ir, *graph, chosen);
  planned = std::move(*graph);
  return runPasses(Phase::Plan);
}

LogicalResult Compilation::lower(ExecutableFile &to) {
  if (llvm::Error error = placeWeightFiles(
          *ir, *file,
          {request.model, to.folder(), request.weights, request.embedWeights},
          to.weights()))
    return fail(std::move(error));
  SmallVector<Attribute> features;
  for (const std::string &feature : hostCpuFeatures())
    features.push_back(StringAttr::get(&context, feature));
  (*ir)->setAttr(kCpuFeatures, ArrayAttr::get(&context, features));
  if (!request.entry.empty())
    (*ir)->setAttr(kEntry, StringAttr::get(&context, request.entry));
  return runPasses(Phase::Lower);
}

LogicalResult Compilation::makeProgram(ExecutableFile &to) {
  auto program = compileProgram(*ir, request.target);
  if (!program)
    return fail(program.takeError());
  to.add(std::move(*program));
  report(Phase::Executable);
  return success();
}

LogicalResult Compilation::runThrough(Phase last, ExecutableFile *to) {
  return success(succeeded(importModel()) && succeeded(runOn(last, to)));
}

std::string Compilation::describeInputs() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto step = ir.get().lookupSymbol<func::FuncOp>("step");
  for (BlockArgument argument : step.getArguments()) {
    auto input = step.getArgAttrOfType<InputAttr>(argument.getArgNumber(),
                                                  AutoparDialect::kSource);
    if (!input)
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    os << (text.empty() ? "" : ", ") << input.getName().getValue() << ' '
       << type.getElementType() << '[';
    llvm::interleaveComma(type.getShape(), os);
    os << ']';
  }
  if (auto fixed = (*ir)->getAttrOfType<ArrayAttr>(kFixedInputs))
    for (auto input : fixed.getAsRange<DictionaryAttr>())
      os << (text.empty() ? "" : ", ")
         << input.getAs<StringAttr>("name").getValue() << " = "
         << input.getAs<StringAttr>("text").getValue();
  return text;
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

LogicalResult Compilation::runOn(Phase last, ExecutableFile *to) {
  if (llvm::Error error = checkRanks(request.plan.cluster, last))
    return fail(std::move(error));
  if (last >= Phase::Plan && failed(makePlan()))
    return failure();
  if (llvm::Error error = checkRanks(chosen.cluster, last))
    return fail(std::move(error));
  for (Phase phase : {Phase::Partition, Phase::Schedule})
    if (last >= phase && failed(run(phase)))
      return failure();
  if (last >= Phase::Lower && failed(lower(*to)))
    return failure();
  return last == Phase::Executable ? makeProgram(*to) : success();
}

//===----------------------------------------------------------------------===//
// The executable
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<ExecutableFile>>
ExecutableFile::create(llvm::StringRef path, bool embedWeights) {
  runtime::OutputPlace place;
  if (llvm::Error error = toError(runtime::findOutput(path.str(), place)))
    return std::move(error);
  std::unique_ptr<ExecutableFile> file(new ExecutableFile(path));
  // Nothing can be stored beside what is no plain file.
  bool isPlain = place.kind == runtime::OutputPlace::Regular;
  llvm::SmallString<128> home(isPlain ? place.path : std::string("program"));
  if (std::error_code code = llvm::sys::fs::make_absolute(home))
    return llvm::createStringError(code,
                                   "no working folder: " + code.message());
  file->home = llvm::sys::path::parent_path(home).str();
  file->made =
      std::make_unique<MadeWeights>(isPlain ? place.path + ".weights" : "",
                                    embedWeights ? &file->writer : nullptr);
  if (embedWeights)
    if (llvm::Error error = file->open())
      return std::move(error);
  return std::move(file);
}

ExecutableFile::ExecutableFile(llvm::StringRef path) : path(path) {}
ExecutableFile::~ExecutableFile() = default;

llvm::Error ExecutableFile::open() {
  llvm::Expected<std::string> stub = findStub();
  if (!stub)
    return stub.takeError();
  isOpen = true;
  return writer.open(path, *stub);
}

llvm::Error ExecutableFile::write() {
  auto weights = made->finish();
  if (!weights)
    return weights.takeError();
  if (!isOpen)
    if (llvm::Error error = open())
      return error;
  if (*weights)
    if (llvm::Error error = writer.endWeights(**weights))
      return error;
  for (const ProgramBytes &program : programs)
    if (llvm::Error error = writer.addProgram(program))
      return error;
  return writer.finish();
}

} // namespace autopar
