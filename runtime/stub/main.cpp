//===- main.cpp - The executable that runs a compiled model ---------------===//

#include "../core/File.h"
#include "Join.h"
#include "Options.h"
#include "Ports.h"
#include "Program.h"
#include "Report.h"
#include "Run.h"

#include <cstdio>
#include <cstdlib>

using namespace autopar::runtime;

static Status writeReports(const Run &run) {
  const Options &options = run.options;
  APRT_TRY(writeOutputs(run.program.manifest, options.outputs, run.outputs));
  if (!options.json.empty())
    APRT_TRY(writeTextFile(options.json, reportJson(run)));
  if (!options.trace.empty())
    APRT_TRY(writeTextFile(options.trace, traceJson(run)));
  return Status::success();
}

/// Without a message: another process tells it.
static int fail(const std::string &message, int code = 1) {
  if (!message.empty())
    std::fprintf(stderr, "error: %s\n", message.c_str());
  return code;
}

static int execute(const Options &options) {
  Program program;
  Run run(program, options);
  auto prepare = [&]() -> Status {
    APRT_TRY(findLaunchPlace(run.place));
    std::vector<Program> programs;
    APRT_TRY(loadPrograms(programs));
    size_t chosen = 0;
    APRT_TRY(loadInputs(programs, options, chosen, run.inputs));
    APRT_TRY(keepProgram(programs, chosen));
    program = std::move(programs[chosen]);
    APRT_TRY(checkLaunchPlace(program.manifest, run.place));
    APRT_TRY(checkOutputs(program.manifest, options.outputs));
    return run.prepare();
  };
  if (Status status = prepare(); status.failed())
    return fail(status.message());
  std::string message;
  int code = run.place.isAlone() ? launchRanks(run, message)
                                 : joinRanks(run, run.place, message);
  if (code)
    return fail(message, code);
  if (run.place.rank > 0)
    return 0; // rank 0 tells the results
  if (Status status = writeReports(run); status.failed())
    return fail(status.message());
  std::fputs(reportSummary(run).c_str(), stdout);
  return 0;
}

int main(int count, char **arguments) {
  Options options;
  if (Status status = parseOptions(count, arguments, options); status.failed())
    return fail(status.message(), 2);
  if (options.help) {
    std::fputs(helpText(arguments[0]).c_str(), stdout);
    return 0;
  }
  return execute(options);
}
