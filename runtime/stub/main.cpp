//===- main.cpp - The executable that runs a compiled model ---------------===//

#include "../files/OutputFile.h"
#include "Describe.h"
#include "Join.h"
#include "Options.h"
#include "Ports.h"
#include "Program.h"
#include "Report.h"
#include "Run.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace autopar::runtime;

static Status writeReports(const Run &run) {
  const Options &options = run.options;
  APRT_TRY(writeResults(run));
  if (!options.json.empty())
    APRT_TRY(writeWhole(options.json, reportJson(run)));
  if (!options.trace.empty())
    APRT_TRY(writeWhole(options.trace, traceJson(run)));
  return Status::success();
}

/// Without a message: another process tells it.
static int fail(const std::string &message, int code = 1) {
  if (!message.empty())
    std::fprintf(stderr, "error: %s\n", message.c_str());
  return code;
}

/// Text for a person, on stdout unless a result goes there.
static Status tell(const Options &options, const std::string &text) {
  return writeWhole(takesStdout(options) ? "/dev/stderr" : "-", text);
}

/// --describe and --version.
static Status describe(const Options &options) {
  std::vector<Program> programs;
  APRT_TRY(loadPrograms(programs));
  if (options.version)
    return tell(options, versionText(programs));
  if (!options.json.empty())
    APRT_TRY(writeWhole(options.json, describeJson(programs)));
  return tell(options, describeText(programs));
}

static int execute(const Options &options) {
  Program program;
  Run run(program, options);
  auto prepare = [&]() -> Status {
    APRT_TRY(findLaunchPlace(run.place));
    std::vector<Program> programs;
    APRT_TRY(loadPrograms(programs));
    size_t chosen = 0;
    APRT_TRY(loadInputs(programs, options, chosen, run.inputs, run.states));
    APRT_TRY(keepProgram(programs, chosen));
    program = std::move(programs[chosen]);
    APRT_TRY(checkLaunchPlace(program.manifest, run.place));
    APRT_TRY(checkResults(program.manifest, options));
    if (options.weights.empty())
      APRT_TRY(checkCompiledFiles(program.manifest, program.home));
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
  Status status = writeReports(run);
  if (status.ok())
    status = tell(options, reportSummary(run));
  return status.ok() ? 0 : fail(status.message());
}

int main(int count, char **arguments) {
  std::signal(SIGPIPE, SIG_IGN); // a reader that is gone is an error of writing
  Options options;
  if (Status status = parseOptions(count, arguments, options); status.failed())
    return fail(status.message(), 2);
  if (!options.help && !options.describe && !options.version)
    return execute(options);
  Status status =
      options.help ? tell(options, helpText(arguments[0])) : describe(options);
  return status.ok() ? 0 : fail(status.message());
}
