//===- StateBlock.h - A box of a state --------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_STATEBLOCK_H
#define AUTOPAR_RUNTIME_CHECKPOINT_STATEBLOCK_H

#include "../core/DataType.h"
#include "../core/Slice.h"

#include <functional>
#include <string>
#include <vector>

namespace autopar::runtime {

/// A box of a state, in the state's own order of elements. A state is known by
/// its key, its role and its name: `model/fc.weight`,
/// `optimizer/fc.weight/exp_avg`.
struct StateBlock {
  std::string key;
  aprt_dtype dtype = APRT_F32;
  std::vector<int64_t> shape; // of the whole state, as the model has it
  /// The sizes by which it is cut: [3, 96] of a packed projection of [288].
  std::vector<int64_t> view;
  std::vector<int64_t> starts, lengths; // of the box in the view

  int64_t elements() const;
  int64_t bytes() const;
  /// The box as a part of the state.
  std::vector<Interval> intervals() const;
};

/// A run of elements that a box and a part of the same state both have: where
/// it begins in the dense box and in the dense part.
struct OverlapRun {
  int64_t boxAt = 0, partAt = 0, count = 0;
};

/// Calls `visit` for each run of the overlap of the box and the part that the
/// intervals describe, which may cut the state by other sizes. Returns the
/// number of their elements.
int64_t forEachOverlap(const StateBlock &block,
                       const std::vector<Interval> &intervals,
                       const std::function<void(const OverlapRun &)> &visit);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_STATEBLOCK_H
