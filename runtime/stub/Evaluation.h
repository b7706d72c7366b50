//===- Evaluation.h - How good the model is, while it trains ----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_EVALUATION_H
#define AUTOPAR_RUNTIME_STUB_EVALUATION_H

#include "../checkpoint/CheckpointFolder.h"
#include "../data/RowReader.h"
#include "../session/Rank.h"
#include "Options.h"

#include <memory>
#include <optional>

namespace autopar::runtime {

/// The evaluation of a run's training: the program's entry that has the states
/// of the training, and its rows.
class RunEvaluation {
public:
  /// Takes the program, opens the rows of `data` and the weights.
  Status open(Program taken, const std::string &data);
  /// Makes its world in memory that all ranks share. `training`, whose records
  /// it uses, must outlive it.
  Status prepare(World &training, SharedMemory &shared);

  const Evaluation &about() const { return *program.manifest.evaluation; }
  /// Two steps of an output that metrics are made of; null for others.
  char *result(size_t output, int64_t step) const;

  /// Rank 0 judges an evaluation; the others read the verdict after a barrier.
  struct Verdict {
    bool isBest = false;   // of all so far
    bool ends = false;     // no evaluation was better for too long
    int64_t bestSteps = 0; // after so many steps was the best one
    double bestValue = 0;
  };
  Verdict &verdict() const {
    return *static_cast<Verdict *>(verdictMemory.data());
  }

  Program program;
  std::unique_ptr<World> world;
  RowStream rows;
  WeightFiles weights; // opened once for all ranks of this process

private:
  std::vector<Buffer> results; // by output
  Buffer verdictMemory;
};

/// A rank's part of evaluations.
class RankEvaluation {
public:
  /// `common` is what the rank has in common with the rank that trains.
  RankEvaluation(RunEvaluation &run, int worldRank, RankCommon &common)
      : run(run), worldRank(worldRank), rank(*run.world, worldRank, &common) {}

  /// Loads the entry after the rank that trains has loaded: what that has is
  /// not loaded again.
  Status load();
  /// Waits for all ranks, evaluates all rows with the states as they are, and
  /// on rank 0 makes a number of each metric.
  Status evaluate(std::vector<double> &values);
  /// Fails if a file that the weights came from has changed since.
  Status checkFiles() { return rank.checkFiles(); }
  /// Ends the entry after the last evaluation, on all ranks.
  Status end() { return rank.end(); }

private:
  Status find(int64_t step, StepData &data);
  Status step(int64_t number, bool isLast);

  RunEvaluation &run;
  const int worldRank;
  Rank rank;
  std::optional<RowReader> reader;
  StepData now, next;
  int64_t taken = 0; // steps of all evaluations
};

/// The best evaluation so far.
class BestEvaluation {
public:
  /// `place`: of the runs before.
  BestEvaluation(const Evaluation &about, std::optional<BestPlace> place)
      : about(about), best(std::move(place)) {}

  /// `steps`: that were taken before it. One that is not due, at the end of a
  /// run, may be the best, but does not bring a training nearer to its end: one
  /// that stops and goes on ends where a whole one does.
  RunEvaluation::Verdict judge(const std::vector<double> &values, int64_t steps,
                               bool isDue);
  const std::optional<BestPlace> &place() const { return best; }

private:
  const Evaluation &about;
  std::optional<BestPlace> best;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_EVALUATION_H
