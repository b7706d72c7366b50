//===- LaunchPlace.cpp - What a launcher says about a process -------------===//

#include "LaunchPlace.h"

#include "../transport/Socket.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace autopar::runtime {

namespace {
/// The variables in which a launcher tells a process its place.
struct LauncherRow {
  const char *name;
  const char *size, *rank, *localRank, *localSize;
  std::vector<const char *> run; // which run it is
};
} // namespace

/// The first whose size is there and above 1 counts: torchrun under srun is
/// torchrun. Agents of torchrun count their restarts each on its own, so that
/// the count names no run.
static const std::vector<LauncherRow> &launchers() {
  static const std::vector<LauncherRow> rows = {
      {"torchrun",
       "WORLD_SIZE",
       "RANK",
       "LOCAL_RANK",
       "LOCAL_WORLD_SIZE",
       {"TORCHELASTIC_RUN_ID"}},
      {"mpirun",
       "OMPI_COMM_WORLD_SIZE",
       "OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_LOCAL_RANK",
       "OMPI_COMM_WORLD_LOCAL_SIZE",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
      // mpirun of Hydra starts its proxies by srun: then the step has a task
      // per host, and the local rank is there.
      {"mpirun",
       "PMI_SIZE",
       "PMI_RANK",
       "MPI_LOCALRANKID",
       "MPI_LOCALNRANKS",
       {"PMI_JOBID", "HYDRA_JOBID"}},
      {"srun",
       "SLURM_STEP_NUM_TASKS",
       "SLURM_PROCID",
       "SLURM_LOCALID",
       "SLURM_NTASKS_PER_NODE",
       {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
      // Set in scripts of sbatch too, where no srun is; see findLauncher.
      {"srun",
       "SLURM_NTASKS",
       "SLURM_PROCID",
       "SLURM_LOCALID",
       "SLURM_NTASKS_PER_NODE",
       {"SLURM_JOB_ID", "SLURM_STEP_ID"}}};
  return rows;
}

static std::string text(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Reads the number in a variable, or uses `missing` if it is not set. It fails
/// if the value is not a number.
static Status number(const char *name, int missing, int &value) {
  std::string given = text(name);
  value = missing;
  if (given.empty())
    return Status::success();
  char *end = nullptr;
  long parsed = std::strtol(given.c_str(), &end, 10);
  if (*end || parsed < 0 || parsed > 1 << 24)
    return Status::error(std::string("the environment's ") + name + " is '" +
                         given + "', not a number");
  value = int(parsed);
  return Status::success();
}

std::string firstHost(const std::string &list) {
  std::string host;
  for (size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      host += list[i];
      continue;
    }
    size_t end = list.find_first_of(",-]", i + 1);
    host += list.substr(i + 1, end == std::string::npos ? end : end - i - 1);
    i = list.find(']', i);
    if (i == std::string::npos)
      break;
  }
  return host;
}

/// Returns whether a row's variables belong to another launcher. These are the
/// variables of a Slurm step in sbatch scripts, and those of PMI under srun
/// --mpi=pmi2, which do not contain the local rank.
static bool isOther(const LauncherRow &row) {
  std::string size = row.size;
  if (size == "SLURM_NTASKS")
    return text("MASTER_ADDR").empty();
  return size == "PMI_SIZE" && text(row.localRank).empty() &&
         !text("SLURM_STEP_NUM_TASKS").empty();
}

static const LauncherRow *findLauncher(int &world, Status &status) {
  for (const LauncherRow &row : launchers()) {
    status = number(row.size, 0, world);
    if (status.failed() || (world > 1 && !isOther(row)))
      return &row;
  }
  return nullptr;
}

/// Returns a port that the ranks of a run agree on without communication.
static int portOf(const std::string &run) {
  uint32_t hash = 2166136261u; // FNV-1a
  for (char letter : run)
    hash = (hash ^ uint8_t(letter)) * 16777619u;
  return 20000 + int(hash % 10000);
}

static Status findHost(LaunchPlace &place) {
  place.host = text("MASTER_ADDR");
  for (const char *name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
    if (place.host.empty() && place.launcher == "srun")
      place.host = firstHost(text(name));
  // Whatever MASTER_ADDR says: rank 0 listens nowhere else then.
  if (place.isLocal || (place.host.empty() && place.localSize == place.world))
    place.host = "127.0.0.1";
  if (place.host.empty())
    return Status::error(place.launcher + " does not say where rank 0 is: set "
                                          "MASTER_ADDR to its host for all "
                                          "ranks (mpirun -x MASTER_ADDR=HOST)");
  APRT_TRY(number("MASTER_PORT", 0, place.port));
  // The port itself is taken by torchrun's own store.
  if (text("TORCHELASTIC_USE_AGENT_STORE") == "True" && place.port > 0)
    ++place.port;
  if (place.port == 0)
    place.port = portOf(place.run);
  if (place.port > 65535 - 64)
    return Status::error("the environment's MASTER_PORT is " +
                         std::to_string(place.port) + ", which is too high");
  return Status::success();
}

/// Returns whether a host is named by the loopback name or address, which every
/// host uses for itself.
static bool saysLoopback(const std::string &host) {
  return host == "localhost" || isLoopback(host);
}

std::string listenAddress(const LaunchPlace &place, std::string &warning) {
  std::string address = Socket::ownAddress(place.host);
  bool mayBeLocal = place.localSize == place.world;
  if (!address.empty() &&
      (!isLoopback(address) || (mayBeLocal && saysLoopback(place.host))))
    return address;
  warning = "'" + place.host + "', where ranks look for rank 0, is " +
            (address.empty() ? "no address of this host"
                             : address + " on this host, where other hosts "
                                         "cannot reach it") +
            "; rank 0 listens at all of this host's addresses. Set MASTER_ADDR "
            "to the address of one interface to listen there alone";
  return "";
}

Status findLaunchPlace(LaunchPlace &place) {
  Status status;
  int world = 0;
  const LauncherRow *row = findLauncher(world, status);
  APRT_TRY(status);
  place.isOnly = !row && !text("TORCHELASTIC_RUN_ID").empty();
  if (!row)
    return Status::success();
  place.launcher = row->name;
  place.sizeName = row->size;
  place.world = world;
  APRT_TRY(number(row->rank, -1, place.rank));
  APRT_TRY(number(row->localRank, -1, place.localRank));
  APRT_TRY(number(row->localSize, world, place.localSize));
  place.isLocal = !text(row->localSize).empty() && place.localSize == world;
  if (place.rank < 0 || place.rank >= world || place.localRank < 0)
    return Status::error(
        std::string(row->size) + " says that " + row->name + " started " +
        std::to_string(world) + " processes, but " + row->rank + " and " +
        row->localRank + " do not say which one this is: start it with " +
        row->name + ", or without these variables for a run on its own");
  place.isNamed = !text("MASTER_PORT").empty();
  for (const char *name : row->run) {
    place.isNamed |= !text(name).empty();
    place.run += text(name) + ".";
  }
  APRT_TRY(findHost(place));
  // Not the host: ranks may know it by different names.
  place.run += std::to_string(place.port);
  return Status::success();
}

} // namespace autopar::runtime
