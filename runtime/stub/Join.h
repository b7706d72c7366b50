//===- Join.h - Ranks that a launcher starts --------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_JOIN_H
#define AUTOPAR_RUNTIME_STUB_JOIN_H

#include "../session/LaunchPlace.h"
#include "Run.h"
#include "SignalWatch.h"

namespace autopar::runtime {

/// Keeps the programs for `ranks` ranks, or for any number if it is 0. If a
/// launcher has started this process, it keeps those for the number of
/// processes that the launcher started. A failure says how to start the
/// program.
Status keepRanks(std::vector<Program> &programs, int64_t ranks,
                 const LaunchPlace &place);

/// The ranks that a launcher started, as seen by the process of one of them.
/// All ranks make the same calls in the same order.
class JoinedRanks {
public:
  /// `run` and `options` must outlive this.
  JoinedRanks(Run &run, Options &options);
  ~JoinedRanks();

  /// Finds all other ranks, which must have these programs and the same
  /// options.
  Status meet(const std::vector<Program> &programs);
  /// Opens the checkpoint that all ranks resume from. Rank 0 chooses it and
  /// locks the folder. `notes` receives messages for the user.
  Status openCheckpoint(std::vector<std::string> &notes);
  /// Prepares the run. On one host it uses memory shared by all ranks if the
  /// run needs it.
  Status prepare();
  /// Runs this process's rank. Afterwards rank 0 has the results of all ranks.
  Status execute(SignalWatch &watch);
  /// Informs the other ranks that this one failed. Returns this process's
  /// message about the first failure of the run, or an empty text if another
  /// rank reports it.
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
