//===- Join.h - Ranks that a launcher starts --------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_JOIN_H
#define AUTOPAR_RUNTIME_STUB_JOIN_H

#include "../session/LaunchPlace.h"
#include "Run.h"
#include "SignalWatch.h"

namespace autopar::runtime {

/// Leaves the programs for `ranks` ranks (0: for any number), and where a
/// launcher has started this process for as many as it did. A failure says how
/// to start the program.
Status keepRanks(std::vector<Program> &programs, int64_t ranks,
                 const LaunchPlace &place);

/// Runs this process's rank together with the other processes. Rank 0 has
/// everyone's outputs and records afterwards. The exit code; `message` says
/// what went wrong, and is empty where another rank says it.
int joinRanks(Run &run, const LaunchPlace &place, SignalWatch &watch,
              std::string &message);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_JOIN_H
