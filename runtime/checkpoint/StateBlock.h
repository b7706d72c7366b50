//===- StateBlock.h - A box of a state --------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_STATEBLOCK_H
#define AUTOPAR_RUNTIME_CHECKPOINT_STATEBLOCK_H

#include "../core/DataType.h"
#include "../core/Slice.h"

#include <functional>
#include <string>
#include <vector>

namespace autopar::runtime {

/// A box of a state, in the state's own order of elements. The key of a state
/// consists of its role and its name: `model/fc.weight`,
/// `optimizer/fc.weight/exp_avg`.
struct StateBlock {
  std::string key;
  aprt_dtype dtype = APRT_F32;
  std::vector<int64_t> shape; // of the whole state, as the model has it
  /// The shape in which the state is cut, such as [3, 96] for a packed
  /// projection of [288].
  std::vector<int64_t> view;
  std::vector<int64_t> starts, lengths; // of the box in the view

  int64_t elements() const;
  int64_t bytes() const;
  /// Returns the box as a part of the state.
  std::vector<Interval> intervals() const;
};

/// A run of elements that a box and a part of the same state share, with its
/// beginnings in the dense box and in the dense part.
struct OverlapRun {
  int64_t boxAt = 0, partAt = 0, count = 0;
};

/// Calls `visit` for each run of the overlap of the box and the part with these
/// intervals, which may cut the state in another shape. Returns the number of
/// elements of the overlap.
int64_t forEachOverlap(const StateBlock &block,
                       const std::vector<Interval> &intervals,
                       const std::function<void(const OverlapRun &)> &visit);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_STATEBLOCK_H
