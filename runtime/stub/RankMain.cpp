//===- RankMain.cpp - Everything that one rank does -----------------------===//

#include "../core/Futex.h"
#include "../core/MemoryGuard.h"
#include "../session/Rank.h"
#include "../session/RankRecords.h"
#include "Run.h"
#include "TrainingLog.h"

#include <optional>
#include <string>
#include <utility>

namespace autopar::runtime {

namespace {

class RankMain {
public:
  RankMain(Run &run, int worldRank)
      : run(run), manifest(run.program.manifest), worldRank(worldRank),
        record(run.record(worldRank)), rank(run, worldRank) {}

  /// All of it; memory that runs out is a failure too.
  Status executeGuarded() {
    return guardMemory(doing, [&] { return execute(); });
  }
  void fail(const Status &status) { rank.fail(status); }

private:
  Status execute();
  Status warmUp();
  Status meetBefore(int64_t step, bool &ends);
  Status measure();
  void findData(int64_t step, StepData &data) const;
  void findResults(RunResult::When when, int64_t step, StepData &data) const;
  Status collectAtEnd();
  bool savesAt(int64_t step) const;
  Status save(bool isLast);

  Run &run;
  const Manifest &manifest;
  const int worldRank;
  RankRecord &record;
  Rank rank;
  StepData now, next; // a step's data, and that of the step after it
  TrainingLog log;    // of rank 0
  std::optional<CheckpointWriter> writer;
  double saved = 0;       // when the last save began, or the steps
  double saveSeconds = 0; // for which steps stood still since the last line
  double saveWait = 0;    // of all saves, for other ranks
  const char *doing = "starting";
};

} // namespace

/// Adds the wanted results of a kind, as a step leaves them.
void RankMain::findResults(RunResult::When when, int64_t step,
                           StepData &data) const {
  for (size_t i = 0; i < run.results.size(); ++i)
    if (const RunResult &result = run.results[i];
        result.when == when && result.wanted)
      data.results[i] = {run.result(i, step),
                         static_cast<char *>(result.tensor.data()),
                         run.stepsOf(result) * result.port->globalBytes};
}

void RankMain::findData(int64_t step, StepData &data) const {
  data.inputs.resize(manifest.inputs.size());
  for (size_t i = 0; i < data.inputs.size(); ++i)
    data.inputs[i] = run.input(i, step);
  data.results.assign(run.results.size(), {});
  findResults(RunResult::EveryStep, step, data);
  if (step == 0)
    findResults(RunResult::FirstStep, step, data);
  int64_t number = run.options.firstStep + step;
  data.where =
      run.options.repeat > 1 ? "step " + std::to_string(number) + ": " : "";
}

/// The states as the last step left them.
Status RankMain::collectAtEnd() {
  now.results.assign(run.results.size(), {});
  findResults(RunResult::AtEnd, 0, now);
  return rank.collectStates(now);
}

/// The barrier before a step. A training that is asked to end does so here, on
/// all ranks alike, but for the first step.
Status RankMain::meetBefore(int64_t step, bool &ends) {
  bool mayEnd = manifest.trains() && step > 0;
  int signal = mayEnd ? run.endRequest.signal() : 0;
  bool byHub = !run.sharesMemory;
  if (byHub)
    run.joined->bringSignal(signal);
  else if (worldRank == 0 && signal)
    run.endRequest.endBefore(step);
  if (worldRank == 0 && writer && run.options.saveSeconds > 0 &&
      monotonicSeconds() - saved >= run.options.saveSeconds)
    run.checkpoints.board.saveBefore(step);
  APRT_TRY(rank.context()->transport->barrier(/*withDeadline=*/true));
  if (byHub && mayEnd && run.joined->agreedSignal())
    run.endRequest.note(run.joined->agreedSignal());
  ends = mayEnd && (byHub ? run.joined->agreedSignal() != 0
                          : run.endRequest.endsBefore(step));
  return Status::success();
}

/// True if the states are saved before this step of the run.
bool RankMain::savesAt(int64_t step) const {
  int64_t every = run.options.saveSteps;
  bool isDue = every > 0 && (run.options.firstStep + step) % every == 0;
  return writer && step > 0 &&
         (isDue || run.checkpoints.board.savesBefore(step));
}

/// The states as the last step left them. A disk may be slow: ranks wait for
/// each other for as long as their saves before take.
Status RankMain::save(bool isLast) {
  saved = monotonicSeconds();
  int64_t step = run.options.firstStep + record.steps;
  if (writer->lastStep() != step)
    APRT_TRY(writer->save(step, [&](const SavedBlock &block, void *to) {
      return rank.readBlock(block, to);
    }));
  if (isLast)
    writer->finish();
  Transport &transport = *rank.context()->transport;
  double waited = transport.statistics().waitSeconds;
  APRT_TRY(transport.barrier(/*withDeadline=*/false));
  saveWait += transport.statistics().waitSeconds - waited;
  saveSeconds = monotonicSeconds() - saved;
  return Status::success();
}

/// Steps that are not measured, each with the data of the first one.
Status RankMain::warmUp() {
  findData(0, now);
  APRT_TRY(rank.feed(now));
  for (int64_t i = 0; i < run.options.warmUp; ++i) {
    APRT_TRY(rank.context()->transport->barrier(/*withDeadline=*/true));
    APRT_TRY(rank.step(now, &now));
  }
  return Status::success();
}

Status RankMain::measure() {
  APRT_TRY(warmUp());
  aprt_rank &context = *rank.context();
  APRT_TRY(context.startStatistics(run.trace(worldRank), Run::traceCapacity));
  DeviceCounters before = context.device->counters();
  double total = 0, barrierWait = 0;
  double end = 0;
  bool ends = false;
  record.began.store(1);
  saved = monotonicSeconds();
  for (int64_t i = 0; i < run.options.repeat; ++i) {
    bool begins = i == 0 || !manifest.stepsOverlap || manifest.trains();
    if (begins) {
      double waited = context.transport->statistics().waitSeconds;
      APRT_TRY(meetBefore(i, ends));
      barrierWait += context.transport->statistics().waitSeconds - waited;
    }
    if (savesAt(i))
      APRT_TRY(save(/*isLast=*/false));
    if (ends)
      break;
    double start = begins ? monotonicSeconds() : end;
    bool isLast = i + 1 == run.options.repeat;
    if (!isLast)
      findData(i + 1, next);
    APRT_TRY(rank.step(now, isLast ? nullptr : &next));
    end = monotonicSeconds();
    std::swap(now, next);
    double seconds = end - start;
    run.stepSeconds(worldRank, i) = seconds;
    total += seconds;
    record.steps = i + 1;
    if (worldRank == 0)
      log.add(i, seconds, std::exchange(saveSeconds, 0));
  }
  if (record.steps == 0) // all were taken by runs before
    return Status::success();
  if (writer)
    APRT_TRY(save(/*isLast=*/true));
  recordTimes(context, record.steps, total, barrierWait + saveWait);
  recordCounters(context, record.steps, before);
  if (worldRank == 0)
    log.close();
  return Status::success();
}

Status RankMain::execute() {
  double begin = monotonicSeconds();
  APRT_TRY(rank.open());
  if (worldRank == 0)
    APRT_TRY(log.open(run));
  doing = "loading the weights";
  APRT_TRY(rank.load(std::move(run.weights), &run.states,
                     run.checkpoints.resumed()));
  doing = "preparing the steps";
  APRT_TRY(rank.prepare(run.wanted()));
  record.loadSeconds = monotonicSeconds() - begin;
  APRT_TRY(rank.context()->transport->barrier(/*withDeadline=*/false));
  APRT_TRY(rank.checkFiles());
  record.startClock = monotonicSeconds();
  if (const CheckpointFolder *folder = run.checkpoints.folder())
    writer.emplace(*folder, run.checkpoints.board, manifest, worldRank,
                   run.options.keep, run.fabric.aborted());
  doing = "running the steps";
  APRT_TRY(measure());
  doing = "collecting the results";
  APRT_TRY(collectAtEnd());
  recordMemory(*rank.context(), run.portBytes(worldRank));
  return rank.end();
}

bool runRank(Run &run, int rank) {
  RankMain main(run, rank);
  Status status = main.executeGuarded();
  if (status.ok()) {
    run.record(rank).finished.store(1);
    return true;
  }
  main.fail(status);
  return false;
}

} // namespace autopar::runtime
