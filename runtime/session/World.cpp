//===- World.cpp - The ranks of a program on this host --------------------===//

#include "World.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <sched.h>
#include <sys/wait.h>

namespace autopar::runtime {

World::World(const Program &program, const RankOptions &options, World *first)
    : program(program), rankOptions(options), first(first),
      number(first ? first->all.size() : 0) {
  (first ? first : this)->all.push_back(this);
}

/// Returns the number of cores that this process and the ranks that share them
/// may use.
static int availableCores(const World &world) {
  if (world.place.cores > 0)
    return world.place.cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// Returns the number of ranks of this host that share cores.
static int ranksHere(const World &world) {
  if (world.place.sharers > 0)
    return world.place.sharers;
  return world.place.isAlone() ? world.worldSize() : world.place.localSize;
}

std::string World::sharedCores() const {
  int ranks = ranksHere(*this), cores = availableCores(*this);
  if (program.manifest.target != Target::Cpu || threads * ranks <= cores)
    return "";
  auto count = [](int number, const std::string &what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  return count(ranks, "rank") + " x " + count(threads, "thread") +
         " share this host's " + count(cores, "core") +
         ": they take turns, and a step takes longer than predicted for a core "
         "each";
}

Status World::create(SharedMemory &shared) {
  int world = worldSize();
  int here = ranksHere(*this);
  int cores = availableCores(*this);
  threads = rankOptions.threads > 0
                ? int(std::min<int64_t>(rankOptions.threads, 1024))
                : std::max(1, cores / here);
  spin = threads * here <= cores;
  // GPUs exchange data themselves.
  bool stagesData = program.manifest.target == Target::Cpu;
  if (first)
    return fabric.create(program.manifest, shared, stagesData);
  APRT_TRY(shared.take(world * int64_t(sizeof(RankRecord)),
                       "the ranks' records", records));
  for (int rank = 0; shared.isNew() && rank < world; ++rank)
    new (&record(rank)) RankRecord();
  APRT_TRY(shared.take(sizeof(int32_t), "the failure flag", failure));
  if (shared.isNew())
    new (failure.data()) std::atomic<int32_t>(-1);
  return fabric.create(program.manifest, shared, stagesData);
}

std::string howItEnded(int status) {
  if (!WIFSIGNALED(status))
    return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  int signal = WTERMSIG(status);
  return "was killed by signal " + std::to_string(signal) + " (" +
         strsignal(signal) + ")";
}

std::string World::whereIs(int rank) const {
  const RankRecord &record = this->record(rank);
  int op = record.currentOp.load();
  size_t working = size_t(record.currentEntry.load());
  const Manifest &manifest =
      entries()[std::min(working, entries().size() - 1)]->program.manifest;
  return op < 0 ? ""
                : std::string(" in or after op '") + manifest.opName(op) +
                      "' (" + manifest.opKind(op) + ")";
}

void World::died(int rank, const std::string &how) {
  RankRecord &record = this->record(rank);
  std::snprintf(record.message, sizeof(record.message), "rank %d %s%s", rank,
                how.c_str(), whereIs(rank).c_str());
  record.failed.store(1);
  abort(rank);
}

void World::abort(int rank) {
  int32_t none = -1;
  firstFailure().compare_exchange_strong(none, rank);
  // All have heard of the failure before their waits end because of it.
  if (joined)
    joined->fail(record(rank).message);
  endWaits();
}

void World::endWaits() {
  for (World *world : entries())
    world->fabric.aborted().store(1);
}

} // namespace autopar::runtime
