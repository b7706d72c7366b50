//===- ShardingStep.h - A step from one sharding to another -----*- C++ -*-===//
//
// A reshard takes a value from one sharding to another by steps. For example,
// the steps `reduce_scatter x in dimension 0` and `all_gather x from dimension
// 0` make a value whole that is partial over the axis x.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_SHARDINGSTEP_H
#define AUTOPAR_INTERFACES_SHARDINGSTEP_H

#include "autopar/Interfaces/Sharding.h"

namespace autopar {

struct ShardingStep {
  ReshardKind kind = ReshardKind::SliceBlock;
  llvm::SmallVector<unsigned, 2> subAxes; // major to minor
  unsigned dim = 0;                       // unused by KeepFirst and AllReduce
  unsigned concatDim = 0;                 // AllToAll only
  ReduceKind reduce = ReduceKind::Sum; // of KeepFirst, ReduceScatter, AllReduce

  bool operator==(const ShardingStep &o) const {
    return kind == o.kind && subAxes == o.subAxes && dim == o.dim &&
           concatDim == o.concatDim && reduce == o.reduce;
  }
};

/// Returns whether the step moves no data between devices.
inline bool isLocal(ReshardKind kind) {
  return kind == ReshardKind::SliceBlock || kind == ReshardKind::KeepFirst;
}

/// Returns the sharding of a value after a step; nullopt if a value that is
/// sharded as `before` cannot take it. `target` is the sharding to which the
/// reshard leads; a halo takes the interval of its dimension from there. All
/// shardings have the same rank.
std::optional<Sharding> shardingAfter(const ShardingStep &step,
                                      const Sharding &before,
                                      const Sharding &target);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_SHARDINGSTEP_H
