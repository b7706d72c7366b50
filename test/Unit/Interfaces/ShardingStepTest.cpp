//===- ShardingStepTest.cpp - What steps do to shardings ------------------===//

#include "autopar/Interfaces/ShardingStep.h"
#include <gtest/gtest.h>

using namespace autopar;

namespace {

Sharding sharding(std::initializer_list<DimSharding> dims,
                  std::initializer_list<Partial> partial = {}) {
  Sharding result;
  result.dims = dims;
  result.partial = partial;
  return result;
}

ShardingStep step(ReshardKind kind, llvm::SmallVector<unsigned, 2> subAxes,
                  unsigned dim = 0, unsigned concatDim = 0) {
  ShardingStep result;
  result.kind = kind;
  result.subAxes = std::move(subAxes);
  result.dim = dim;
  result.concatDim = concatDim;
  return result;
}

const Sharding whole = Sharding::replicated(2);
const Sharding rows = sharding({{{0}, {}}, {}});
const Sharding columns = sharding({{}, {{0}, {}}});
const Sharding bothRows = sharding({{{0, 1}, {}}, {}});
const Sharding sum = sharding({{}, {}}, {{0, ReduceKind::Sum}});

TEST(ShardingStep, ChangesAShardingByItsKind) {
  EXPECT_EQ(shardingAfter(step(ReshardKind::SliceBlock, {0}), whole, rows),
            rows);
  EXPECT_EQ(shardingAfter(step(ReshardKind::SliceBlock, {1}), rows, bothRows),
            bothRows);
  EXPECT_EQ(shardingAfter(step(ReshardKind::KeepFirst, {0}), whole, sum), sum);
  EXPECT_EQ(shardingAfter(step(ReshardKind::AllGather, {1}), bothRows, rows),
            rows);
  EXPECT_EQ(
      shardingAfter(step(ReshardKind::ReduceScatter, {0}, 1), sum, columns),
      columns);
  EXPECT_EQ(
      shardingAfter(step(ReshardKind::AllToAll, {0}, 1, 0), rows, columns),
      columns);
  EXPECT_EQ(shardingAfter(step(ReshardKind::AllReduce, {0}), sum, whole),
            whole);
}

TEST(ShardingStep, KeepsPartialsInTheOrderOfSubAxes) {
  Sharding second = sharding({{}, {}}, {{1, ReduceKind::Sum}});
  Sharding both =
      sharding({{}, {}}, {{0, ReduceKind::Sum}, {1, ReduceKind::Sum}});
  EXPECT_EQ(shardingAfter(step(ReshardKind::KeepFirst, {0}), second, both),
            both);
}

TEST(ShardingStep, TakesAnIntervalFromTheTarget) {
  Sharding halo = rows;
  halo.dims[0].interval = Interval{4, -1, 6};
  EXPECT_EQ(shardingAfter(step(ReshardKind::Halo, {0}), rows, halo), halo);
  EXPECT_FALSE(shardingAfter(step(ReshardKind::Halo, {0}), rows, rows));
  EXPECT_FALSE(shardingAfter(step(ReshardKind::Halo, {1}), rows, halo));
  EXPECT_FALSE(shardingAfter(step(ReshardKind::AllGather, {0}), halo, whole));
}

TEST(ShardingStep, DoesNotApplyToEverySharding) {
  EXPECT_FALSE(
      shardingAfter(step(ReshardKind::SliceBlock, {0}, 1), rows, rows));
  EXPECT_FALSE(
      shardingAfter(step(ReshardKind::SliceBlock, {0}, 2), whole, rows));
  EXPECT_FALSE(shardingAfter(step(ReshardKind::SliceBlock, {}), whole, rows));
  EXPECT_FALSE(shardingAfter(step(ReshardKind::KeepFirst, {0}), rows, sum));
  EXPECT_FALSE(
      shardingAfter(step(ReshardKind::AllGather, {0}), bothRows, rows));
  EXPECT_FALSE(shardingAfter(step(ReshardKind::AllReduce, {1}), sum, whole));
  ShardingStep maximum = step(ReshardKind::AllReduce, {0});
  maximum.reduce = ReduceKind::Max;
  EXPECT_FALSE(shardingAfter(maximum, sum, whole));
}

} // namespace
