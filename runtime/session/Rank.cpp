//===- Rank.cpp - One rank, from its weights to its last step -------------===//

#include "Rank.h"

#include "RankParts.h"

#include <cstdio>
#include <map>
#include <optional>

namespace autopar::runtime {

Rank::Rank(World &world, int worldRank, RankCommon *common)
    : world(world), manifest(world.program.manifest), worldRank(worldRank),
      common(common), ports(resultPorts(manifest)) {}

Status Rank::open() { return makeRank(world, worldRank, common, rank); }

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Runs setup with its own arena, loads the parameters that setup did not, and
/// makes the arena of steps.
Status Rank::load(WeightFiles weights, const NamedArrays *states,
                  const Checkpoint *resumed) {
  rank->states = states;
  rank->resumed = resumed;
  rank->weights = std::move(weights);
  // One rank of each host reads all bytes where that was asked for.
  if (!manifest.weightFiles.empty() && world.rankOptions.verifyWeights &&
      world.isFirstOfHost(worldRank))
    APRT_TRY(rank->weights.verify());
  APRT_TRY(rank->makeSetupArena());
  // Ranks may load for very different times.
  rank->transport->setDeadlines(false);
  APRT_TRY(callStage(world.program.stages[rank->stage()].setup, "setup"));
  APRT_TRY(rank->loadOthers());
  APRT_TRY(rank->device->synchronize());
  APRT_TRY(rank->mergeConstants());
  rank->transport->setDeadlines(true);
  if (resumed)
    APRT_TRY(resumed->checkFiles());
  rank->states = nullptr;
  rank->resumed = nullptr;
  stamps = rank->weights.stamps();
  rank->weights.close();
  APRT_TRY(rank->makeArena());
  return rank->transport->useMemory(rank->arena,
                                    manifest.arenaBytes[rank->stage()]);
}

Status Rank::callStage(aprt_status (*function)(aprt_rank *), const char *what) {
  if (!function)
    return Status::success();
  aprt_status status = function(rank.get());
  if (status == 0)
    return Status::success();
  return Status::error(std::string("the program's ") + what +
                       " returned status " + std::to_string(status));
}

Status Rank::prepare(const std::vector<bool> &wanted) {
  inputs = inputsOfRank(manifest, worldRank);
  results = resultsOfRank(manifest, ports, wanted, worldRank);
  checks = checksOfRank(manifest, worldRank);
  for (const LocalPort &local : inputs)
    if (local.persistent >= 0) {
      heldInputs.push_back({local.persistent, local.index, {}});
      APRT_TRY(findPieces(manifest, worldRank, manifest.inputs[local.index],
                          heldInputs.back().offsets));
    }
  bytesSent.resize(size_t(manifest.microBatches));
  rank->record.currentOp.store(-1);
  return Status::success();
}

uint64_t Rank::source() const {
  ContentHash hash;
  for (const FileStamp &stamp : stamps)
    stamp.addTo(hash);
  return hash.value();
}

Status Rank::checkFiles() {
  for (const FileStamp &stamp : stamps)
    APRT_TRY(stamp.check());
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Returns the part of a port that micro-batch `time` reads or writes.
Transfer Rank::transfer(const Port &port, const LocalPort &local,
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

/// Returns the inputs that a step copies.
std::vector<Transfer> Rank::inputsOf(const StepData &data, int64_t time) {
  std::vector<Transfer> transfers;
  for (const LocalPort &local : inputs) {
    if (local.persistent >= 0)
      continue;
    transfers.push_back(transfer(manifest.inputs[local.index], local, time));
    HostSlice &slice = transfers.back().slice;
    slice.copy = [from = data.inputs[local.index],
                  element = slice.elementBytes](
                     const std::vector<Interval> &part, char *host) {
      readSlice(part, element, from, host);
      return Status::success();
    };
  }
  return transfers;
}

Transfer Rank::result(const StepData &data, const LocalPort &local,
                      int64_t time) {
  const HostTensor &whole = data.results[local.index];
  Transfer result = transfer(*ports[local.index].port, local, time);
  HostSlice &slice = result.slice;
  slice.tensor = whole.memory;
  slice.tensorBytes = whole.memoryBytes;
  slice.copy = [to = whole.data, element = slice.elementBytes](
                   const std::vector<Interval> &part, char *host) {
    writeSlice(part, element, host, to);
    return Status::success();
  };
  if (std::optional<int64_t> offset = pieceOffset(slice.intervals))
    slice.dense = whole.data + *offset * slice.elementBytes;
  return result;
}

/// Returns the transfers of results that can be read at the end of the step.
std::vector<Transfer> Rank::resultsOf(const StepData &data, int64_t time) {
  std::vector<Transfer> transfers;
  for (const LocalPort &local : results)
    if (local.after < 0 && data.results[local.index].data)
      transfers.push_back(result(data, local, time));
  return transfers;
}

/// Has each result that may be overwritten within the step, a gradient, brought
/// when the op is over that makes it. Only a first step has such, which is no
/// repetition of what the device noted before.
void Rank::bringAfterOps(const StepData &data, int64_t time) {
  std::multimap<int, const LocalPort *> early;
  for (const LocalPort &local : results)
    if (local.after >= 0 && data.results[local.index].data)
      early.emplace(int(local.after), &local);
  rank->afterOp = nullptr;
  if (early.empty())
    return;
  rank->afterOp = [this, &data, time,
                   early = std::move(early)](int op) -> Status {
    std::vector<Transfer> transfers;
    auto [first, last] = early.equal_range(op);
    for (; first != last; ++first)
      transfers.push_back(result(data, *first->second, time));
    return transfers.empty() ? Status::success()
                             : rank->device->collect(std::move(transfers));
  };
}

Status Rank::collectStates(const StepData &data) {
  std::vector<Transfer> transfers = resultsOf(data, 0);
  if (transfers.empty())
    return Status::success();
  APRT_TRY(rank->device->collect(std::move(transfers)));
  return rank->device->synchronize();
}

Transfer Rank::stateTransfer(int index) {
  const PersistentEntry &entry = rank->entries()[size_t(index)];
  Transfer result;
  result.device = rank->persistent[size_t(index)].data;
  result.slice.intervals =
      intervalsOf(entry.dims, manifest.coordinates(worldRank, 0));
  result.slice.elementBytes = elementBytes(entry.dtype);
  return result;
}

Status Rank::readState(int index, void *whole) {
  Transfer transfer = stateTransfer(index);
  transfer.slice.copy = [to = static_cast<char *>(whole),
                         element = transfer.slice.elementBytes](
                            const std::vector<Interval> &part, char *host) {
    writeSlice(part, element, host, to);
    return Status::success();
  };
  APRT_TRY(rank->device->collect({std::move(transfer)}));
  return rank->device->synchronize();
}

Status Rank::writeState(int index, const void *whole) {
  Transfer transfer = stateTransfer(index);
  transfer.slice.copy = [whole, element = transfer.slice.elementBytes](
                            const std::vector<Interval> &part, char *host) {
    readSlice(part, element, whole, host);
    return Status::success();
  };
  APRT_TRY(rank->device->upload(transfer.device, transfer.slice));
  // Another entry of the rank may read it next, on streams of its own.
  return rank->device->synchronize();
}

Status Rank::readBlock(const SavedBlock &saved, void *to) {
  Transfer transfer = stateTransfer(saved.index);
  transfer.slice.parallel = true;
  transfer.slice.copy = [&saved, to = static_cast<char *>(to),
                         bytes = transfer.slice.elementBytes](
                            const std::vector<Interval> &part, char *host) {
    forEachOverlap(saved.block, part, [&](const OverlapRun &run) {
      std::memcpy(to + run.boxAt * bytes, host + run.partAt * bytes,
                  size_t(run.count * bytes));
    });
    return Status::success();
  };
  APRT_TRY(rank->device->collect({std::move(transfer)}));
  return rank->device->synchronize();
}

/// Reads the checks. A violated check ends the run.
void Rank::addChecks(const StepData &data, int64_t time,
                     std::vector<Transfer> &transfers) {
  for (const LocalPort &local : checks) {
    const Check &check = manifest.checks[local.index];
    transfers.push_back(transfer(check.port, local, time));
    transfers.back().slice.copy =
        [&check, where = data.where](const std::vector<Interval> &,
                                     char *host) {
          std::string what = violation(check, host);
          return what.empty() ? Status::success() : Status::error(where + what);
        };
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Runs the program's work of a micro-batch through the device.
Status Rank::compute(const StepData &data, int64_t time) {
  bool called = false;
  int64_t before = rank->transport->statistics().bytesSent;
  rank->captureFailure.clear();
  // The program only reads there, though operands' pointers are alike for all.
  for (const HeldInput &held : heldInputs)
    rank->persistent[size_t(held.persistent)].data =
        const_cast<char *>(data.inputs[held.index]) +
        held.offsets[size_t(time)];
  APRT_TRY(rank->transport->beginStep());
  APRT_TRY(rank->device->runStep(time, [&]() -> Status {
    if (called) { // again, after a capture of no use
      before = rank->transport->statistics().bytesSent;
      APRT_TRY(rank->transport->beginStep());
    }
    called = true;
    aprt_status status =
        world.program.stages[rank->stage()].step(rank.get(), time);
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

Status Rank::feed(const StepData &data) {
  return rank->device->feed(inputsOf(data, 0));
}

Status Rank::step(const StepData &data, const StepData *next) {
  for (int64_t t = 0; t < manifest.microBatches; ++t) {
    bringAfterOps(data, t);
    APRT_TRY(compute(data, t));
    std::vector<Transfer> transfers = resultsOf(data, t);
    addChecks(data, t, transfers);
    APRT_TRY(rank->device->collect(std::move(transfers)));
    bool isLast = t + 1 == manifest.microBatches;
    if (!isLast)
      APRT_TRY(rank->device->feed(inputsOf(data, t + 1)));
    else if (next)
      APRT_TRY(feed(*next));
  }
  return rank->device->synchronize();
}

Status Rank::end() {
  rank->device->endSteps();
  // Ranks whose steps overlap may be any number of steps apart; each of their
  // waits had a deadline.
  APRT_TRY(rank->transport->barrier(!manifest.stepsOverlap));
  return rank->transport->close();
}

void Rank::fail(const Status &status) {
  RankRecord &record = world.record(worldRank);
  // A failed call of the ABI has left a better message already.
  if (rank)
    rank->fail(-1, status.message());
  else
    std::snprintf(record.message, sizeof(record.message), "rank %d: %s",
                  worldRank, status.message().c_str());
  record.failed.store(1);
  if (!world.fabric.aborted().load())
    world.abort(worldRank);
}

} // namespace autopar::runtime
