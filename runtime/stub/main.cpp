//===- main.cpp - The executable that runs a compiled model ---------------===//

#include "../core/MemoryGuard.h"
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
#include <exception>
#include <unistd.h>

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

/// A thread that only computes or waits has nobody to tell that memory ran out.
[[noreturn]] static void endThread() {
  Status status = guardMemory("a thread was working", []() -> Status {
    if (std::exception_ptr thrown = std::current_exception())
      std::rethrow_exception(thrown);
    std::abort();
  });
  fail(status.message());
  _exit(1);
}

static int execute(const Options &options, const char *&doing) {
  Program program;
  Run run(program, options);
  auto prepare = [&]() -> Status {
    doing = "loading the program";
    APRT_TRY(findLaunchPlace(run.place));
    std::vector<Program> programs;
    APRT_TRY(loadPrograms(programs));
    size_t chosen = 0;
    doing = "reading the inputs";
    APRT_TRY(loadInputs(programs, options, chosen, run.inputs, run.states));
    APRT_TRY(keepProgram(programs, chosen));
    program = std::move(programs[chosen]);
    APRT_TRY(checkLaunchPlace(program.manifest, run.place));
    APRT_TRY(checkResults(program.manifest, options));
    doing = "opening the weights";
    APRT_TRY(run.weights.open(program.manifest, program.home, options.weights));
    doing = "making room for the results";
    return run.prepare();
  };
  if (Status status = prepare(); status.failed())
    return fail(status.message());
  if (std::string shared = run.sharedCores();
      !shared.empty() && (run.place.isAlone() || run.place.localRank == 0))
    std::fprintf(stderr, "warning: %s\n", shared.c_str());
  doing = "starting the ranks";
  std::string message;
  int code = run.place.isAlone() ? launchRanks(run, message)
                                 : joinRanks(run, run.place, message);
  if (code)
    return fail(message, code);
  if (run.place.rank > 0)
    return 0; // rank 0 tells the results
  doing = "writing the results";
  Status status = writeReports(run);
  if (status.ok())
    status = tell(options, reportSummary(run));
  return status.ok() ? 0 : fail(status.message());
}

static int runMain(int count, char **arguments, const char *&doing) {
  Options options;
  if (Status status = parseOptions(count, arguments, options); status.failed())
    return fail(status.message(), 2);
  if (!options.help && !options.describe && !options.version)
    return execute(options, doing);
  Status status =
      options.help ? tell(options, helpText(arguments[0])) : describe(options);
  return status.ok() ? 0 : fail(status.message());
}

int main(int count, char **arguments) {
  std::signal(SIGPIPE, SIG_IGN); // a reader that is gone is an error of writing
  std::set_terminate(endThread);
  const char *doing = "starting";
  int code = 1;
  Status status = guardMemory(doing, [&] {
    code = runMain(count, arguments, doing);
    return Status::success();
  });
  return status.ok() ? code : fail(status.message());
}
