//===- RankMain.cpp - Everything that one rank does -----------------------===//

#include "../core/Futex.h"
#include "../core/RankContext.h"
#include "../transport/SharedMemoryTransport.h"
#include "Run.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <string>

namespace autopar::runtime {

namespace {

/// Where a port lies on this rank.
struct LocalPort {
  size_t index = 0; // in manifest.inputs or outputs
  int64_t arenaOffset = 0;
  bool writes = true; // this rank delivers its block of an output
};

class RankMain {
public:
  RankMain(Run &run, int rank)
      : run(run), manifest(run.program.manifest), worldRank(rank),
        record(run.record(rank)) {}

  Status execute();
  aprt_rank *context() { return rank.get(); }

private:
  Status start();
  Status load();
  Status callStage(aprt_status (*function)(aprt_rank *), const char *what);
  Status step();
  Status measure();
  void recordMemory();
  void findPorts();
  bool isFirstHolder(const Port &port) const;
  template <typename Copy>
  void inPieces(const std::vector<Interval> &intervals, int64_t element,
                const Copy &copy);
  char *at(const LocalPort &port) const {
    return static_cast<char *>(rank->arena.data()) + port.arenaOffset;
  }

  Run &run;
  const Manifest &manifest;
  int worldRank;
  RankRecord &record;
  std::unique_ptr<aprt_rank> rank;
  std::vector<LocalPort> inputs, outputs;
};

} // namespace

Status RankMain::start() {
  RankOptions options{worldRank, run.threads, run.spin};
  APRT_TRY(aprt_rank::create(manifest, options, record, rank));
  Patience patience = run.spin ? Patience::ownCore() : Patience::sharedCore();
  rank->transport = std::make_unique<SharedMemoryTransport>(
      run.fabric, manifest, worldRank, rank->pool, run.options.timeoutSeconds,
      patience);
  rank->communicationMemory.add(run.fabric.bytesOf(manifest, worldRank));
  return Status::success();
}

/// Setup with its own arena, then what it left to load, then step's arena.
Status RankMain::load() {
  if (!manifest.weightFiles.empty())
    APRT_TRY(
        rank->weights.open(manifest, run.program.folder, run.options.weights));
  APRT_TRY(rank->makeArena(manifest.setupArenaBytes[rank->stage()]));
  // Ranks may load for very different times.
  rank->transport->setDeadlines(false);
  APRT_TRY(callStage(run.program.stages[rank->stage()].setup, "setup"));
  rank->transport->setDeadlines(true);
  APRT_TRY(rank->loadOthers());
  rank->weights.close();
  return rank->makeArena(manifest.arenaBytes[rank->stage()]);
}

/// True if no rank before this one holds the same block of an output.
bool RankMain::isFirstHolder(const Port &port) const {
  std::vector<int64_t> mine = manifest.coordinates(worldRank, 0);
  for (int other = 0; other < worldRank; ++other) {
    bool holds = false;
    for (const PortPlacement &place : port.stages)
      holds |= place.stage == other / manifest.devicesPerStage;
    std::vector<int64_t> theirs = manifest.coordinates(other, 0);
    for (const DimSlice &dim : port.dims)
      holds &= dim.blockIndex(mine) == dim.blockIndex(theirs);
    if (holds)
      return false;
  }
  return true;
}

void RankMain::findPorts() {
  auto find = [&](const std::vector<Port> &ports, bool areOutputs) {
    std::vector<LocalPort> found;
    for (size_t i = 0; i < ports.size(); ++i)
      for (const PortPlacement &place : ports[i].stages)
        if (place.stage == rank->stage() &&
            (!areOutputs || isFirstHolder(ports[i])))
          found.push_back({i, place.arenaOffset});
    return found;
  };
  inputs = find(manifest.inputs, /*areOutputs=*/false);
  outputs = find(manifest.outputs, /*areOutputs=*/true);
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

/// copy(intervals, byte offset in the local tensor) by all threads of the rank.
template <typename Copy>
void RankMain::inPieces(const std::vector<Interval> &intervals, int64_t element,
                        const Copy &copy) {
  constexpr int64_t worthAThread = 256 << 10; // bytes
  SlicePieces pieces(intervals);
  int64_t bytes = std::max<int64_t>(1, pieces.stride * element);
  rank->pool.split(pieces.count, worthAThread / bytes,
                   [&](int64_t begin, int64_t end) {
                     copy(pieces.intervals(begin, end), begin * bytes);
                   });
}

/// One step: every micro-batch with its inputs and outputs.
Status RankMain::step() {
  const aprt_stage_functions &stage = run.program.stages[rank->stage()];
  for (int64_t t = 0; t < manifest.microBatches; ++t) {
    std::vector<int64_t> coordinates = manifest.coordinates(worldRank, t);
    for (const LocalPort &local : inputs) {
      const Port &port = manifest.inputs[local.index];
      int64_t element = elementBytes(port.dtype);
      const void *from = run.inputs[local.index].data.data();
      inPieces(intervalsOf(port.dims, coordinates), element,
               [&](const std::vector<Interval> &piece, int64_t offset) {
                 readSlice(piece, element, from, at(local) + offset);
               });
    }
    aprt_status status = stage.step(rank.get(), t);
    if (status != 0)
      return Status::error("the program's step returned status " +
                           std::to_string(status));
    for (const LocalPort &local : outputs) {
      const Port &port = manifest.outputs[local.index];
      int64_t element = elementBytes(port.dtype);
      void *to = run.outputs[local.index].data();
      inPieces(intervalsOf(port.dims, coordinates), element,
               [&](const std::vector<Interval> &piece, int64_t offset) {
                 writeSlice(piece, element, at(local) + offset, to);
               });
    }
  }
  return Status::success();
}

Status RankMain::measure() {
  for (int64_t i = 0; i < run.options.warmUp; ++i) {
    APRT_TRY(rank->transport->barrier(/*withDeadline=*/true));
    APRT_TRY(step());
  }
  rank->trace = run.trace(worldRank);
  rank->traceCapacity = Run::traceCapacity;
  rank->resetStatistics();
  double total = 0, barrierWait = 0;
  for (int64_t i = 0; i < run.options.repeat; ++i) {
    double waited = rank->transport->statistics().waitSeconds;
    APRT_TRY(rank->transport->barrier(/*withDeadline=*/true));
    barrierWait += rank->transport->statistics().waitSeconds - waited;
    double start = monotonicSeconds();
    APRT_TRY(step());
    double seconds = monotonicSeconds() - start;
    run.stepSeconds(worldRank, i) = seconds;
    total += seconds;
  }
  double steps = double(run.options.repeat);
  const TransportStatistics &now = rank->transport->statistics();
  double idle =
      now.waitSeconds - rank->statisticsAtReset.waitSeconds - barrierWait;
  record.idleSeconds = idle / steps;
  record.communicationSeconds = (rank->communicationSeconds - idle) / steps;
  record.computeSeconds = (total - rank->communicationSeconds) / steps;
  record.bytesSent =
      (now.bytesSent - rank->statisticsAtReset.bytesSent) / run.options.repeat;
  return Status::success();
}

/// The most that this process had in memory, shared libraries and all.
static int64_t peakResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

void RankMain::recordMemory() {
  record.processPeakBytes = peakResidentBytes();
  record.heapBytes = int64_t(mallinfo2().arena);
  record.peakMemoryBytes = rank->memory.peakBytes();
  record.weightBytes = rank->persistentMemory.currentBytes();
  record.packedBytes = rank->packedMemory.currentBytes();
  record.arenaBytes = rank->arenaMemory.currentBytes();
  record.workspaceBytes = rank->workspaceMemory.currentBytes();
  record.communicationBytes = rank->communicationMemory.currentBytes();
  for (const Port &port : manifest.inputs)
    record.portBytes += port.globalBytes;
  for (const LocalPort &local : outputs)
    record.portBytes +=
        manifest.outputs[local.index].localBytes * manifest.microBatches;
}

Status RankMain::execute() {
  double begin = monotonicSeconds();
  APRT_TRY(start());
  APRT_TRY(load());
  findPorts();
  record.currentOp.store(-1);
  record.loadSeconds = monotonicSeconds() - begin;
  APRT_TRY(rank->transport->barrier(/*withDeadline=*/false));
  APRT_TRY(measure());
  recordMemory();
  return Status::success();
}

bool runRank(Run &run, int rank) {
  RankMain main(run, rank);
  Status status = main.execute();
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
