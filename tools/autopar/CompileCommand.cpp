//===- CompileCommand.cpp - autopar compile -------------------------------===//

#include "Commands.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

namespace {

struct CompileOptions {
  std::string model, output, stopAfter, weights, json;
  PlanOptions plan;
};

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
  line.options.push_back(
      text("stop-after", "PHASE",
           "import, plan, partition, schedule or lower: print that phase's IR",
           options.stopAfter));
  line.options.push_back(
      text("json", "FILE", "write the plan as JSON", options.json));
  return line;
}

/// Prints IR with locations, which carry the nodes' names.
int printModule(mlir::ModuleOp module, StringRef path) {
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo();
  if (path.empty() || path == "-") {
    module->print(outs(), flags);
    outs() << "\n";
    return 0;
  }
  if (Error error = writeToOutput(path, [&](raw_ostream &os) {
        module->print(os, flags);
        os << "\n";
        return Error::success();
      }))
    return complain("cannot write '" + path +
                    "': " + toString(std::move(error)));
  return 0;
}

int compile(const CompileOptions &options) {
  if (options.model.empty())
    return complain("no model given; usage: autopar compile MODEL -o EXE");
  std::optional<Phase> stop;
  if (!options.stopAfter.empty()) {
    stop = parsePhase(options.stopAfter);
    if (!stop)
      return complain(
          "--stop-after " + options.stopAfter +
          ": the phases are import, plan, partition, schedule, lower");
  } else if (options.output.empty() || options.output == "-") {
    return complain("no output given; add -o EXE");
  }
  auto request = options.plan.request(options.model);
  if (!request)
    return complain(toString(request.takeError()));
  request->weights = options.weights;
  request->output = options.output.empty() ? "a.out" : options.output;
  Compilation compilation(std::move(*request));
  Phase last = stop.value_or(Phase::Lower);
  if (failed(compilation.runThrough(last)))
    return 1;
  if (last >= Phase::Plan) {
    if (failed(savePlans(compilation.plan(),
                         {options.plan.savePlan, options.json})))
      return 1;
    (stop ? errs() : outs()) << compilation.describePlan();
  }
  if (stop)
    return printModule(compilation.module(), options.output);
  return failed(compilation.writeExecutable()) ? 1 : 0;
}

} // namespace

int compileCommand(ArrayRef<const char *> arguments) {
  CompileOptions options;
  CommandLine line = commandLine(options);
  int code = 0;
  return parseOrExit(line, arguments, code) ? code : compile(options);
}

} // namespace autopar::driver
