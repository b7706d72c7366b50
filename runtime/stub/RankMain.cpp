//===- RankMain.cpp - Everything that one rank does -----------------------===//

#include "../core/Futex.h"
#include "../core/MemoryGuard.h"
#include "../session/Rank.h"
#include "../session/RankRecords.h"
#include "Run.h"
#include "TrainingLog.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace autopar::runtime {

namespace {

class RankMain {
public:
  RankMain(Run &run, int worldRank)
      : run(run), manifest(run.program.manifest), worldRank(worldRank),
        record(run.record(worldRank)) {
    if (run.evaluation) {
      common.emplace(
          std::vector<const Manifest *>{&manifest,
                                        &run.evaluation->program.manifest},
          worldRank);
      evaluation.emplace(*run.evaluation, worldRank, *common);
      uint64_t rows = run.evaluation->rows.shards.hash();
      best.emplace(run.evaluation->about(), run.checkpoints.bestOn(rows), rows);
    }
    rank.emplace(run, worldRank, common ? &*common : nullptr);
  }

  /// Runs everything and treats exhausted memory as a failure too.
  Status executeGuarded() {
    return guardMemory(doing, [&] { return execute(); });
  }
  void fail(const Status &status) { rank->fail(status); }

private:
  Status execute();
  Status warmUp();
  Status meet(bool withDeadline);
  Status meetBefore(int64_t step, bool &ends);
  Status measure();
  Status findData(int64_t step, StepData &data);
  void findResults(RunResult::When when, int64_t step, StepData &data) const;
  Status collectAtEnd();
  bool evaluatesAt(int64_t step) const;
  Status evaluate(bool &ends);
  bool savesAt(int64_t step) const;
  Status save(bool isLast);

