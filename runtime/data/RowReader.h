//===- RowReader.h - Rows of shards, read ahead of steps --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_DATA_ROWREADER_H
#define AUTOPAR_RUNTIME_DATA_ROWREADER_H

#include "../core/Manifest.h"
#include "../core/Memory.h"
#include "RowStream.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace autopar::runtime {

/// Reads the rows of a rank's parts by a thread, while steps are computed.
class RowReader {
public:
  /// `steps`: how many there are. `stream` and `manifest` must outlive it.
  RowReader(const RowStream &stream, const Manifest &manifest, int rank,
            int64_t steps);
  ~RowReader();
  RowReader(const RowReader &) = delete;
  RowReader &operator=(const RowReader &) = delete;

  /// Takes the memory and begins to read.
  Status start();
  /// Waits for the rows of a step, at most so long. `inputs`, by the manifest's
  /// inputs, gets the whole tensors in which the rank's rows are, and which
  /// rows count; those that no shard has stay. Steps are asked for in their
  /// order; the tensors are there until those of the second step after it are
  /// asked for.
  Status await(int64_t step, double seconds, std::vector<const char *> &inputs);

private:
  /// A step that is computed, the one whose inputs are fed, one that is read.
  static constexpr int64_t slots = 3;
  struct Input {
    size_t index = 0; // in manifest.inputs
    const Shards::Column *column = nullptr;
    std::vector<char> isNeeded; // by row of a step
    char *tensors[slots] = {};
  };
  void findNeeded(Input &input) const;
  Status takeMemory();
  void work();
  Status read(int64_t step);
  Status readInput(Input &input, const RowOrder &order, const StepRows &rows,
                   char *to) const;
  Status check(const Input &input, const RowOrder &order, const StepRows &rows,
               const char *tensor, int64_t step) const;

  const RowStream &stream;
  const Manifest &manifest;
  const int rank;
  const int64_t steps;
  std::vector<Input> inputs;
  Buffer memory; // of all tensors, so that it is large enough for large pages
  std::vector<char> counted; // ones for as many rows as a step has, then zeros
  std::thread thread;

  std::mutex mutex;
  std::condition_variable changed;
  // The mutex guards these:
  int64_t asked = 0; // the last step that was asked for
  int64_t done = 0;  // so many steps were read
  Status failure;
  bool ends = false;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_DATA_ROWREADER_H
