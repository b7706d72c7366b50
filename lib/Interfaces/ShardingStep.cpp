//===- ShardingStep.cpp - A step from one sharding to another -------------===//

#include "autopar/Interfaces/ShardingStep.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Splits a dimension over more sub-axes, which nothing else may use.
static bool split(Sharding &sharding, const ShardingStep &step) {
  if (step.dim >= sharding.dims.size() ||
      any_of(step.subAxes,
             [&](unsigned subAxis) { return sharding.usesSubAxis(subAxis); }))
    return false;
  llvm::append_range(sharding.dims[step.dim].subAxes, step.subAxes);
  return true;
}

/// Takes the sub-axes from a dimension, whose minor ones they must be.
static bool join(Sharding &sharding, const ShardingStep &step, unsigned dim) {
  if (dim >= sharding.dims.size())
    return false;
  SmallVector<unsigned, 2> &list = sharding.dims[dim].subAxes;
  size_t count = step.subAxes.size();
  if (list.size() < count ||
      ArrayRef(list).take_back(count) != ArrayRef(step.subAxes))
    return false;
  list.truncate(list.size() - count);
  return true;
}

/// Ends partial sums over the sub-axes, all of which must be of the step's
/// kind.
static bool reduce(Sharding &sharding, const ShardingStep &step) {
  return all_of(step.subAxes, [&](unsigned subAxis) {
    auto *partial = llvm::find(sharding.partial, Partial{subAxis, step.reduce});
    if (partial == sharding.partial.end())
      return false;
    sharding.partial.erase(partial);
    return true;
  });
}

static bool keepFirst(Sharding &sharding, const ShardingStep &step) {
  for (unsigned subAxis : step.subAxes) {
    if (sharding.usesSubAxis(subAxis))
      return false;
    sharding.partial.push_back({subAxis, step.reduce});
  }
  llvm::sort(sharding.partial, [](const Partial &a, const Partial &b) {
    return a.subAxis < b.subAxis;
  });
  return true;
}

static bool widen(Sharding &sharding, const ShardingStep &step,
                  const Sharding &target) {
  if (step.dim >= sharding.dims.size() || step.dim >= target.dims.size())
    return false;
  DimSharding &dim = sharding.dims[step.dim];
  const DimSharding &wanted = target.dims[step.dim];
  if (dim.interval || !wanted.interval || dim.subAxes != wanted.subAxes ||
      dim.subAxes != step.subAxes)
    return false;
  dim.interval = wanted.interval;
  return true;
}

static bool apply(const ShardingStep &step, Sharding &sharding,
                  const Sharding &target) {
  switch (step.kind) {
  case ReshardKind::SliceBlock:
    return split(sharding, step);
  case ReshardKind::KeepFirst:
    return keepFirst(sharding, step);
  case ReshardKind::AllGather:
    return join(sharding, step, step.dim);
  case ReshardKind::ReduceScatter:
    return reduce(sharding, step) && split(sharding, step);
  case ReshardKind::AllToAll:
    return join(sharding, step, step.concatDim) && split(sharding, step);
  case ReshardKind::AllReduce:
    return reduce(sharding, step);
  case ReshardKind::Halo:
    return widen(sharding, step, target);
  }
  return false;
}

std::optional<Sharding> shardingAfter(const ShardingStep &step,
                                      const Sharding &before,
                                      const Sharding &target) {
  // Intervals overlap, so only other halos follow a halo.
  bool overlaps = any_of(before.dims, [](const DimSharding &dim) {
    return dim.interval.has_value();
  });
  if (step.subAxes.empty() || (overlaps && step.kind != ReshardKind::Halo))
    return std::nullopt;
  Sharding after = before;
  if (!apply(step, after, target))
    return std::nullopt;
  return after;
}

} // namespace autopar
