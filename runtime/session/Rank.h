//===- Rank.h - One rank, from its weights to its last step -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_RANK_H
#define AUTOPAR_RUNTIME_SESSION_RANK_H

#include "../checkpoint/SavedBlocks.h"
#include "../core/RankContext.h"
#include "../files/FileStamp.h"
#include "HeldPorts.h"
#include "RankCommon.h"
#include "World.h"

#include <memory>
#include <vector>

namespace autopar::runtime {

/// A tensor in the host's memory. A device may keep `memory`, which has the
/// tensor in it, at hand for as long as there are steps.
struct HostTensor {
  char *data = nullptr; // null: not wanted
  char *memory = nullptr;
  int64_t memoryBytes = 0;
};

/// A step reads and writes these whole tensors in the host's memory; each rank
/// takes its parts of them.
struct StepData {
  std::vector<const char *> inputs; // by manifest.inputs
  std::vector<HostTensor> results;  // by resultPorts()
  std::string where; // begins messages about it: "step 3: "; may be empty
};

/// One rank of a program. Its owner has all ranks do the same in the same
/// order: load, prepare, then steps, then end.
class Rank {
public:
  /// `world` must outlive it, and so must `common`, what the rank's other
  /// entries have (null: there are none).
  Rank(World &world, int worldRank, RankCommon *common = nullptr);

  /// Makes device and transport.
  Status open();
  /// Loads the opened weights and runs setup. States of which `states` (it may
  /// be null) has arrays begin as they say.
  /// States of `resumed` (it may be null) begin as they ended there.
  Status load(WeightFiles weights, const NamedArrays *states,
              const Checkpoint *resumed = nullptr);
  /// Finds the parts of inputs and of those results that steps may deliver.
  Status prepare(const std::vector<bool> &wanted);
  /// A hash of the files that the weights were read from.
  uint64_t source() const;
  /// All ranks have loaded: fails if a file has changed until now.
  Status checkFiles();

  /// Gives the device the inputs of the first micro-batch of the next step.
  Status feed(const StepData &data);
  /// One step, whose first inputs were fed: every micro-batch with its inputs
  /// and results. `next`: the step whose first inputs it feeds, or null.
  Status step(const StepData &data, const StepData *next);
  /// Results that are states, as the last step left them.
  Status collectStates(const StepData &data);
  /// The rank's part of a persistent tensor that is a state, from and to where
  /// the host has the whole tensor.
  Status readState(int index, void *whole);
  Status writeState(int index, const void *whole);
  /// The block of a state that the rank saves: as the last step left it, dense.
  Status readBlock(const SavedBlock &saved, void *to);
  /// Ends the rank after the last step. It waits for the other ranks, with a
  /// deadline unless steps overlap.
  Status end();

  /// Leaves the failure in the rank's record, where no call of the program has
  /// left a better message, and ends everyone's waits.
  void fail(const Status &status);

  /// Null before open().
  aprt_rank *context() { return rank.get(); }

private:
  Status callStage(aprt_status (*function)(aprt_rank *), const char *what);
  Status compute(const StepData &data, int64_t time);
  Transfer stateTransfer(int index);
  Transfer transfer(const Port &port, const LocalPort &local, int64_t time);
  Transfer result(const StepData &data, const LocalPort &local, int64_t time);
  std::vector<Transfer> inputsOf(const StepData &data, int64_t time);
  std::vector<Transfer> resultsOf(const StepData &data, int64_t time);
  void bringAfterOps(const StepData &data, int64_t time);
  void addChecks(const StepData &data, int64_t time,
                 std::vector<Transfer> &transfers);

  /// A rank reads its parts of this input where the host has them.
  struct HeldInput {
    int64_t persistent = 0;       // index of its tensor
    size_t index = 0;             // of the input
    std::vector<int64_t> offsets; // bytes, by micro-batch
  };

  World &world;
  const Manifest &manifest;
  const int worldRank;
  RankCommon *const common;
  std::unique_ptr<aprt_rank> rank;
  std::vector<ResultPort> ports;
  std::vector<LocalPort> inputs, results, checks;
  std::vector<HeldInput> heldInputs;
  std::vector<int64_t> bytesSent; // by the work of each micro-batch
  std::vector<FileStamp> stamps;  // of the weights that were read
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_RANK_H