  Run &run;
  const Manifest &manifest;
  const int worldRank;
  RankRecord &record;
  std::optional<RankCommon> common; // with the evaluation; it outlives both
  std::optional<Rank> rank;
  std::optional<RankEvaluation> evaluation;
  std::optional<BestEvaluation> best; // rank 0 keeps it
  int64_t evaluated = -1;             // the step before the last evaluation
  StepData now, next; // a step's data, and that of the step after it
  TrainingLog log;    // of rank 0
  std::optional<RowReader> reader;
  std::optional<CheckpointWriter> writer;
  double saved = 0;       // when the last save began, or the steps
  double saveSeconds = 0; // for which steps stood still since the last line
  double barrierWait = 0; // seconds between steps since they are measured
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

Status RankMain::findData(int64_t step, StepData &data) {
  data.inputs.resize(manifest.inputs.size());
  for (size_t i = 0; i < data.inputs.size(); ++i)
    data.inputs[i] = run.input(i, step);
  if (reader)
    APRT_TRY(reader->await(step, run.options.timeoutSeconds, data.inputs));
  data.results.assign(run.results.size(), {});
  findResults(RunResult::EveryStep, step, data);
  if (step == 0)
    findResults(RunResult::FirstStep, step, data);
  int64_t number = run.options.firstStep + step;
  data.where =
      run.options.repeat > 1 ? "step " + std::to_string(number) + ": " : "";
  return Status::success();
}

/// Collects the states as the last step left them.
Status RankMain::collectAtEnd() {
  now.results.assign(run.results.size(), {});
  findResults(RunResult::AtEnd, 0, now);
  return rank->collectStates(now);
}

/// Waits at a barrier between steps; the time counts for no step.
Status RankMain::meet(bool withDeadline) {
  Transport &transport = *rank->context()->transport;
  double before = transport.statistics().waitSeconds;
  APRT_TRY(transport.barrier(withDeadline));
  barrierWait += transport.statistics().waitSeconds - before;
  return Status::success();
}

/// Waits at the barrier before a step. A training that was asked to end does so
/// here on all ranks, except before the first step.
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
  APRT_TRY(meet(/*withDeadline=*/true));
  if (byHub && mayEnd && run.joined->agreedSignal())
    run.endRequest.note(run.joined->agreedSignal());
  ends = mayEnd && (byHub ? run.joined->agreedSignal() != 0
                          : run.endRequest.endsBefore(step));
  return Status::success();
}

/// Returns whether the states are evaluated before this step of the run.
bool RankMain::evaluatesAt(int64_t step) const {
  int64_t every = evaluation ? run.evaluation->about().every : 0;
  return every > 0 && step > 0 && (run.options.firstStep + step) % every == 0;
}

/// Evaluates the states as the last step left them. `ends` is set if no
/// evaluation was better for too long.
Status RankMain::evaluate(bool &ends) {
  double start = monotonicSeconds();
  int64_t all = run.options.firstStep + record.steps;
  std::vector<double> values;
  APRT_TRY(evaluation->evaluate(values));
  evaluated = record.steps;
  if (worldRank == 0) {
    RunEvaluation::Verdict &verdict = run.evaluation->verdict();
    verdict = best->judge(values, all, evaluatesAt(record.steps));
    // An evaluation without a step before it is not kept.
    log.addEvaluation(all, values, monotonicSeconds() - start,
                      verdict.isBest && record.steps > 0);
  }
  APRT_TRY(meet(/*withDeadline=*/true));
  ends |= run.evaluation->verdict().ends;
  return Status::success();
}

/// Returns whether the states are saved before this step of the run, because
/// they are due or the best so far.
bool RankMain::savesAt(int64_t step) const {
  int64_t every = run.options.saveSteps;
  bool isDue = every > 0 && (run.options.firstStep + step) % every == 0;
  bool isBest = evaluated == step && run.evaluation->verdict().isBest;
  return writer && step > 0 &&
         (isDue || isBest || run.checkpoints.board.savesBefore(step));
}

/// Saves the states as the last step left them. Ranks wait for each other as
/// long as their earlier saves take, because a disk may be slow.
Status RankMain::save(bool isLast) {
  saved = monotonicSeconds();
  int64_t step = run.options.firstStep + record.steps;
  if (writer->lastStep() != step)
    APRT_TRY(writer->save(
        step,
        [&](const SavedBlock &block, void *to) {
          return rank->readBlock(block, to);
        },
        {run.rows.placeOf(record.steps), best ? best->place() : std::nullopt}));
  if (isLast)
    writer->finish();
  APRT_TRY(meet(/*withDeadline=*/false));
  saveSeconds = monotonicSeconds() - saved;
  return Status::success();
}

/// Runs steps that are not measured, each with the data of the first step.
Status RankMain::warmUp() {
  APRT_TRY(findData(0, now));
  APRT_TRY(rank->feed(now));
  for (int64_t i = 0; i < run.options.warmUp; ++i) {
    APRT_TRY(rank->context()->transport->barrier(/*withDeadline=*/true));
    APRT_TRY(rank->step(now, &now));
  }
  return Status::success();
}

Status RankMain::measure() {
  APRT_TRY(warmUp());
  aprt_rank &context = *rank->context();
  APRT_TRY(context.startStatistics(run.trace(worldRank), Run::traceCapacity));
  DeviceCounters before = context.device->counters();
  barrierWait = 0;
  double total = 0, end = 0;
  bool ends = false;
  record.began.store(1);
  saved = monotonicSeconds();
  for (int64_t i = 0; i < run.options.repeat; ++i) {
    bool begins = i == 0 || !manifest.stepsOverlap || manifest.trains();
    if (begins)
      APRT_TRY(meetBefore(i, ends));
    if (!ends && evaluatesAt(i))
      APRT_TRY(evaluate(ends));
    if (savesAt(i))
      APRT_TRY(save(/*isLast=*/false));
    if (ends)
      break;
    double start = begins ? monotonicSeconds() : end;
    bool isLast = i + 1 == run.options.repeat;
    if (!isLast)
      APRT_TRY(findData(i + 1, next));
    APRT_TRY(rank->step(now, isLast ? nullptr : &next));
    end = monotonicSeconds();
    std::swap(now, next);
    double seconds = end - start;
    run.stepSeconds(worldRank, i) = seconds;
    total += seconds;
    record.steps = i + 1;
    if (worldRank == 0)
      log.add(i, seconds, std::exchange(saveSeconds, 0),
              evaluatesAt(i + 1) || (evaluation && isLast));
  }
  if (record.steps == 0) // all were taken by runs before
    return evaluation ? evaluate(ends) : Status::success();
  bool isAsked = ends && !(evaluation && run.evaluation->verdict().ends);
  if (evaluation && evaluated != record.steps && !isAsked)
    APRT_TRY(evaluate(ends));
  if (writer)
    APRT_TRY(save(/*isLast=*/true));
  recordTimes(context, record.steps, total, barrierWait);
  recordCounters(context, record.steps, before);
  if (worldRank == 0)
    log.close();
  return Status::success();
}

Status RankMain::execute() {
  double begin = monotonicSeconds();
  APRT_TRY(rank->open());
  if (worldRank == 0)
    APRT_TRY(log.open(run));
  if (run.rows.isOpen()) {
    reader.emplace(run.rows, manifest, worldRank,
                   std::max<int64_t>(run.options.repeat, 1));
    APRT_TRY(reader->start());
  }
  doing = "loading the weights";
  APRT_TRY(rank->load(std::move(run.weights), &run.states,
                      run.checkpoints.resumed()));
  if (evaluation) {
    APRT_TRY(evaluation->load());
    rank->context()->device->adoptPacked();
  }
  doing = "preparing the steps";
  APRT_TRY(rank->prepare(run.wanted()));
  recordMemory(*rank->context(), run.portBytes(worldRank)); // for the progress
  record.loadSeconds = monotonicSeconds() - begin;
  APRT_TRY(rank->context()->transport->barrier(/*withDeadline=*/false));
  APRT_TRY(rank->checkFiles());
  if (evaluation)
    APRT_TRY(evaluation->checkFiles());
  record.startClock = monotonicSeconds();
  if (const CheckpointFolder *folder = run.checkpoints.folder())
    writer.emplace(*folder, run.checkpoints.board, manifest, worldRank,
                   run.options.keep, run.fabric.aborted());
  doing = "running the steps";
  APRT_TRY(measure());
  doing = "collecting the results";
  APRT_TRY(collectAtEnd());
  recordMemory(*rank->context(), run.portBytes(worldRank));
  if (evaluation)
    APRT_TRY(evaluation->end());
  return rank->end();
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
