//===- ReshardPropertyTest.cpp - Random reshards on small meshes ----------===//

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Cost/ReshardTable.h"
#include "lib/Cost/ReshardGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace autopar;
using namespace llvm;

namespace {

std::vector<Mesh> meshes() {
  std::vector<Mesh> list;
  for (int64_t size = 2; size <= 6; ++size)
    list.push_back(Mesh({{"x", size}}));
  list.push_back(Mesh({{"x", 2}, {"y", 2}}));
  list.push_back(Mesh({{"x", 2}, {"y", 3}}));
  list.push_back(Mesh({{"time", 2}, {"x", 3}}));
  return list;
}

class Draw {
public:
  Draw(unsigned seed, const Mesh &mesh) : random(seed), mesh(mesh) {}

  int64_t number(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  SmallVector<int64_t> shape(int64_t most = 13) {
    SmallVector<int64_t> sizes(number(1, 3));
    for (int64_t &size : sizes)
      size = number(1, most);
    return sizes;
  }
  /// Each sub-axis splits some dimension, or is partial in the sharding's one
  /// way, or does nothing.
  Sharding sharding(size_t rank) {
    Sharding result = Sharding::replicated(rank);
    std::vector<unsigned> subAxes(mesh.subAxes().size());
    std::iota(subAxes.begin(), subAxes.end(), 0);
    std::shuffle(subAxes.begin(), subAxes.end(), random);
    ReduceKind kind = number(0, 1) ? ReduceKind::Sum : ReduceKind::Max;
    for (unsigned subAxis : subAxes) {
      int64_t place = number(-2, rank - 1);
      if (place >= 0)
        result.dims[place].subAxes.push_back(subAxis);
      else if (place == -1 && !mesh.subAxes()[subAxis].time)
        result.partial.push_back({subAxis, kind});
    }
    llvm::sort(result.partial, [](const Partial &a, const Partial &b) {
      return a.subAxis < b.subAxis;
    });
    return result;
  }
  /// Some split dimensions also hold what is beside their blocks.
  void addIntervals(Sharding &sharding, ArrayRef<int64_t> shape) {
    for (const auto &[size, dim] : zip_equal(shape, sharding.dims)) {
      int64_t block = localSize(size, dim, mesh);
      if (dim.subAxes.empty() || number(0, 1))
        continue;
      int64_t before = number(0, 2);
      dim.interval = Interval{block, -before, before + block + number(0, 2)};
    }
  }

private:
  std::mt19937 random;
  const Mesh &mesh;
};

/// Applies steps by the words of the table, not by the code that made them.
class Follower {
public:
  Follower(const Mesh &mesh, ArrayRef<int64_t> shape, Sharding start)
      : mesh(mesh), shape(shape), at(std::move(start)) {}

  void follow(const ReshardStep &step) {
    EXPECT_FALSE(step.subAxes.empty() && step.kind != ReshardKind::Halo);
    for (unsigned subAxis : step.subAxes) {
      EXPECT_TRUE(isLocal(step.kind) || !mesh.subAxes()[subAxis].time);
    }
    EXPECT_EQ(shardingAfter(step, at, step.after), step.after);
    switch (step.kind) {
    case ReshardKind::SliceBlock:
      expectUnused(step.subAxes);
      append(step.dim, step.subAxes);
      break;
    case ReshardKind::KeepFirst:
      expectUnused(step.subAxes);
      for (unsigned subAxis : step.subAxes)
        at.partial.push_back({subAxis, step.reduce});
      break;
    case ReshardKind::AllGather:
      removeMinor(step.dim, step.subAxes);
      break;
    case ReshardKind::ReduceScatter:
      removePartial(step);
      append(step.dim, step.subAxes);
      break;
    case ReshardKind::AllToAll:
      removeMinor(step.concatDim, step.subAxes);
      append(step.dim, step.subAxes);
      break;
    case ReshardKind::AllReduce:
      removePartial(step);
      break;
    case ReshardKind::Halo:
      EXPECT_FALSE(at.dims[step.dim].interval);
      EXPECT_FALSE(at.dims[step.dim].subAxes.empty());
      at.dims[step.dim].interval = step.after.dims[step.dim].interval;
      break;
    }
    llvm::sort(at.partial, [](const Partial &a, const Partial &b) {
      return a.subAxis < b.subAxis;
    });
    EXPECT_EQ(toString(at, mesh), toString(step.after, mesh));
    EXPECT_GE(step.bytes, 0);
    EXPECT_GE(step.seconds, 0);
  }

