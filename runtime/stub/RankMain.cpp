//===- RankMain.cpp - Everything that one rank does -----------------------===//

#include "../core/Futex.h"
#include "../core/MemoryGuard.h"
#include "../core/RankContext.h"
#include "HeldPorts.h"
#include "RankParts.h"
#include "RankRecords.h"
#include "Run.h"
#include "TrainingLog.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace autopar::runtime {

namespace {

/// Where the host holds what a rank reads of an input in place.
struct HeldInput {
  int64_t persistent = 0;       // index of its tensor
  size_t index = 0;             // of the input
  std::vector<int64_t> offsets; // bytes, by micro-batch
};

class RankMain {
public:
  RankMain(Run &run, int rank)
      : run(run), manifest(run.program.manifest), worldRank(rank),
        record(run.record(rank)) {}

  /// All of it; memory that runs out is a failure too.
  Status executeGuarded() {
    return guardMemory(doing, [&] { return execute(); });
  }
  aprt_rank *context() { return rank.get(); }

private:
  Status execute();
  Status load();
  Status openWeights();
  Status callStage(aprt_status (*function)(aprt_rank *), const char *what);
  Status compute(int64_t time);
  Status step(bool isLast);
  Status meetBefore(int64_t step, bool &ends);
  Status measure();
  std::vector<Transfer> inputsOf(int64_t step, int64_t time);
  Transfer result(const LocalPort &local, int64_t time);
  std::vector<Transfer> resultsOf(int64_t time);
  bool delivers(const LocalPort &local) const;
  void bringAfterOps(int64_t time);
  Status collectAtEnd();
  void addChecks(int64_t time, std::vector<Transfer> &transfers);
  Transfer transfer(const Port &port, const LocalPort &local, int64_t time);

  Run &run;
  const Manifest &manifest;
  int worldRank;
  RankRecord &record;
  std::unique_ptr<aprt_rank> rank;
  std::vector<LocalPort> inputs, results, checks;
  std::vector<HeldInput> heldInputs;
  std::vector<int64_t> bytesSent; // by the work of each micro-batch
  int64_t stepNumber = 0;         // of the step whose data are at hand
  TrainingLog log;                // of rank 0
  std::vector<FileStamp> stamps;  // of the weights that were read
  const char *doing = "starting";
};

} // namespace

/// One rank of each host reads all bytes where that was asked for.
Status RankMain::openWeights() {
  rank->weights = std::move(run.weights);
  bool isFirstOfHost =
      run.place.isAlone() ? worldRank == 0 : run.place.localRank == 0;
  return run.options.verifyWeights && isFirstOfHost ? rank->weights.verify()
                                                    : Status::success();
}

/// Setup with its own arena, then what it left to load, then step's arena.
Status RankMain::load() {
  if (!manifest.weightFiles.empty())
    APRT_TRY(openWeights());
  APRT_TRY(rank->makeArena(manifest.setupArenaBytes[rank->stage()]));
  // Ranks may load for very different times.
  rank->transport->setDeadlines(false);
  APRT_TRY(callStage(run.program.stages[rank->stage()].setup, "setup"));
  APRT_TRY(rank->loadOthers());
  APRT_TRY(rank->device->synchronize());
  rank->transport->setDeadlines(true);
  stamps = rank->weights.stamps();
  rank->weights.close();
  int64_t bytes = manifest.arenaBytes[rank->stage()];
  APRT_TRY(rank->makeArena(bytes));
  return rank->transport->useMemory(rank->arena, bytes);
}

Status RankMain::callStage(aprt_status (*function)(aprt_rank *),
                           const char *what) {
  if (!function)
    return Status::success();
  aprt_status status = function(rank.get());
  if (status == 0)
    return Status::success();
  return Status::error(std::string("the program's ") + what +
                       " returned status " + std::to_string(status));
}

/// The part of a port that micro-batch `time` reads or writes.
Transfer RankMain::transfer(const Port &port, const LocalPort &local,
                            int64_t time) {
  Transfer result;
  result.device = local.persistent >= 0
                      ? rank->persistent[size_t(local.persistent)].data
                      : static_cast<char *>(rank->arena) + local.arenaOffset;
  result.slice.intervals =
      intervalsOf(port.dims, manifest.coordinates(worldRank, time));
  result.slice.elementBytes = elementBytes(port.dtype);
  result.slice.parallel = true;
  return result;
}

/// The inputs that a step copies.
std::vector<Transfer> RankMain::inputsOf(int64_t step, int64_t time) {
  std::vector<Transfer> transfers;
  for (const LocalPort &local : inputs) {
    if (local.persistent >= 0)
      continue;
    transfers.push_back(transfer(manifest.inputs[local.index], local, time));
    HostSlice &slice = transfers.back().slice;
    const void *from = run.input(local.index, step);
    slice.copy = [from, element = slice.elementBytes](
                     const std::vector<Interval> &part, char *host) {
      readSlice(part, element, from, host);
      return Status::success();
    };
  }
  return transfers;
}

