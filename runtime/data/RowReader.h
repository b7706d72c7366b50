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

/// Reads the rows of a rank's parts in a thread, while steps are computed.
class RowReader {
public:
  /// `steps` is the number of steps. `stream` and `manifest` must outlive this.
  RowReader(const RowStream &stream, const Manifest &manifest, int rank,
            int64_t steps);
  ~RowReader();
  RowReader(const RowReader &) = delete;
  RowReader &operator=(const RowReader &) = delete;

  /// Allocates the memory and begins to read.
  Status start();
  /// Waits at most `seconds` for the rows of a step. `inputs`, in the order of
  /// the manifest's inputs, receives the whole tensors with the rank's rows,
  /// and the input that says which rows count. Inputs that no shard has are
  /// unchanged. Steps must be requested in order. The tensors stay valid until
  /// the second step after it is requested.
  Status await(int64_t step, double seconds, std::vector<const char *> &inputs);

private:
  /// There is a slot for the step that is computed, for the step whose inputs
  /// are fed, and for the one that is read.
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
  // The mutex guards the following members.
  int64_t asked = 0; // the last step that was asked for
  int64_t done = 0;  // so many steps were read
  Status failure;
  bool ends = false;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_DATA_ROWREADER_H
