//===- ReshardSteps.h - The table of reshard steps --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_COST_RESHARDSTEPS_H
#define AUTOPAR_LIB_COST_RESHARDSTEPS_H

#include "SubAxisRuns.h"
#include "autopar/Cost/Reshard.h"
#include "llvm/ADT/STLExtras.h"

namespace autopar {

/// A sharding on the way from the start to the target. A dimension only ever
/// holds a prefix of its runs at the start or in the target: no other place
/// brings a value nearer.
struct ReshardState {
  llvm::SmallVector<uint8_t, 6> places; // per dimension, of StepTable's
  uint64_t partial = 0;                 // a bit per partial of StepTable's
  uint64_t intervals = 0; // a bit per dimension that is an interval, to 63
  bool operator==(const ReshardState &o) const {
    return partial == o.partial && intervals == o.intervals &&
           places == o.places;
  }
};

/// A step between states, of runs.
struct ReshardMove {
  ReshardKind kind;
  llvm::SmallVector<unsigned, 4> runs; // major to minor
  unsigned dim = 0, concatDim = 0;     // as in ReshardStep
  ReduceKind reduce = ReduceKind::Sum;
  ReshardState after;
  int64_t bytes = 0; // as in ReshardStep
};

/// Lists the steps that lead from a sharding towards the target.
class StepTable {
public:
  /// Keeps references to `shape` and `runs`, which must outlive it.
  StepTable(const Sharding &from, const Sharding &to,
            llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
            const SubAxisRuns &runs);
  StepTable(const StepTable &) = delete; // places point into lists

  const ReshardState &start() const { return startState; }
  const ReshardState &target() const { return targetState; }
  /// The steps from a state; they are valid until the next call.
  llvm::MutableArrayRef<ReshardMove> steps(const ReshardState &from);
  /// The sharding, over sub-axes.
  Sharding shardingOf(const ReshardState &state) const;

private:
  /// A dimension as some runs split it: the runs, which are a prefix of the
  /// start's or of the target's list.
  struct SplitDim {
    llvm::ArrayRef<unsigned> runs;
    uint64_t members = 0;      // a bit per run
    int64_t localSize = 0;     // of a block
    std::optional<size_t> met; // how much of the target this is, if it is any
  };
  struct Dim {
    llvm::SmallVector<unsigned, 4> from, to;
    std::optional<Interval> interval; // of the target
    llvm::SmallVector<SplitDim, 8> places;
    llvm::SmallVector<uint8_t, 8> ofTarget; // places by length
  };

  void addPlaces(Dim &dim, int64_t size) const;
  /// The bit of a dimension's interval. Dimensions from 64 on have none, so no
  /// path leads to an interval there.
  static uint64_t intervalBit(size_t dim) {
    return dim < 64 ? uint64_t(1) << dim : 0;
  }
  static bool isInterval(const ReshardState &state, size_t dim) {
    return state.intervals & intervalBit(dim);
  }
  ReshardState stateOf(const Sharding &sharding) const;

  bool anyTime(llvm::ArrayRef<unsigned> list) const {
    return llvm::any_of(list, [&](unsigned run) { return runs.isTime(run); });
  }
  const SplitDim &placeOf(unsigned dim, const ReshardState &state) const {
    return dims[dim].places[state.places[dim]];
  }
  const SplitDim &place(unsigned dim) const { return placeOf(dim, *current); }
  /// The place with the first `length` runs of those that the dimension has.
  uint8_t prefix(unsigned dim, size_t length) const;
  llvm::ArrayRef<unsigned> wanted(unsigned dim) const;
  bool nests(unsigned dim, llvm::ArrayRef<unsigned> major,
             llvm::ArrayRef<unsigned> minor) const;
  bool isWantedPartial(size_t index) const {
    return targetState.partial >> index & 1;
  }
  /// The partial of `run` in the current state, if it is.
  std::optional<size_t> partialOf(unsigned run) const;
  std::optional<ReduceKind> partialKind(llvm::ArrayRef<unsigned> list) const;
  uint64_t usedRuns() const;
  int64_t localBytes(const ReshardState &state) const;

  ReshardMove &start(ReshardKind kind, llvm::ArrayRef<unsigned> list,
                     unsigned dim = 0);
  void finish(ReshardMove &move, bool operandIsWider);
  void dropPartial(ReshardState &state, llvm::ArrayRef<unsigned> list) const;

  void slice();
  void keepFirst();
  void gather();
  void reduceScatter();
  void allToAll();
  void allToAll(unsigned dim, unsigned concat);
  void allReduce();
  void allReduce(ReduceKind kind);
  void halo();
  int64_t haloBytes(unsigned dim) const;

  llvm::ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const SubAxisRuns &runs;
  llvm::SmallVector<Dim, 4> dims;
  llvm::SmallVector<Partial, 4> partials; // of both sides, by run
  ReshardState startState, targetState;
  const ReshardState *current = nullptr;
  llvm::SmallVector<ReshardMove, 16> result; // seldom more: no allocation
};

} // namespace autopar

#endif // AUTOPAR_LIB_COST_RESHARDSTEPS_H
