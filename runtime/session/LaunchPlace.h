//===- LaunchPlace.h - What a launcher says about a process -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_LAUNCHPLACE_H
#define AUTOPAR_RUNTIME_SESSION_LAUNCHPLACE_H

#include "../core/Status.h"

#include <string>

namespace autopar::runtime {

/// This process's place among those that torchrun, mpirun or srun started.
struct LaunchPlace {
  std::string launcher; // empty: started alone
  std::string sizeName; // the variable that tells `world`
  int rank = 0;
  int world = 1;
  int localRank = 0; // on its host
  int localSize = 1;
  bool isLocal = false; // the launcher says that all ranks are on this host
  bool isOnly = false;  // alone, for torchrun has started no other one
  // The ranks that may use a core that this one may use, this one too, and all
  // of their cores; 0: as many as are on the host.
  int sharers = 0, cores = 0;
  std::string host; // of rank 0
  int port = 0;
  std::string run;      // what the launcher calls this run, and the port
  bool isNamed = false; // whether `run` is that of no other one

  bool isAlone() const { return launcher.empty(); }
};

/// Reads the place from the environment. A launcher of one process does not
/// count.
Status findLaunchPlace(LaunchPlace &place);

/// Returns the address at which rank 0 listens, or "" for all addresses of this
/// host. If every rank is on this host, other hosts cannot reach it. Otherwise
/// it is the address of MASTER_ADDR; `warning` is set if other hosts could not
/// reach that.
std::string listenAddress(const LaunchPlace &place, std::string &warning);

/// Returns the first host of a list as Slurm writes it: "gpu[003-006,9],x" ->
/// "gpu003".
std::string firstHost(const std::string &list);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_LAUNCHPLACE_H