  const Sharding &place() const { return at; }

private:
  void expectUnused(ArrayRef<unsigned> subAxes) {
    for (unsigned subAxis : subAxes) {
      EXPECT_FALSE(at.usesSubAxis(subAxis));
    }
  }
  int64_t block(unsigned dim) const {
    return localSize(shape[dim], at.dims[dim], mesh);
  }
  /// Blocks that are cut further, or put together, must nest, unless one side
  /// is the whole dimension.
  void append(unsigned dim, ArrayRef<unsigned> subAxes) {
    bool whole = at.dims[dim].subAxes.empty();
    int64_t wide = block(dim);
    llvm::append_range(at.dims[dim].subAxes, subAxes);
    EXPECT_TRUE(whole || wide == block(dim) * mesh.product(subAxes));
  }
  void removeMinor(unsigned dim, ArrayRef<unsigned> subAxes) {
    auto &list = at.dims[dim].subAxes;
    ASSERT_GE(list.size(), subAxes.size());
    EXPECT_TRUE(ArrayRef<unsigned>(list).take_back(subAxes.size()) == subAxes);
    int64_t narrow = block(dim);
    list.truncate(list.size() - subAxes.size());
    EXPECT_TRUE(list.empty() || block(dim) == narrow * mesh.product(subAxes));
  }
  void removePartial(const ReshardStep &step) {
    for (unsigned subAxis : step.subAxes) {
      Partial expected{subAxis, step.reduce};
      EXPECT_TRUE(is_contained(at.partial, expected));
      llvm::erase(at.partial, expected);
    }
  }

