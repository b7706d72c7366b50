//===- SimulateCommand.cpp - autopar simulate -----------------------------===//

#include "Commands.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Simulate/ReadSchedule.h"
#include "autopar/Simulate/StepCounts.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

namespace {

struct SimulateOptions {
  PlanFileOptions plan;
  std::string trace, json;
};

CommandLine commandLine(SimulateOptions &options) {
  CommandLine line;
  line.usage = "autopar simulate PLAN.json [--model MODEL] [--trace FILE] "
               "[--json FILE]";
  line.about =
      "Replays one step of the plan's program on its cluster, without devices: "
      "kernels, collectives\nand messages in the order and on the streams of "
      "the schedule, each as long as the cost\nmodel says. Tells what a device "
      "of each stage does, and where that differs from the plan.";
  options.plan.addTo(line);
  line.options.push_back(
      text("trace", "FILE",
           "write the timeline as trace events, which Perfetto and "
           "chrome://tracing open",
           options.trace));
  line.options.push_back(text("json", "FILE",
                              "write the step and each stage's seconds, and "
                              "the program's collectives,\n"
                              "kernels and memory, as JSON",
                              options.json));
  return line;
}

/// Both files, as far as they are asked for.
Error writeOutputs(const SimulateOptions &options,
                   const SimulatedProgram &program, const Timeline &timeline,
                   Compilation &compilation) {
  if (!options.trace.empty())
    if (Error error = writeFile(options.trace, traceText(program, timeline)))
      return error;
  if (options.json.empty())
    return Error::success();
  const Plan &plan = compilation.plan();
  auto scheduled = scheduledCounts(compilation.module());
  if (failed(scheduled))
    return createStringError("the schedule cannot be counted");
  json::Object object = toJSON(program, timeline);
  object["predicted_step_seconds"] = plan.predictedStepSeconds;
  object["program"] = json::Object{
      {"collectives", collectivesToJSON(scheduled->collectives, plan.mesh)},
      {"stages", countsToJSON(scheduled->stages)}};
  return writeFile(options.json,
                   formatv("{0:2}\n", json::Value(std::move(object))).str());
}

int simulate(const SimulateOptions &options) {
  if (options.plan.file.empty())
    return complain("no plan given; usage: autopar simulate PLAN.json");
  auto request = options.plan.request();
  if (!request)
    return complain(toString(request.takeError()));
  Compilation compilation(*request);
  if (failed(compilation.runThrough(Phase::Schedule)))
    return 1;
  auto program = readSchedule(compilation.module());
  if (failed(program))
    return 1;
  Timeline timeline = autopar::simulate(*program);
  bool toStdout = goesToStdout(options.trace) || goesToStdout(options.json);
  raw_ostream &messages = toStdout ? errs() : outs();
  messages << printable(
      timelineText(*program, timeline) +
      againstPlanText(timeline, compilation.plan(), compilation.graph()));
  Error error = writeOutputs(options, *program, timeline, compilation);
  return error ? complain(toString(std::move(error))) : 0;
}

} // namespace

int simulateCommand(ArrayRef<const char *> arguments) {
  SimulateOptions options;
  int code = 0;
  return parseOrExit(commandLine(options), arguments, code) ? code
                                                            : simulate(options);
}

} // namespace autopar::driver
