//===- Run.h - One execution of a program -----------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_RUN_H
#define AUTOPAR_RUNTIME_STUB_RUN_H

#include "../core/Memory.h"
#include "../core/Npy.h"
#include "../core/WeightFiles.h"
#include "../data/RowReader.h"
#include "../session/HeldPorts.h"
#include "../session/World.h"
#include "EndRequest.h"
#include "Evaluation.h"
#include "Options.h"
#include "RunCheckpoints.h"

#include <memory>
#include <vector>

namespace autopar::runtime {

/// A tensor that the ranks bring out of a run.
struct RunResult : ResultPort {
  bool wanted = false;
  Buffer tensor; // shared, of all its steps; unless it is wanted, empty
};

/// The ranks with their inputs and results as the command line asks for them.
/// It is made before the fork. Ranks write the shared parts and only read the
/// rest.
class Run : public World {
public:
  Run(const Program &program, const Options &options)
      : World(program, options), options(options) {}

  /// Makes the world, in memory that its ranks share, and the results, in
  /// memory that is shared with processes that are forked later.
  Status prepare(SharedMemory &shared);
  /// Selects the wanted results and allocates memory for them.
  Status want(const std::vector<bool> &chosen);

  /// Returns the number of steps with outputs of their own.
  int64_t dataSteps() const { return options.steps > 0 ? options.steps : 1; }
  /// Returns the number of steps of this run and of those before it.
  int64_t allSteps() const { return options.firstStep + stepsTaken(); }
  /// Returns the number of measured steps that the ranks took.
  int64_t stepsTaken() const { return record(place.rank).steps; }
  /// Returns the scalar that a training step reports in this role, or NaN if
  /// there is none.
  double scalar(OutputRole role, int64_t step) const;
  /// Returns the number of steps of which a result is kept.
  int64_t stepsOf(const RunResult &result) const {
    return result.when == RunResult::EveryStep ? dataSteps() : 1;
  }
  /// Return the tensor of an input or of a wanted result in a step.
  const char *input(size_t index, int64_t step) const;
  char *result(size_t index, int64_t step) const;
  /// Return which results are wanted, and the parts of these that a rank
  /// delivers.
  std::vector<bool> wanted() const;
  std::vector<LocalPort> partsOfRank(int rank) const;
  /// Returns the bytes of the inputs and of a rank's parts of the wanted
  /// results.
  int64_t portBytes(int rank) const;

  /// Returns the seconds of measured step `step` on a rank.
  double &stepSeconds(int rank, int64_t step) const {
    return static_cast<double *>(seconds.data())[rank * options.repeat + step];
  }
  TraceEvent *trace(int rank) const {
    return traces.empty() ? nullptr
                          : static_cast<TraceEvent *>(traces[rank].data());
  }
  static constexpr int64_t traceCapacity = 1 << 18;

  const Options &options;
  std::vector<Array> inputs;      // by manifest.inputs
  RowStream rows;                 // of inputs whose arrays are empty
  NamedArrays states;             // that are given, as they begin
  WeightFiles weights;            // opened once for all ranks of this process
  std::vector<RunResult> results; // by resultPorts()
  EndRequest endRequest;
  std::unique_ptr<RunEvaluation> evaluation; // null: there is none
  RunCheckpoints checkpoints;

private:
  Buffer seconds;
  std::vector<Buffer> traces; // by rank; empty: no --trace
};

/// Runs one rank. If it fails, its record has the message and the function
/// returns false.
bool runRank(Run &run, int rank);

class SignalWatch;

/// Runs all ranks, one process each (a single one in this process), and waits
/// for them. `watch` is started when they have been forked. Returns the exit
/// code of the program; `message` describes a failure.
int launchRanks(Run &run, SignalWatch &watch, std::string &message);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_RUN_H