  const Mesh &mesh;
  ArrayRef<int64_t> shape;
  Sharding at;
};

bool usesTime(const Mesh &mesh) { return mesh.timeCount() > 1; }

TEST(ReshardProperty, EveryStepIsLegalAndThePathEndsAtTheTarget) {
  Cluster cluster = cantFail(parseCluster("2x3:a100-80gb"));
  unsigned found = 0;
  for (const Mesh &mesh : meshes()) {
    ReshardCost cost = CommunicationModel::reshardCost(cluster, mesh);
    for (unsigned seed = 0; seed < 300; ++seed) {
      Draw draw(seed, mesh);
      SmallVector<int64_t> shape = draw.shape();
      Sharding from = draw.sharding(shape.size());
      Sharding to = draw.sharding(shape.size());
      if (draw.number(0, 2) == 0)
        draw.addIntervals(to, shape);
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " +
                   toString(from, mesh) + " -> " + toString(to, mesh));
      auto path = reshardPath(from, to, shape, 4, mesh, cost);
      if (!path) {
        EXPECT_TRUE(usesTime(mesh));
        continue;
      }
      ++found;
      Follower follower(mesh, shape, from);
      for (const ReshardStep &step : *path)
        follower.follow(step);
      EXPECT_EQ(toString(follower.place(), mesh), toString(to, mesh));
      EXPECT_EQ(path->empty(), from == to);
      if (HasFailure())
        return;
    }
  }
  EXPECT_GT(found, 2100u);
}

TEST(ReshardProperty, NoDetourIsCheaper) {
  Cluster cluster = cantFail(parseCluster("2x3:a100-80gb"));
  for (const Mesh &mesh : meshes()) {
    ReshardCost cost = CommunicationModel::reshardCost(cluster, mesh);
    for (unsigned seed = 0; seed < 100; ++seed) {
      Draw draw(seed, mesh);
      SmallVector<int64_t> shape = draw.shape();
      Sharding from = draw.sharding(shape.size());
      Sharding by = draw.sharding(shape.size());
      Sharding to = draw.sharding(shape.size());
      auto path = reshardPath(from, to, shape, 4, mesh, cost);
      auto first = reshardPath(from, by, shape, 4, mesh, cost);
      auto second = reshardPath(by, to, shape, 4, mesh, cost);
      if (!first || !second)
        continue;
      ASSERT_TRUE(path);
      EXPECT_LE(secondsOf(*path),
                (secondsOf(*first) + secondsOf(*second)) * (1 + 1e-12))
          << "seed " << seed << ": " << toString(from, mesh) << " -> "
          << toString(by, mesh) << " -> " << toString(to, mesh);
    }
  }
}

TEST(ReshardProperty, SamePathEveryTime) {
  Mesh mesh({{"x", 2}, {"y", 3}});
  auto free = [](const ReshardStep &) { return 0.0; };
  for (unsigned seed = 0; seed < 100; ++seed) {
    Draw draw(seed, mesh);
    SmallVector<int64_t> shape = draw.shape();
    Sharding from = draw.sharding(shape.size());
    Sharding to = draw.sharding(shape.size());
    auto first = reshardPath(from, to, shape, 4, mesh, free);
    auto again = reshardPath(from, to, shape, 4, mesh, free);
    ASSERT_TRUE(first && again);
    ASSERT_EQ(first->size(), again->size());
    for (const auto &[a, b] : zip_equal(*first, *again)) {
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_TRUE(a.after == b.after);
    }
  }
}

/// Prices of values of several dimensions, some of which stay as they are.
TEST(ReshardProperty, PricesAreThoseOfPaths) {
  Cluster cluster = cantFail(parseCluster("2x3:a100-80gb"));
  unsigned kept = 0;
  for (const Mesh &mesh : meshes()) {
    ReshardCost cost = CommunicationModel::reshardCost(cluster, mesh);
    ReshardTable table(mesh, cost);
    for (unsigned seed = 0; seed < 600; ++seed) {
      Draw draw(seed, mesh);
      SmallVector<int64_t> shape = draw.shape();
      Sharding from = draw.sharding(shape.size());
      Sharding to = draw.sharding(shape.size());
      if (draw.number(0, 2) == 0)
        draw.addIntervals(to, shape);
      for (const auto &[a, b] : zip_equal(from.dims, to.dims))
        kept += a == b && !a.subAxes.empty();
      auto path = reshardPath(from, to, shape, 4, mesh, cost);
      EXPECT_EQ(table.seconds(from, to, shape, 4),
                path ? secondsOf(*path)
                     : std::numeric_limits<double>::infinity())
          << "seed " << seed << ": " << toString(from, mesh) << " -> "
          << toString(to, mesh);
    }
  }
  EXPECT_GT(kept, 100u);
}

/// One graph per change gives the prices of all elements; those that have too
/// many shardings on the way are few, and have the prices of paths, too.
TEST(ReshardProperty, AGraphHasThePricesOfAllElements) {
  Cluster cluster = cantFail(parseCluster("2x8:a100-80gb"));
  std::vector<Mesh> large;
  large.push_back(Mesh({{"x", 8}, {"y", 2}}));
  large.push_back(Mesh({{"x", 4}, {"y", 4}}));
  large.push_back(Mesh({{"time", 2}, {"x", 2}, {"y", 2}, {"z", 4}}));
  unsigned graphs = 0, tooLarge = 0, pathless = 0;
  for (const Mesh &mesh : large) {
    ReshardCost cost = CommunicationModel::reshardCost(cluster, mesh);
    ReshardTable table(mesh, cost);
    for (unsigned seed = 0; seed < 300; ++seed) {
      Draw draw(seed, mesh);
      SmallVector<int64_t> shape = draw.shape(/*most=*/64);
      Sharding from = draw.sharding(shape.size());
      Sharding to = draw.sharding(shape.size());
      if (draw.number(0, 2) == 0)
        draw.addIntervals(to, shape);
      auto graph = ReshardGraph::build(from, to, shape, mesh);
      ++(graph ? graphs : tooLarge);
      for (int64_t elementBytes : {2, 4096, 1 << 20}) {
        auto path = reshardPath(from, to, shape, elementBytes, mesh, cost);
        pathless += !path;
        std::optional<double> seconds =
            path ? std::optional(secondsOf(*path)) : std::nullopt;
        auto what = [&] {
          return "seed " + std::to_string(seed) + ": " + toString(from, mesh) +
                 " -> " + toString(to, mesh);
        };
        if (graph) {
          EXPECT_EQ(graph->seconds(elementBytes, cost), seconds) << what();
        }
        EXPECT_EQ(table.seconds(from, to, shape, elementBytes),
                  seconds.value_or(std::numeric_limits<double>::infinity()))
            << what();
      }
    }
  }
  EXPECT_GT(graphs, 700u);
  EXPECT_GT(tooLarge, 0u);
  EXPECT_GT(pathless, 5u);
}

} // namespace
