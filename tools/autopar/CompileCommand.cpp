//===- CompileCommand.cpp - autopar compile -------------------------------===//

#include "Commands.h"
#include "autopar/Lowering/CpuFeatures.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

namespace {

struct CompileOptions {
  std::string model, output, stopAfter, weights, json, cudaSource, dumpPhases,
      cpu;
  bool embedWeights = false;
  PlanOptions plan;
};

/// `cuda-source DIR`.
Error readEmit(StringRef given, std::string &folder) {
  auto [what, where] = given.split(' ');
  if (what != "cuda-source" || where.empty())
    return createStringError("'" + given + "': write --emit cuda-source DIR");
  folder = where.str();
  return Error::success();
}

CommandLine commandLine(CompileOptions &options) {
  CommandLine line;
  line.usage = "autopar compile MODEL -o EXE [options]";
  line.about = "Compiles an ONNX model (.onnx or .onnx.gz) into one executable "
               "for all ranks.\n"
               "Run it with: EXE --inputs in.npz --outputs out.npz";
  line.positional = &options.model;
  line.options.push_back(text(
      "o", "FILE", "the executable, or with --stop-after the IR (- is stdout)",
      options.output));
  options.plan.addTo(line);
  line.options.push_back(text("weights", "FILE",
                              "where the executable finds the weights, "
                              "relative to itself (default: the model's files)",
                              options.weights));
  line.options.push_back(flag("embed-weights",
                              "the weights' bytes inside the executable: one "
                              "file, and no other is read",
                              options.embedWeights));
  line.options.push_back(text("cpu", "NAME",
                              "make code for this CPU, as LLVM names them: "
                              "x86-64-v3 for hosts older than\n"
                              "this one (default: this host's)",
                              options.cpu));
  line.options.push_back(text("stop-after", "PHASE",
                              join(ArrayRef(kPhasesOfIR), ", ") +
                                  ": print\n"
                                  "that phase's IR",
                              options.stopAfter));
  line.options.push_back(text(
      "dump-phases", "DIR",
      "keep the IR after each phase: DIR/1-import.mlir, DIR/2-training.mlir,\n"
      "...; autopar-opt reads it",
      options.dumpPhases));
  line.options.push_back(
      {"emit", "cuda-source DIR",
       "also write the GPU program as CUDA C++, with a CMakeLists.txt",
       [&options](StringRef given) {
         return readEmit(given, options.cudaSource);
       }});
  line.options.push_back(
      text("json", "FILE", "write the plan as JSON", options.json));
  return line;
}

int writeText(StringRef text, StringRef path) {
  if (Error error = writeFile(path.empty() ? "-" : path, text))
    return complain(toString(std::move(error)));
  return 0;
}

/// Two entries for as many ranks that take the same inputs could not be told
/// apart, but for those of a training and its evaluation, which have names of
/// their own. `inputs`: of the first requests.
Error checkInputs(ArrayRef<CompileRequest> requests,
                  ArrayRef<std::string> inputs) {
  const CompileRequest &last = requests[inputs.size() - 1];
  if (last.trained)
    return Error::success();
  for (auto [request, taken] : zip(requests, inputs.drop_back()))
    if (taken == inputs.back() &&
        request.plan.cluster.deviceCount() == last.plan.cluster.deviceCount())
      return createStringError("--entry " + request.entry + " and --entry " +
                               last.entry +
                               " take inputs of the same shapes (" + taken +
                               "): nothing tells them apart");
  return Error::success();
}

/// A run is for one number of ranks, which tells programs of the same entry
/// apart. A plan may use fewer devices than there are (--fewest-devices).
/// `plans`: of the first requests.
Error checkRanks(ArrayRef<CompileRequest> requests, ArrayRef<EntryPlan> plans) {
  const CompileRequest &last = requests[plans.size() - 1];
  auto ranksOf = [](const Plan &plan) {
    return plan.mesh.deviceCount() * plan.stages;
  };
  for (auto [request, other] : zip(requests, plans.drop_back()))
    if (request.entry == last.entry &&
        ranksOf(other.plan) == ranksOf(plans.back().plan))
      return createStringError(
          "--ranks: the plans for " +
          Twine(request.plan.cluster.deviceCount()) + " and for " +
          Twine(last.plan.cluster.deviceCount()) + " ranks use both " +
          Twine(ranksOf(other.plan)) + ": leave one number out");
  return Error::success();
}

/// All entries, one after the other, into one executable or one text of IR.
int compileEntries(const CompileOptions &options,
                   ArrayRef<CompileRequest> requests, Phase last) {
  bool stops = last != Phase::Executable;
  auto made = MadeWeights::create(stops ? "a.out" : options.output,
                                  options.embedWeights);
  if (!made)
    return complain(toString(made.takeError()));
  ExecutableParts parts{std::move(*made), {}, nullptr};
  std::vector<EntryPlan> plans;
  std::vector<std::string> inputs;
  std::string text, tables;
  raw_string_ostream os(tables);
  for (const CompileRequest &request : requests) {
    Compilation compilation(request);
    if (failed(compilation.importModel()))
      return failedIn(request);
    inputs.push_back(compilation.describeInputs());
    plans.push_back({request.planName, {}});
    if (Error error = checkInputs(requests, inputs))
      return complain(toString(std::move(error)));
    if (failed(compilation.runOn(last, &parts)))
      return failedIn(request);
    plans.back().plan = compilation.plan();
    if (last >= Phase::Plan) {
      if (Error error = checkRanks(requests, plans))
        return complain(toString(std::move(error)));
      printPlan(os, request, compilation.describePlan());
    }
    if (stops) {
      raw_string_ostream ir(text);
      ir << (text.empty() ? "" : "// -----\n");
      printModule(compilation.module(), ir);
    }
  }
  if (last >= Phase::Plan &&
      failed(savePlans(plans, {options.plan.savePlan, options.json})))
    return 1;
  bool isResult = stops || goesToStdout(options.output);
  (isResult ? errs() : options.plan.messages({options.json}))
      << printable(tables);
  if (stops)
    return writeText(text, options.output);
  if (Error error = writeExecutable(options.output, parts.programs, parts.made,
                                    parts.model.get()))
    return complain(toString(std::move(error)));
  return 0;
}

int compile(const CompileOptions &options) {
  if (options.model.empty())
    return complain("no model given; usage: autopar compile MODEL -o EXE");
  std::optional<Phase> stop;
  if (!options.stopAfter.empty()) {
    stop = parsePhase(options.stopAfter);
    if (!stop)
      return complain("--stop-after " + options.stopAfter +
                      ": the phases are " + join(ArrayRef(kPhasesOfIR), ", ") +
                      didYouMean(options.stopAfter, kPhasesOfIR));
  } else if (options.output.empty()) {
    return complain("no output given; add -o EXE");
  } else if (sys::fs::equivalent(options.model, options.output)) {
    return complain("-o " + options.output + " is the model itself");
  } else if (goesToStdout(options.output) && outs().is_displayed()) {
    return complain("-o -: a program is nothing for a terminal");
  }
  if (options.embedWeights && (stop || !options.weights.empty()))
    return complain("--embed-weights and --" +
                    Twine(stop ? "stop-after" : "weights") +
                    " exclude each other");
  if (auto features = cpuFeatures(options.cpu); !features)
    return complain("--cpu: " + toString(features.takeError()));
  auto requests = options.plan.requests(options.model);
  if (!requests)
    return complain(toString(requests.takeError()));
  for (CompileRequest &request : *requests) {
    if (!stop)
      request.output = options.output;
    request.weights = options.weights;
    if (!options.cudaSource.empty()) // a folder in it per entry
      request.cudaSource =
          options.cudaSource +
          (request.planName.empty() ? "" : "/" + request.planName);
    request.embedWeights = options.embedWeights;
    request.cpu = options.cpu;
    request.dumpPhases = options.dumpPhases;
  }
  return compileEntries(options, *requests, stop.value_or(Phase::Executable));
}

} // namespace

int compileCommand(ArrayRef<const char *> arguments) {
  CompileOptions options;
  CommandLine line = commandLine(options);
  int code = 0;
  return parseOrExit(line, arguments, code) ? code : compile(options);
}

} // namespace autopar::driver
