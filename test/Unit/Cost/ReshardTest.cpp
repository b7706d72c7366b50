//===- ReshardTest.cpp - Steps and shortest paths -------------------------===//

#include "autopar/Cost/Reshard.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// Bytes that a ring moves, and a little per step.
double ringCost(const ReshardStep &step) {
  if (isLocal(step.kind))
    return 0;
  return 1 + step.bytes * (step.kind == ReshardKind::AllReduce ? 2.0 : 1.0);
}

Sharding split(size_t rank, unsigned dim, ArrayRef<unsigned> subAxes) {
  Sharding s = Sharding::replicated(rank);
  s.dims[dim].subAxes.assign(subAxes.begin(), subAxes.end());
  return s;
}

Sharding sum(size_t rank, unsigned subAxis) {
  Sharding s = Sharding::replicated(rank);
  s.partial.push_back({subAxis, ReduceKind::Sum});
  return s;
}

std::string kinds(const std::optional<ReshardPath> &path) {
  if (!path)
    return "none";
  std::string text;
  for (const ReshardStep &step : *path)
    text += (text.empty() ? "" : " ") + stringifyReshardKind(step.kind).str();
  return text;
}

const Mesh mesh2x2({{"x", 2}, {"y", 2}});
const Mesh timeMesh({{"time", 2}, {"x", 2}});

std::string path(const Sharding &from, const Sharding &to,
                 const SmallVector<int64_t> &shape = {8, 8},
                 const Mesh &mesh = mesh2x2) {
  return kinds(reshardPath(from, to, shape, 4, mesh, ringCost));
}

TEST(Reshard, EqualNeedsNothing) {
  EXPECT_EQ(path(split(2, 0, {0}), split(2, 0, {0})), "");
}

TEST(Reshard, OneStepOfEachKind) {
  Sharding whole = Sharding::replicated(2);
  EXPECT_EQ(path(whole, split(2, 0, {0, 1})), "slice_block");
  EXPECT_EQ(path(split(2, 0, {0, 1}), whole), "all_gather");
  EXPECT_EQ(path(split(2, 0, {0}), split(2, 1, {0})), "all_to_all");
  EXPECT_EQ(path(sum(2, 1), whole), "all_reduce");
  EXPECT_EQ(path(sum(2, 1), split(2, 1, {1})), "reduce_scatter");
  EXPECT_EQ(path(whole, sum(2, 1)), "keep_first");
}

TEST(Reshard, HaloIsLastAndLeadsNowhere) {
  Sharding to = split(2, 0, {0});
  to.dims[0].interval = Interval{4, -1, 6};
  EXPECT_EQ(path(split(2, 0, {0}), to), "halo");
  EXPECT_EQ(path(Sharding::replicated(2), to), "slice_block halo");
  EXPECT_EQ(path(to, split(2, 0, {0})), "none");
  auto steps = reshardPath(split(2, 0, {0}), to, {8, 8}, 4, mesh2x2, ringCost);
  EXPECT_EQ(steps->front().bytes, 1 * 8 * 4);
}

TEST(Reshard, BlocksThatDoNotNestAreGathered) {
  // 6 over 2 is blocks of 3, over 4 blocks of 2.
  EXPECT_EQ(path(split(2, 0, {0}), split(2, 0, {0, 1}), {6, 8}),
            "all_gather slice_block");
  EXPECT_EQ(path(split(2, 0, {0}), split(2, 0, {0, 1})), "slice_block");
  EXPECT_EQ(path(split(2, 0, {0, 1}), split(2, 0, {0}), {6, 8}),
            "all_gather slice_block");
}

TEST(Reshard, OrderOfSubAxesMatters) {
  EXPECT_EQ(path(split(2, 0, {0, 1}), split(2, 0, {1, 0})),
            "all_gather slice_block");
  EXPECT_EQ(path(split(2, 0, {0, 1}), split(2, 1, {1})),
            "all_to_all all_gather");
}

TEST(Reshard, TimeSubAxesOnlySlice) {
  Sharding whole = Sharding::replicated(2);
  EXPECT_EQ(path(whole, split(2, 0, {0}), {8, 8}, timeMesh), "slice_block");
  EXPECT_EQ(path(split(2, 0, {0}), whole, {8, 8}, timeMesh), "none");
  EXPECT_EQ(path(sum(2, 0), whole, {8, 8}, timeMesh), "none");
  EXPECT_EQ(path(split(2, 0, {0}), split(2, 1, {0}), {8, 8}, timeMesh), "none");
  EXPECT_EQ(path(split(2, 0, {0, 1}), split(2, 0, {0}), {8, 8}, timeMesh),
            "all_gather");
}

TEST(Reshard, StepsEndAtTheTarget) {
  Sharding from = sum(2, 1), to = split(2, 1, {1, 0});
  auto steps = reshardPath(from, to, {5, 8}, 4, mesh2x2, ringCost);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->back().after, to);
}

TEST(Reshard, CacheGivesTheSamePath) {
  ReshardCache cache(mesh2x2, ringCost);
  const auto &first = cache.get(sum(1, 0), split(1, 0, {0}), {8}, 4);
  const auto &again = cache.get(sum(1, 0), split(1, 0, {0}), {8}, 4);
  EXPECT_EQ(&first, &again);
  EXPECT_EQ(kinds(first), "reduce_scatter");
}

} // namespace
