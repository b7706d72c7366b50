//===- main.cpp - The executable that runs a compiled model ---------------===//

#include "../core/Hyperparameters.h"
#include "../core/MemoryGuard.h"
#include "../files/OutputFile.h"
#include "../files/Text.h"
#include "../session/Program.h"
#include "../session/Worker.h"
#include "Describe.h"
#include "FailureReport.h"
#include "Join.h"
#include "Options.h"
#include "Ports.h"
#include "Report.h"
#include "Run.h"
#include "SignalWatch.h"
#include "TrainingOutcome.h"
#include "WrittenFiles.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <unistd.h>

using namespace autopar::runtime;

/// Prints an error and returns the exit code. The message is empty if another
/// process prints it.
static int fail(const std::string &message, int code = 1) {
  if (!message.empty())
    std::fprintf(stderr, "error: %s\n", printable(message).c_str());
  return code;
}

static void warn(const std::string &message) {
  std::fprintf(stderr, "warning: %s\n", printable(message).c_str());
}

/// Prints text for a person, on stdout unless a result goes there.
static Status tell(const Options &options, const std::string &text) {
  return writeWhole(takesStdout(options) ? "/dev/stderr" : "-",
                    printable(text));
}

/// Handles --describe and --version.
static Status describe(const Options &options) {
  std::vector<Program> programs;
  APRT_TRY(loadOwnPrograms(programs));
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

static void warnOfTraining(const Run &run) {
  if (run.place.rank != 0)
    return;
  for (const std::string &text : doubtsOfTraining(run))
    warn(text);
}

/// A training does not go on where the one that wrote the weights ended.
static void warnOfWeights(const Run &run) {
  if (run.options.weights.empty() || run.place.rank != 0)
    return;
  bool begins = run.program.manifest.trains() && !run.checkpoints.resumed();
  for (const std::string &text : run.weights.doubts())
    warn("--weights: " + text);
  if (run.checkpoints.resumed())
    warn("--weights gives what does not train: what trains is as the "
         "checkpoint has it");
  std::string anew = begins ? begunAnew(run) : "";
  if (!anew.empty())
    warn("--weights gives parameters and running statistics; all else of the "
         "training begins anew: " +
         anew);
}

/// Reports the rows of an epoch that no step takes.
static void tellRows(const Run &run) {
  const StepSchedule &schedule = run.rows.schedule;
  bool leavesOut = run.rows.isOpen() && !schedule.keepsLast;
  int64_t left = leavesOut ? schedule.rows % schedule.batch : 0;
  if (left > 0 && run.place.rank == 0)
    std::fprintf(stderr,
                 "note: an epoch has %lld rows, and a step takes %lld: the "
                 "last %lld of each epoch are left out\n",
                 static_cast<long long>(schedule.rows),
                 static_cast<long long>(schedule.batch),
                 static_cast<long long>(left));
}

/// Finds the entry that evaluates what a training trains; there is none unless
/// an evaluation is requested. `options` gets the location of its rows.
static Status findEvaluation(const std::vector<Program> &programs,
                             size_t chosen, const LaunchPlace &place,
                             Options &options, std::optional<size_t> &found) {
  bool trains = programs[chosen].manifest.trains();
  for (size_t i = 0; trains && i < programs.size(); ++i)
    if (programs[i].manifest.evaluation)
      found = i;
  if (!found)
    return options.evaluationData.empty()
               ? Status::success()
               : Status::error(trains
                                   ? "--evaluation-data is of a training whose "
                                     "recipe has an 'evaluation'"
                                   : "--evaluation-data is of a training; with "
                                     "--entry evaluate the rows are inputs: "
                                     "--inputs");
  if (options.evaluationData.empty())
    options.evaluationData = programs[*found].manifest.evaluation->data;
  bool hasSteps = options.steps > 0 || options.firstStep > 0;
  if (!options.evaluationData.empty() && hasSteps)
    return Status::success();
  if (place.rank == 0)
    warn(!hasSteps
             ? "nothing is evaluated: that is of a training with --steps N"
             : "nothing is evaluated: neither --evaluation-data nor the recipe "
               "says on which rows");
  found.reset();
  return Status::success();
}

/// Reports the reason if evaluations ended a training before its last step.
static void tellEarlyEnd(const Run &run) {
  if (!run.evaluation || !run.evaluation->verdict().ends)
    return;
  const Evaluation &about = run.evaluation->about();
  const RunEvaluation::Verdict &verdict = run.evaluation->verdict();
  std::fprintf(stderr,
               "note: the training ended after %lld steps: in %lld evaluations "
               "%s was not better than %g, which it was after %lld steps\n",
               static_cast<long long>(run.allSteps()),
               static_cast<long long>(about.patience),
               about.metrics[about.best].name.c_str(), verdict.bestValue,
               static_cast<long long>(verdict.bestSteps));
}

/// Writes and reports everything that was requested, even if some of it fails.
static int tellRun(const Run &run) {
  const Options &options = run.options;
  TrainingOutcome outcome = outcomeOf(run);
  std::vector<std::string> problems = writeResults(run, outcome.final);
  auto note = [&](const Status &status) {
    if (status.failed())
      problems.push_back(status.message());
  };
  if (run.stepsTaken() == 0) {
    std::fprintf(stderr, "note: all steps were taken by runs before: there is "
                         "nothing to report\n");
    for (const std::string &problem : problems)
      (void)fail(problem);
    return problems.empty() ? 0 : 1;
  }
  if (!options.json.empty())
    note(writeWhole(options.json, reportJson(run)));
  if (!options.trace.empty())
    note(writeWhole(options.trace, traceJson(run)));
  note(tell(options, reportSummary(run)));
  tellEarlyEnd(run);
  for (const std::string &warning : outcome.warnings)
    warn(warning);
  problems.insert(problems.begin(), outcome.problems.begin(),
                  outcome.problems.end());
  for (const std::string &problem : problems)
    (void)fail(problem);
  return problems.empty() ? 0 : 1;
}

/// Returns the exit code of a run; a signal that ended a training early changes
/// it.
static int endedBySignal(const Run &run, int code) {
  int signal = run.endRequest.signal();
  if (signal == 0)
    return code;
  int64_t taken = run.allSteps(),
          all = run.options.firstStep + run.options.repeat;
  if (run.place.rank == 0)
    std::fprintf(stderr, "error: ended by signal %s after %lld of %lld steps\n",
                 strsignal(signal), static_cast<long long>(taken),
                 static_cast<long long>(all));
  return 128 + signal;
}

/// Opens the checkpoint that the run goes on from, and tells which that is.
static Status openCheckpoint(Run &run, Options &options, JoinedRanks *joined) {
  std::vector<std::string> notes;
  Status opened = joined ? joined->openCheckpoint(notes)
                         : run.checkpoints.open(options, notes);
  for (const std::string &text : notes)
    std::fprintf(stderr, "note: %s\n", printable(text).c_str());
  return opened;
}

/// Reads the inputs, which choose the program, and finds what evaluates it.
static Status readInputs(std::vector<Program> &programs, Program &program,
                         Run &run, Options &options) {
  size_t chosen = 0;
  APRT_TRY(
      loadInputs(programs, options, chosen, run.inputs, run.states, run.rows));
  std::optional<size_t> evaluation;
  APRT_TRY(findEvaluation(programs, chosen, run.place, options, evaluation));
  APRT_TRY(keepPrograms(programs, evaluation ? std::vector{chosen, *evaluation}
                                             : std::vector{chosen}));
  size_t first = evaluation && *evaluation < chosen ? 1 : 0;
  program = std::move(programs[first]);
  if (!evaluation)
    return Status::success();
  run.evaluation = std::make_unique<RunEvaluation>();
  return run.evaluation->open(std::move(programs[1 - first]),
                              options.evaluationData);
}

/// A training that its evaluations have ended takes no more steps.
static void keepEnd(Run &run, Options &options) {
  if (!run.evaluation)
    return;
  std::optional<BestPlace> best =
      run.checkpoints.bestOn(run.evaluation->rows.shards.hash());
  int64_t patience = run.evaluation->about().patience;
  if (!best || patience == 0 || best->worse < patience)
    return;
  options.steps = options.repeat = 0;
  if (run.place.rank == 0)
    std::fprintf(stderr,
                 "note: the training had ended: %lld evaluations were not "
                 "better than that after %lld steps\n",
                 static_cast<long long>(best->worse),
                 static_cast<long long>(best->step));
}

/// Does everything that comes before the ranks run. Under a launcher `joined`
/// is made, even if something fails after that.
static Status prepare(Program &program, Run &run, Options &options,
                      std::optional<JoinedRanks> &joined, const char *&doing) {
  doing = "loading the program";
  APRT_TRY(findLaunchPlace(run.place));
  for (const std::string &doubt : options.doubts)
    if (run.place.rank == 0)
      warn(doubt);
  std::vector<Program> programs;
  APRT_TRY(loadOwnPrograms(programs));
  APRT_TRY(keepRanks(programs, options.ranks, run.place));
  if (!run.place.isAlone()) {
    doing = "meeting the other ranks";
    APRT_TRY(joined.emplace(run, options).meet(programs));
  }
  doing = "opening the checkpoint";
  APRT_TRY(openCheckpoint(run, options, joined ? &*joined : nullptr));
  doing = "reading the inputs";
  APRT_TRY(readInputs(programs, program, run, options));
  APRT_TRY(setHyperparameters(options.hyperparameters, program.manifest));
  std::vector<std::string> doubts;
  APRT_TRY(run.checkpoints.check(program.manifest, options, run.rows, doubts));
  if (std::string text = run.checkpoints.goesOn(options);
      !text.empty() && run.place.rank == 0)
    std::fprintf(stderr, "note: %s\n", printable(text).c_str());
  if (run.evaluation)
    run.checkpoints.checkBest(run.evaluation->rows.shards.hash(), doubts);
  if (run.place.rank == 0)
    for (const std::string &doubt : doubts)
      warn(doubt);
  keepEnd(run, options);
  tellRows(run);
  APRT_TRY(checkResults(program.manifest, options));
  APRT_TRY(checkWrittenFiles(run));
  doing = "opening the weights";
  APRT_TRY(run.weights.open(program.manifest, program.home, options.weights));
  doing = "making room for the results";
  SharedMemory forked;
  APRT_TRY(joined ? joined->prepare() : run.prepare(forked));
  warnOfWeights(run);
  warnOfTraining(run);
  return Status::success();
}

static int execute(Options &options, const char *&doing) {
  Program program;
  Run run(program, options);
  std::optional<JoinedRanks> joined;
  if (Status status = prepare(program, run, options, joined, doing);
      status.failed()) {
    reportFailure(run, RunPhase::Preparing, status.message());
    return fail(joined ? joined->fail(status) : status.message());
  }
  if (std::string shared = run.sharedCores();
      !shared.empty() && (run.place.isAlone() || run.place.localRank == 0))
    warn(shared);
  doing = "starting the ranks";
  SignalWatch watch(run);
  std::string message;
  int code = 0;
  if (!joined) {
    code = launchRanks(run, watch, message);
  } else if (Status status = joined->execute(watch); status.failed()) {
    message = joined->fail(status);
    code = 1;
  }
  if (code) {
    reportFailure(run, RunPhase::Stepping, message);
    return fail(message, code);
  }
  joined.reset();
  watch.stepsEnded();
  doing = "writing the results";
  if (run.place.rank == 0) // it tells the results
    code = tellRun(run);
  if (code)
    reportFailure(run, RunPhase::Telling, "");
  return endedBySignal(run, code);
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

/// Ends a process that holds nothing worth keeping yet.
static void endAtOnce(int signal) { _exit(128 + signal); }

int main(int count, char **arguments) {
  if (count == 2 && std::strcmp(arguments[1], workerArgument) == 0)
    return runWorkers();
  // A reader that is gone, and a file that grows too large, are errors of
  // writing.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGINT, endAtOnce);
  std::signal(SIGTERM, endAtOnce);
  std::set_terminate(endThread);
  const char *doing = "starting";
  int code = 1;
  Status status = guardMemory(doing, [&] {
    code = runMain(count, arguments, doing);
    return Status::success();
  });
  return status.ok() ? code : fail(status.message());
}
