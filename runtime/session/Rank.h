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

/// A tensor in the host's memory. A device may keep `memory`, which contains
/// the tensor, registered as long as there are steps.
struct HostTensor {
  char *data = nullptr; // null: not wanted
  char *memory = nullptr;
  int64_t memoryBytes = 0;
};

/// The whole tensors in the host's memory that a step reads and writes. Each
/// rank uses its parts of them.
struct StepData {
  std::vector<const char *> inputs; // by manifest.inputs
  std::vector<HostTensor> results;  // by resultPorts()
  std::string where; // begins messages about it: "step 3: "; may be empty
};

/// One rank of a program. Its owner makes all ranks perform the same calls in
/// the same order: load, prepare, steps, end.
class Rank {
public:
  /// `world` must outlive this, and so must `common`, which the rank's entries
  /// share. It is null if there is only one entry.
  Rank(World &world, int worldRank, RankCommon *common = nullptr);

  /// Makes the device and the transport.
  Status open();
  /// Loads the opened weights and runs setup. States begin with the arrays of
  /// `states` or as they ended in `resumed`; either may be null.
  Status load(WeightFiles weights, const NamedArrays *states,
              const Checkpoint *resumed = nullptr);
  /// Finds the parts of inputs and of those results that steps may deliver.
  Status prepare(const std::vector<bool> &wanted);
  /// Returns a hash of the files that the weights were read from.
  uint64_t source() const;
  /// Checks, after all ranks have loaded, that no file has changed since.
  Status checkFiles();

  /// Gives the device the inputs of the first micro-batch of the next step.
  Status feed(const StepData &data);
  /// Runs one step whose first inputs were fed: every micro-batch with its
  /// inputs and results. `next` is the step whose first inputs it feeds, or
  /// null.
  Status step(const StepData &data, const StepData *next);
  /// Collects the results that are states, as the last step left them.
  Status collectStates(const StepData &data);
  /// Copy the rank's part of a persistent tensor that is a state, from or to
  /// the host's whole tensor.
  Status readState(int index, void *whole);
  Status writeState(int index, const void *whole);
  /// Reads the block of a state that the rank saves, dense and as the last step
  /// left it.
  Status readBlock(const SavedBlock &saved, void *to);
  /// Ends the rank after the last step. It waits for the other ranks, with a
  /// deadline unless steps overlap.
  Status end();

  /// Records the failure in the rank's record, unless a call of the program has
  /// recorded a better message, and ends all ranks' waits.
  void fail(const Status &status);

  /// Returns the context, which is null before open().
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

  /// An input that a rank reads directly from the host's memory.
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
