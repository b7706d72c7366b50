//===- Join.cpp - Ranks that a launcher starts ----------------------------===//

#include "Join.h"

#include "../files/ContentHash.h"
#include "../transport/TcpFabric.h"
#include "RankResult.h"

#include <algorithm>
#include <cstdio>

namespace autopar::runtime {

/// Fails unless this process can be one rank of those that a launcher started.
static Status checkLauncher(const std::vector<Program> &programs, int64_t ranks,
                            const LaunchPlace &place) {
  std::string started = place.launcher + " started " +
                        std::to_string(place.world) + " processes (" +
                        place.sizeName + ")";
  if (programs.front().manifest.target == Target::Cpu)
    return Status::error(
        started + ", but ranks of a CPU program do not join a launcher yet. "
                  "Run the executable alone, ./EXE: it starts its own ranks "
                  "on this host");
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
  if (ranks == 0)
    return Status::success();
  APRT_TRY(checkRanks(programs, ranks));
  std::vector<size_t> numbers;
  for (size_t i = 0; i < programs.size(); ++i)
    if (programs[i].manifest.worldSize() == ranks)
      numbers.push_back(i);
  return keepPrograms(programs, numbers);
}

/// All ranks must have these alike: the program, the options that decide how
/// often they meet, and the hyperparameters.
static TcpIdentity identityOf(const Run &run, const LaunchPlace &place) {
  TcpIdentity identity;
  identity.world = place.world;
  identity.run = place.run;
  identity.isNamed = place.isNamed;
  identity.timeoutSeconds = run.options.timeoutSeconds;
  identity.program = run.program.checksum;
  for (int64_t value : {run.options.repeat, run.options.warmUp,
                        int64_t(!run.options.trace.empty())})
    identity.program = identity.program * 0x100000001b3u + uint64_t(value);
  ContentHash hyperparameters;
  for (const std::string &text : run.options.hyperparameters)
    hyperparameters.add(text.c_str(), text.size() + 1);
  if (!run.options.hyperparameters.empty())
    identity.program ^= hyperparameters.value();
  return identity;
}

namespace {
/// This process's part, from the first connection to the last.
class JoinedRank {
public:
  JoinedRank(Run &run, const LaunchPlace &place)
      : run(run), place(place),
        hub(identityOf(run, place),
            {[&run](int op) { return describeOp(run, op); },
             [&run](int rank) { return mostResultBytes(run, rank); }}),
        fabric(std::make_shared<TcpFabric>(identityOf(run, place), place.rank,
                                           run.record(place.rank).currentOp)) {}

  Status execute();
  /// The first failure of the run.
  std::string failure(bool &alone) { return fabric->failure(alone); }

private:
  static std::string describeOp(const Run &run, int op) {
    const Manifest &manifest = run.program.manifest;
    return op < 0 ? ""
                  : std::string(" in or after op '") + manifest.opName(op) +
                        "' (" + manifest.opKind(op) + ")";
  }
  Status startHub();
  Status agreeOnResults();
  Status collect();

  Run &run;
  const LaunchPlace &place;
  TcpHub hub; // of rank 0
  std::shared_ptr<TcpFabric> fabric;
};
} // namespace

/// Other ranks find it at the next port too, but so may whoever has the first.
Status JoinedRank::startHub() {
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

/// Rank 0 writes the results: what it is asked for is what all bring it.
Status JoinedRank::agreeOnResults() {
  std::vector<char> asked;
  for (const RunResult &result : run.results)
    asked.push_back(result.wanted);
  constexpr size_t most = size_t(RankFabric::maxShared);
  for (size_t at = 0; at < asked.size(); at += most)
    APRT_TRY(fabric->share(0, &asked[at],
                           int64_t(std::min(most, asked.size() - at))));
  if (place.rank == 0)
    return Status::success();
  Status status = run.want({asked.begin(), asked.end()});
  if (status.failed())
    fabric->fail("rank " + std::to_string(place.rank) + ": " +
                 status.message());
  return status;
}

/// Everyone's results, on rank 0.
Status JoinedRank::collect() {
  std::vector<std::string> results;
  APRT_TRY(hub.waitForResults(results));
  for (int rank = 1; rank < place.world; ++rank)
    APRT_TRY(unpackResult(run, rank, results[size_t(rank)]));
  hub.finish();
  return Status::success();
}

Status JoinedRank::execute() {
  bool isFirst = place.rank == 0;
  if (isFirst)
    APRT_TRY(startHub());
  APRT_TRY(fabric->join(isFirst ? hub.host() : place.host,
                        isFirst ? hub.port() : place.port));
  APRT_TRY(agreeOnResults());
  run.joined = fabric;
  bool ran = runRank(run, place.rank);
  run.joined.reset();
  if (!ran)
    return Status::error(run.record(place.rank).message);
  if (isFirst)
    APRT_TRY(collect());
  return fabric->deliver(isFirst ? "" : packResult(run, place.rank));
}

int joinRanks(Run &run, const LaunchPlace &place, SignalWatch &watch,
              std::string &message) {
  JoinedRank rank(run, place);
  Status status = watch.start();
  if (status.ok())
    status = rank.execute();
  if (status.ok())
    return 0;
  // The rank that failed first tells it, and rank 0.
  bool alone = false;
  std::string first = rank.failure(alone);
  bool mine = first.empty() || first == status.message();
  if (mine || alone || place.rank == 0)
    message = first.empty() ? status.message() : first;
  return 1;
}

} // namespace autopar::runtime