Transfer RankMain::result(const LocalPort &local, int64_t time) {
  const RunResult &what = run.results[local.index];
  const Port &port = *what.port;
  Transfer result = transfer(port, local, time);
  HostSlice &slice = result.slice;
  slice.tensor = static_cast<char *>(what.tensor.data());
  slice.tensorBytes = run.stepsOf(what) * port.globalBytes;
  char *whole = run.result(local.index, stepNumber);
  slice.copy = [to = whole, element = slice.elementBytes](
                   const std::vector<Interval> &part, char *host) {
    writeSlice(part, element, host, to);
    return Status::success();
  };
  if (std::optional<int64_t> offset = pieceOffset(slice.intervals))
    slice.dense = whole + *offset * slice.elementBytes;
  return result;
}

/// Whether the step at hand delivers results of that kind.
bool RankMain::delivers(const LocalPort &local) const {
  RunResult::When when = run.results[local.index].when;
  return when == RunResult::EveryStep ||
         (when == RunResult::FirstStep && stepNumber == 0);
}

/// The transfers of results that can be read at the end of the step.
std::vector<Transfer> RankMain::resultsOf(int64_t time) {
  std::vector<Transfer> transfers;
  for (const LocalPort &local : results)
    if (local.after < 0 && delivers(local))
      transfers.push_back(result(local, time));
  return transfers;
}

/// Has each result that may be overwritten within the step, a gradient, brought
/// when the op is over that makes it. Only a first step has such, which is no
/// repetition of what the device noted before.
void RankMain::bringAfterOps(int64_t time) {
  std::multimap<int, const LocalPort *> early;
  for (const LocalPort &local : results)
    if (local.after >= 0 && delivers(local))
      early.emplace(int(local.after), &local);
  rank->afterOp = nullptr;
  if (early.empty())
    return;
  rank->afterOp = [this, time, early = std::move(early)](int op) -> Status {
    std::vector<Transfer> transfers;
    auto [first, last] = early.equal_range(op);
    for (; first != last; ++first)
      transfers.push_back(result(*first->second, time));
    return transfers.empty() ? Status::success()
                             : rank->device->collect(std::move(transfers));
  };
}

/// The states as the last step left them.
Status RankMain::collectAtEnd() {
  std::vector<Transfer> transfers;
  for (const LocalPort &local : results)
    if (run.results[local.index].when == RunResult::AtEnd)
      transfers.push_back(result(local, 0));
  if (transfers.empty())
    return Status::success();
  APRT_TRY(rank->device->collect(std::move(transfers)));
  return rank->device->synchronize();
}

/// Reads the checks; one that is violated ends the run.
void RankMain::addChecks(int64_t time, std::vector<Transfer> &transfers) {
  for (const LocalPort &local : checks) {
    const Check &check = manifest.checks[local.index];
    transfers.push_back(transfer(check.port, local, time));
    std::string where = run.options.repeat > 1
                            ? "step " + std::to_string(stepNumber) + ": "
                            : "";
    transfers.back().slice.copy = [&check, where](const std::vector<Interval> &,
                                                  char *host) {
      std::string what = violation(check, host);
      return what.empty() ? Status::success() : Status::error(where + what);
    };
  }
}

/// The program's work of a micro-batch, through the device.
Status RankMain::compute(int64_t time) {
  bool called = false;
  int64_t before = rank->transport->statistics().bytesSent;
  rank->captureFailure.clear();
  // The program only reads there, though operands' pointers are alike for all.
  for (const HeldInput &held : heldInputs)
    rank->persistent[size_t(held.persistent)].data =
        const_cast<char *>(run.input(held.index, stepNumber)) +
        held.offsets[size_t(time)];
  APRT_TRY(rank->transport->beginStep());
  APRT_TRY(rank->device->runStep(time, [&]() -> Status {
    if (called) { // again, after a capture of no use
      before = rank->transport->statistics().bytesSent;
      APRT_TRY(rank->transport->beginStep());
    }
    called = true;
    aprt_status status =
        run.program.stages[rank->stage()].step(rank.get(), time);
    if (status == 0)
      return Status::success();
    return Status::error(rank->captureFailure.empty()
                             ? "the program's step returned status " +
                                   std::to_string(status)
                             : rank->captureFailure);
  }));
  int64_t &sent = bytesSent[size_t(time)];
  if (called)
    sent = rank->transport->statistics().bytesSent - before;
  else
    rank->repeatedBytesSent += sent;
  return Status::success();
}

