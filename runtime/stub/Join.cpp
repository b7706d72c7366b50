//===- Join.cpp - Ranks that a launcher starts ----------------------------===//

#include "Join.h"

#include "../core/Futex.h"
#include "../files/ContentHash.h"
#include "../transport/HostMemory.h"
#include "../transport/TcpFabric.h"
#include "RankResult.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <sched.h>

namespace autopar::runtime {

/// Fails unless this process can be one rank of those that a launcher started.
static Status checkLauncher(const std::vector<Program> &programs, int64_t ranks,
                            const LaunchPlace &place) {
  std::string started = place.launcher + " started " +
                        std::to_string(place.world) + " processes (" +
                        place.sizeName + ")";
  if (ranks != 0 && ranks != place.world)
    return Status::error(started + ", but --ranks says " +
                         std::to_string(ranks));
  if (Status status = checkRanks(programs, place.world); status.failed())
    return Status::error(started + ", but " + status.message() +
                         ": start as many");
  return Status::success();
}

Status keepRanks(std::vector<Program> &programs, int64_t ranks,
                 const LaunchPlace &place) {
  if (!place.isAlone()) {
    APRT_TRY(checkLauncher(programs, ranks, place));
    ranks = place.world;
  }
  // A single process of torchrun takes the plan for one rank if the program has
  // one.
  if (ranks == 0 && place.isOnly && checkRanks(programs, 1).ok())
    ranks = 1;
  if (ranks == 0)
    return Status::success();
  APRT_TRY(checkRanks(programs, ranks));
  std::vector<size_t> numbers;
  for (size_t i = 0; i < programs.size(); ++i)
    if (programs[i].manifest.worldSize() == ranks)
      numbers.push_back(i);
  return keepPrograms(programs, numbers);
}

/// Returns the options that must agree because they decide how often ranks meet
/// and what all of them do.
static std::vector<std::string> commonOptions(const Options &options) {
  std::vector<std::string> texts = {options.entry, options.checkpoint,
                                    options.resume, options.evaluationData};
  for (int64_t number :
       {options.repeat, options.warmUp, options.steps, options.saveSteps,
        options.keep, int64_t(!options.trace.empty()),
        options.shuffle ? int64_t(*options.shuffle) : -1})
    texts.push_back(std::to_string(number));
  texts.push_back(std::to_string(options.saveSeconds));
  for (const auto *list : {&options.hyperparameters, &options.ignoring}) {
    texts.push_back(std::to_string(list->size()));
    texts.insert(texts.end(), list->begin(), list->end());
  }
  return texts;
}

/// Returns the properties that must be equal on all ranks.
static TcpIdentity identityOf(const std::vector<Program> &programs,
                              const Options &options,
                              const LaunchPlace &place) {
  TcpIdentity identity;
  identity.world = place.world;
  identity.run = place.run;
  identity.isNamed = place.isNamed;
  identity.timeoutSeconds = options.timeoutSeconds;
  ContentHash hash;
  for (const Program &program : programs)
    hash.add(&program.checksum, sizeof(program.checksum));
  for (const std::string &text : commonOptions(options))
    hash.add(text.c_str(), text.size() + 1);
  identity.program = hash.value();
  return identity;
}

/// Returns " in or after op 'X' (KIND)" for the number of an op, or "".
static std::string describeOp(const Run &run, int op) {
  const Manifest &manifest = run.program.manifest;
  return op < 0 ? ""
                : std::string(" in or after op '") + manifest.opName(op) +
                      "' (" + manifest.opKind(op) + ")";
}

/// The hub, of rank 0, and this rank's connection to it.
class JoinedRanks::Connection {
public:
  Connection(const Run &run, const TcpIdentity &identity)
      : hub(identity, {[this, &run](int rank, int op) {
                         if (!isPrepared.load())
                           return std::string();
                         return run.sharesMemory ? run.whereIs(rank)
                                                 : describeOp(run, op);
                       },
                       [this, &run](int rank) {
                         return isPrepared.load() ? mostResultBytes(run, rank)
                                                  : 0;
                       }}),
        fabric(std::make_shared<TcpFabric>(identity, run.place.rank)) {}

  /// Is set once the hub may read the run.
  std::atomic<bool> isPrepared{false};
  TcpHub hub;
  std::shared_ptr<TcpFabric> fabric;
};

JoinedRanks::JoinedRanks(Run &run, Options &options)
    : run(run), options(options) {}

JoinedRanks::~JoinedRanks() { run.joined.reset(); }

//===----------------------------------------------------------------------===//
// Meeting
//===----------------------------------------------------------------------===//

/// Other ranks find it at the next port too, but so may whoever has the first.
static Status startHub(TcpHub &hub, const LaunchPlace &place) {
  std::string warning;
  APRT_TRY(hub.start(place.port, listenAddress(place, warning)));
  if (!warning.empty())
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  if (place.isNamed && hub.port() != place.port)
    std::fprintf(stderr,
                 "warning: port %d is another process's; ranks meet at port "
                 "%d (MASTER_PORT says which is the first to try)\n",
                 place.port, hub.port());
  return Status::success();
}

Status JoinedRanks::meet(const std::vector<Program> &programs) {
  LaunchPlace &place = run.place;
  // A launcher may have several agents on a host.
  bool isCpu = programs.front().manifest.target == Target::Cpu;
  if (isCpu) {
    place.localRank = place.rank;
    place.localSize = place.world;
  }
  connection =
      std::make_unique<Connection>(run, identityOf(programs, options, place));
  bool isFirst = place.rank == 0;
  TcpHub &hub = connection->hub;
  if (isFirst)
    APRT_TRY(startHub(hub, place));
  APRT_TRY(connection->fabric->join(isFirst ? hub.host() : place.host,
                                    isFirst ? hub.port() : place.port));
  return isCpu ? findCores() : Status::success();
}

/// A launcher may have given each rank cores of its own, or some to several.
Status JoinedRanks::findCores() {
  LaunchPlace &place = run.place;
  std::vector<cpu_set_t> sets(size_t(place.world));
  static_assert(sizeof(cpu_set_t) <= RankFabric::maxShared);
  sched_getaffinity(0, sizeof(cpu_set_t), &sets[size_t(place.rank)]);
  for (int rank = 0; rank < place.world; ++rank)
    APRT_TRY(connection->fabric->share(rank, &sets[size_t(rank)],
                                       sizeof(cpu_set_t)));
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const cpu_set_t &set : sets) {
    cpu_set_t common;
    CPU_AND(&common, &set, &sets[size_t(place.rank)]);
    if (CPU_COUNT(&common) == 0)
      continue;
    ++place.sharers;
    CPU_OR(&all, &all, &set);
  }
  place.cores = CPU_COUNT(&all);
  return Status::success();
}

