//===- Join.h - Ranks that a launcher starts --------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_JOIN_H
#define AUTOPAR_RUNTIME_STUB_JOIN_H

#include "../session/LaunchPlace.h"
#include "Run.h"
#include "SignalWatch.h"

namespace autopar::runtime {

/// Whether this program can be one rank of those that `place` tells of; a
/// failure says how to start it.
Status checkLaunchPlace(const Manifest &manifest, const LaunchPlace &place);

/// Runs this process's rank together with the other processes. Rank 0 has
/// everyone's outputs and records afterwards. The exit code; `message` says
/// what went wrong, and is empty where another rank says it.
int joinRanks(Run &run, const LaunchPlace &place, SignalWatch &watch,
              std::string &message);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_JOIN_H