/// One step: every micro-batch with its inputs and outputs. The inputs of the
/// first one were fed before; those of the next step are, unless it is the last
/// step.
Status RankMain::step(bool isLast) {
  for (int64_t t = 0; t < manifest.microBatches; ++t) {
    bringAfterOps(t);
    APRT_TRY(compute(t));
    std::vector<Transfer> transfers = resultsOf(t);
    addChecks(t, transfers);
    APRT_TRY(rank->device->collect(std::move(transfers)));
    int64_t next = (t + 1) % manifest.microBatches;
    if (next > 0 || !isLast)
      APRT_TRY(rank->device->feed(inputsOf(stepNumber + (next == 0), next)));
  }
  return rank->device->synchronize();
}

/// The barrier before a step. A training that is asked to end does so here, on
/// all ranks alike, but for the first step.
Status RankMain::meetBefore(int64_t step, bool &ends) {
  bool mayEnd = manifest.trains() && step > 0;
  int signal = mayEnd ? run.endRequest.signal() : 0;
  if (run.joined)
    run.joined->bringSignal(signal);
  else if (worldRank == 0 && signal)
    run.endRequest.endBefore(step);
  APRT_TRY(rank->transport->barrier(/*withDeadline=*/true));
  if (run.joined && mayEnd && run.joined->agreedSignal())
    run.endRequest.note(run.joined->agreedSignal());
  ends = mayEnd && (run.joined ? run.joined->agreedSignal() != 0
                               : run.endRequest.endsBefore(step));
  return Status::success();
}

Status RankMain::measure() {
  bytesSent.resize(size_t(manifest.microBatches));
  APRT_TRY(rank->device->feed(inputsOf(0, 0)));
  for (int64_t i = 0; i < run.options.warmUp; ++i) {
    APRT_TRY(rank->transport->barrier(/*withDeadline=*/true));
    APRT_TRY(step(/*isLast=*/false));
  }
  APRT_TRY(rank->startStatistics(run.trace(worldRank), Run::traceCapacity));
  DeviceCounters before = rank->device->counters();
  double total = 0, barrierWait = 0;
  double end = 0;
  bool ends = false;
  record.began.store(1);
  for (int64_t i = 0; i < run.options.repeat; ++i) {
    bool begins = i == 0 || !manifest.stepsOverlap || manifest.trains();
    if (begins) {
      double waited = rank->transport->statistics().waitSeconds;
      APRT_TRY(meetBefore(i, ends));
      barrierWait += rank->transport->statistics().waitSeconds - waited;
    }
    if (ends)
      break;
    double start = begins ? monotonicSeconds() : end;
    stepNumber = i;
    APRT_TRY(step(i + 1 == run.options.repeat));
    end = monotonicSeconds();
    double seconds = end - start;
    run.stepSeconds(worldRank, i) = seconds;
    total += seconds;
    record.steps = i + 1;
    if (worldRank == 0)
      log.add(i, seconds);
  }
  recordTimes(*rank, record.steps, total, barrierWait);
  recordCounters(*rank, record.steps, before);
  if (worldRank == 0)
    log.close();
  return Status::success();
}

Status RankMain::execute() {
  double begin = monotonicSeconds();
  APRT_TRY(makeRank(run, worldRank, rank));
  rank->states = &run.states;
  if (worldRank == 0)
    APRT_TRY(log.open(run));
  doing = "loading the weights";
  APRT_TRY(load());
  doing = "preparing the steps";
  inputs = inputsOfRank(manifest, worldRank);
  results = resultsOfRank(run, worldRank);
  checks = checksOfRank(manifest, worldRank);
  for (const LocalPort &local : inputs)
    if (local.persistent >= 0) {
      heldInputs.push_back({local.persistent, local.index, {}});
      APRT_TRY(findPieces(manifest, worldRank, manifest.inputs[local.index],
                          heldInputs.back().offsets));
    }
  record.currentOp.store(-1);
  record.loadSeconds = monotonicSeconds() - begin;
  APRT_TRY(rank->transport->barrier(/*withDeadline=*/false));
  // All ranks have read: what did not change until now is what all have.
  for (const FileStamp &stamp : stamps)
    APRT_TRY(stamp.check());
  record.startClock = monotonicSeconds();
  doing = "running the steps";
  APRT_TRY(measure());
  doing = "collecting the results";
  APRT_TRY(collectAtEnd());
  recordMemory(run, *rank);
  rank->device->endSteps();
  // Where steps overlap ranks may be any number of them apart; each of their
  // waits had a deadline.
  APRT_TRY(rank->transport->barrier(!manifest.stepsOverlap));
  return rank->transport->close();
}

bool runRank(Run &run, int rank) {
  RankMain main(run, rank);
  Status status = main.executeGuarded();
  RankRecord &record = run.record(rank);
  if (status.ok()) {
    record.finished.store(1);
    return true;
  }
  // A failed call of the ABI has left a better message already.
  if (main.context())
    main.context()->fail(-1, status.message());
  else
    std::snprintf(record.message, sizeof(record.message), "rank %d: %s", rank,
                  status.message().c_str());
  record.failed.store(1);
  if (!run.fabric.aborted().load())
    run.abort(rank);
  return false;
}

} // namespace autopar::runtime
