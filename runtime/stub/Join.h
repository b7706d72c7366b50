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

/// The ranks that a launcher started, in the process of one of them. All of
/// them call the same in the same order, from their programs to their results.
class JoinedRanks {
public:
  /// Both must outlive it.
  JoinedRanks(Run &run, Options &options);
  ~JoinedRanks();

  /// Finds all other ranks, which must have these programs and the same
  /// options.
  Status meet(const std::vector<Program> &programs);
  /// Opens the checkpoint that all go on from: rank 0 chooses it, and holds the
  /// folder. `notes` is what a person is told.
  Status openCheckpoint(std::vector<std::string> &notes);
  /// Prepares the run: on one host in memory that all ranks have, if it needs
  /// such.
  Status prepare();
  /// Runs this process's rank. Rank 0 has everyone's results afterwards.
  Status execute(SignalWatch &watch);
  /// Tells the others that this one failed. What this process says of the
  /// run's first failure; empty where another rank says it.
  std::string fail(const Status &status);

private:
  class Connection;
  Status findCores();
  Status makeMemory();
  Status agreeOnProgram();
  Status agreeOnResults();
  Status collect();

  Run &run;
  Options &options;
  SharedMemory memory; // rank 0 keeps it open for the others
  std::unique_ptr<Connection> connection;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_JOIN_H
