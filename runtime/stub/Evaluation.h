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

/// The evaluation of a run's training. It has the program's entry that shares
/// the states of the training, and the rows to evaluate.
class RunEvaluation {
public:
  /// Takes the program, opens the rows of `data` and the weights.
  Status open(Program taken, const std::string &data);
  /// Makes its world in memory that all ranks share. `training`, whose records
  /// it uses, must outlive it.
  Status prepare(World &training, SharedMemory &shared);

  const Evaluation &about() const { return *program.manifest.evaluation; }
  /// Returns the memory of an output that metrics are computed from, with room
  /// for two steps. It is null for other outputs.
  char *result(size_t output, int64_t step) const;

  /// The verdict on an evaluation. Rank 0 writes it; the others read it after a
  /// barrier.
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
  /// `common` has what this entry shares with the entry that trains on the same
  /// rank.
  RankEvaluation(RunEvaluation &run, int worldRank, RankCommon &common)
      : run(run), worldRank(worldRank), rank(*run.world, worldRank, &common) {}

  /// Loads the entry after the entry that trains. It reuses what that one has
  /// loaded.
  Status load();
  /// Waits for all ranks and evaluates all rows with the current states. On
  /// rank 0 it computes the value of each metric.
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
  /// `place` is the best evaluation of the runs before; `rows` is the
  /// Shards::hash() of what is evaluated.
  BestEvaluation(const Evaluation &about, std::optional<BestPlace> place,
                 uint64_t rows)
      : about(about), best(std::move(place)), rows(rows) {}

  /// Judges an evaluation after `steps` steps. An evaluation that is not due,
  /// at the end of a run, may be the best, but it does not count towards the
  /// patience. Thus a training that stops and resumes ends at the same step as
  /// an uninterrupted one.
  RunEvaluation::Verdict judge(const std::vector<double> &values, int64_t steps,
                               bool isDue);
  const std::optional<BestPlace> &place() const { return best; }

private:
  const Evaluation &about;
  std::optional<BestPlace> best;
  const uint64_t rows;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_EVALUATION_H
