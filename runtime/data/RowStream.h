//===- RowStream.h - Rows of shards as the samples of steps -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_DATA_ROWSTREAM_H
#define AUTOPAR_RUNTIME_DATA_ROWSTREAM_H

#include "../checkpoint/CheckpointFolder.h"
#include "../core/Manifest.h"
#include "RowOrder.h"
#include "Shards.h"

namespace autopar::runtime {

/// Shards whose rows are the samples of steps. Row 0 of a step's inputs is one
/// row of each array, and so on.
struct RowStream {
  Shards shards;
  std::optional<uint64_t> seed; // of the order; none: as the rows stand
  StepSchedule schedule;
  /// The number of the first step, of which errors speak; none: the rows are of
  /// an evaluation.
  std::optional<int64_t> firstStep = 0;

  bool isOpen() const { return shards.rows() > 0; }
  /// Names a step in an error, as in "step 3"; `step` counts from the run's
  /// first one.
  std::string nameOf(int64_t step) const;
  /// Returns the position in the data before a step, for a checkpoint. It is
  /// nullopt if there are no shards.
  std::optional<DataPlace> placeOf(int64_t step) const;
  /// Resumes at that position. Fails if the data differ.
  Status resume(const DataPlace &place);
  /// Checks that the array has rows of the input, and the same batch size as
  /// the inputs before it (`batch`; 0 if there was none).
  static Status checkColumn(const Shards::Column &column, const Port &port,
                            int64_t &batch);
  /// Makes the shards the stream of a program, which must have inputs of all
  /// their names. The last batch may be smaller if the program has an input
  /// that says which rows count.
  Status open(Shards opened, const Manifest &manifest,
              std::optional<uint64_t> shuffle);
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_DATA_ROWSTREAM_H