Status JoinedRanks::openCheckpoint(std::vector<std::string> &notes) {
  int64_t step = -1;
  if (run.place.rank == 0) {
    APRT_TRY(run.checkpoints.open(options, notes));
    if (const Checkpoint *resumed = run.checkpoints.resumed())
      step = resumed->step();
  }
  // Rank 0 may read for as long as it takes.
  double waited = 0;
  TcpFabric &fabric = *connection->fabric;
  APRT_TRY(fabric.barrier(/*withDeadline=*/false, waited));
  APRT_TRY(fabric.share(0, &step, sizeof(step)));
  return run.place.rank == 0 ? Status::success()
                             : run.checkpoints.follow(options, step);
}

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

/// Ranks that read other inputs may have chosen another entry.
Status JoinedRanks::agreeOnProgram() {
  ContentHash hash;
  hash.add(&run.program.checksum, sizeof(run.program.checksum));
  if (run.evaluation)
    hash.add(&run.evaluation->program.checksum, sizeof(uint64_t));
  uint64_t mine = hash.value(), first = mine;
  double waited = 0;
  TcpFabric &fabric = *connection->fabric;
  APRT_TRY(fabric.barrier(/*withDeadline=*/false, waited));
  APRT_TRY(fabric.share(0, &first, sizeof(first)));
  return mine == first
             ? Status::success()
             : Status::error("the inputs are of another entry than those of "
                             "rank 0: give all ranks the same");
}

/// Ranks of a CPU program exchange their data in memory, ranks that save
/// checkpoints what they have written, and ranks that evaluate their sums.
Status JoinedRanks::makeMemory() {
  const LaunchPlace &place = run.place;
  run.sharesMemory = run.program.manifest.target == Target::Cpu ||
                     run.checkpoints.folder() || run.evaluation;
  if (!run.sharesMemory)
    return run.prepare(memory);
  HostMemory first;
  if (place.rank == 0) {
    APRT_TRY(memory.createFile());
    APRT_TRY(run.prepare(memory));
    first = describeMemory(memory.descriptor(), memory.size());
  }
  APRT_TRY(connection->fabric->share(0, &first, sizeof(first)));
  if (place.rank == 0)
    return Status::success();
  APRT_TRY(attachMemory(first, place.rank, memory));
  APRT_TRY(run.prepare(memory));
  return memory.size() == first.bytes
             ? Status::success()
             : Status::error("the memory of rank 0 is of another program");
}

/// Rank 0 writes the results: what it is asked for is what all bring it.
Status JoinedRanks::agreeOnResults() {
  std::vector<char> asked;
  for (const RunResult &result : run.results)
    asked.push_back(result.wanted);
  constexpr size_t most = size_t(RankFabric::maxShared);
  for (size_t at = 0; at < asked.size(); at += most)
    APRT_TRY(connection->fabric->share(
        0, &asked[at], int64_t(std::min(most, asked.size() - at))));
  return run.place.rank == 0 ? Status::success()
                             : run.want({asked.begin(), asked.end()});
}

Status JoinedRanks::prepare() {
  APRT_TRY(agreeOnProgram());
  APRT_TRY(makeMemory());
  APRT_TRY(agreeOnResults());
  connection->isPrepared.store(true);
  run.joined = connection->fabric;
  run.joined->watch(run.record(run.place.rank).currentOp,
                    [this] { run.endWaits(); });
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Collects the results of all ranks on rank 0.
Status JoinedRanks::collect() {
  std::vector<std::string> results;
  APRT_TRY(connection->hub.waitForResults(results));
  for (int rank = 1; rank < run.place.world; ++rank)
    APRT_TRY(unpackResult(run, rank, results[size_t(rank)]));
  connection->hub.finish();
  return Status::success();
}

Status JoinedRanks::execute(SignalWatch &watch) {
  int rank = run.place.rank;
  APRT_TRY(watch.start());
  if (!runRank(run, rank))
    return Status::error(run.record(rank).message);
  if (rank == 0)
    APRT_TRY(collect());
  return connection->fabric->deliver(rank == 0 ? "" : packResult(run, rank));
}

/// The rank that failed first reports the failure, and so does rank 0.
std::string JoinedRanks::fail(const Status &status) {
  if (!connection)
    return status.message();
  std::string own = status.message(),
              who = "rank " + std::to_string(run.place.rank);
  if (own.compare(0, 5, "rank ") != 0)
    own = who + ": " + own;
  TcpFabric &fabric = *connection->fabric;
  fabric.fail(own);
  bool tellsIt = false;
  std::string first = fabric.failure(tellsIt);
  if (first.empty())
    return status.message();
  return tellsIt ? first : "";
}

} // namespace autopar::runtime
