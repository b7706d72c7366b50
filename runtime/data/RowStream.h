//===- RowStream.h - Rows of shards as the samples of steps -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_DATA_ROWSTREAM_H
#define AUTOPAR_RUNTIME_DATA_ROWSTREAM_H

#include "../checkpoint/CheckpointFolder.h"
#include "../core/Manifest.h"
#include "RowOrder.h"
#include "Shards.h"

namespace autopar::runtime {

/// Shards whose rows are the samples of steps: row 0 of a step's inputs is one
/// row of each array, and so on.
struct RowStream {
  Shards shards;
  std::optional<uint64_t> seed; // of the order; none: as the rows stand
  StepSchedule schedule;

  bool isOpen() const { return shards.rows() > 0; }
  /// Tells a checkpoint where the data are before a step; none if there are no
  /// shards.
  std::optional<DataPlace> placeOf(int64_t step) const;
  /// Goes on from there. Fails if the data are others.
  Status resume(const DataPlace &place);
  /// Fails unless the array has rows of the input, and as many at once as the
  /// inputs before it (`batch`; 0: there was none).
  static Status checkColumn(const Shards::Column &column, const Port &port,
                            int64_t &batch);
  /// The shards become the stream of a program that has inputs of all their
  /// names. A last batch of fewer rows is taken if the program can be told
  /// which rows count.
  Status open(Shards opened, const Manifest &manifest,
              std::optional<uint64_t> shuffle);
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_DATA_ROWSTREAM_H
