//===- FoldedTest.cpp - Repeated layers as one ----------------------------===//

#include "autopar/Planning/Solver/Solver.h"
#include "gtest/gtest.h"
#include <random>

using namespace autopar;
using namespace llvm;

namespace {

/// A random layer that is repeated, and both problems that say so: all layers
/// one after the other, and one layer that stands for all.
class RepeatedLayers {
public:
  explicit RepeatedLayers(unsigned seed) : random(seed) {
    size = number(1, 4);
    layers = number(2, 4);
    for (unsigned i = 0; i < size; ++i)
      addNode(i);
    for (unsigned i = 1; i < size; ++i)
      addEdge(number(0, i - 1), i, 0);
    if (size > 1)
      addEdge(0, size - 1, 0);
    // From the last node of a layer to the first of the next: where the layer
    // is one node, an edge to itself.
    addEdge(size - 1, 0, 1);
    addMemory();
  }

  std::vector<unsigned> repeat(ArrayRef<unsigned> layer) const {
    std::vector<unsigned> all;
    for (unsigned l = 0; l < layers; ++l)
      all.insert(all.end(), layer.begin(), layer.end());
    return all;
  }

  Problem folded, unfolded;

private:
  unsigned number(unsigned low, unsigned high) {
    return low + random() % (high - low + 1);
  }

  void addNode(unsigned index) {
    ProblemNode node;
    node.name = "n" + std::to_string(index);
    for (unsigned choice = number(1, 4); choice > 0; --choice) {
      node.seconds.push_back(number(0, 40));
      node.bytes.push_back(number(0, 30));
    }
    for (unsigned l = 0; l < layers; ++l)
      pending.push_back(node);
    ProblemNode together = node;
    for (double &seconds : together.seconds)
      seconds *= layers;
    folded.nodes.push_back(std::move(together));
    if (index + 1 == size)
      for (unsigned l = 0; l < layers; ++l)
        for (unsigned i = 0; i < size; ++i)
          unfolded.nodes.push_back(pending[i * layers + l]);
  }

  /// To the node `distance` layers later.
  void addEdge(unsigned a, unsigned b, unsigned distance) {
    ProblemEdge edge{a, b, {}, {}};
    size_t cells = folded.nodes[a].choices() * folded.nodes[b].choices();
    for (size_t cell = 0; cell < cells; ++cell) {
      bool illegal = cell != 0 && number(0, 9) == 0;
      edge.seconds.push_back(illegal ? kIllegal : number(0, 40));
      edge.bytes.push_back(number(0, 10));
    }
    for (unsigned l = 0; l + distance < layers; ++l) {
      unfolded.edges.push_back(edge);
      unfolded.edges.back().a = l * size + a;
      unfolded.edges.back().b = (l + distance) * size + b;
    }
    for (double &seconds : edge.seconds)
      seconds *= layers - distance;
    folded.edges.push_back(std::move(edge));
  }

  /// The first node is held by all layers all the time; a row for each node.
  void addMemory() {
    folded.persistent.push_back({0, layers});
    for (unsigned l = 0; l < layers; ++l)
      unfolded.persistent.push_back({l * size, 1});
    for (unsigned i = 0; i < size; ++i) {
      unsigned edge = number(0, folded.edges.size() - 1);
      std::vector<MemoryTerm> held = {{i, 1}, {size - 1, 1}};
      folded.rowKinds.push_back({held, {{edge, 1}}, held});
      folded.rows.push_back(i);
      // Copies of the first layer; the others have the same bytes.
      unsigned first = 0;
      while (unfolded.edges[first].bytes != folded.edges[edge].bytes)
        ++first;
      unfolded.rowKinds.push_back({held, {{first, 1}}, held});
      unfolded.rows.push_back(i);
    }
    folded.memoryLimit = unfolded.memoryLimit = number(30, 160);
  }

  std::mt19937 random;
  unsigned size, layers;
  std::vector<ProblemNode> pending;
};

/// Advances to the next combination of choices; false after the last.
bool advance(std::vector<unsigned> &choice, const Problem &problem) {
  for (size_t node = 0; node < choice.size(); ++node) {
    if (++choice[node] < problem.nodes[node].choices())
      return true;
    choice[node] = 0;
  }
  return false;
}

/// The least seconds of all layers where each of them chooses the same.
std::optional<double> leastOfEqualLayers(const RepeatedLayers &model) {
  std::optional<double> least;
  std::vector<unsigned> layer(model.folded.nodes.size(), 0);
  do {
    std::vector<unsigned> all = model.repeat(layer);
    double seconds = model.unfolded.secondsOf(all);
    if (seconds < kIllegal &&
        model.unfolded.peakBytes(all) <= model.unfolded.memoryLimit)
      least = std::min(least.value_or(seconds), seconds);
  } while (advance(layer, model.folded));
  return least;
}

TEST(Solver, FoldedLayersEqualExhaustiveSearchOverAllLayersOn200Problems) {
  unsigned solved = 0, limited = 0, problems = 0;
  for (unsigned seed = 0; seed < 200; ++seed, ++problems) {
    RepeatedLayers model(seed);
    std::optional<double> least = leastOfEqualLayers(model);
    Expected<Solution> found = Solver(model.folded).solve();
    ASSERT_EQ(bool(found), least.has_value()) << "seed " << seed;
    if (!found) {
      consumeError(found.takeError());
      continue;
    }
    EXPECT_DOUBLE_EQ(found->seconds, *least) << "seed " << seed;
    EXPECT_EQ(found->gap(), 0) << "seed " << seed;
    std::vector<unsigned> all = model.repeat(found->choice);
    EXPECT_DOUBLE_EQ(model.unfolded.secondsOf(all), found->seconds);
    EXPECT_EQ(model.unfolded.peakBytes(all), found->peakBytes);
    ++solved;
    model.folded.memoryLimit = 0;
    limited += cantFail(Solver(model.folded).solve()).seconds < found->seconds;
  }
  EXPECT_EQ(problems, 200u);
  EXPECT_GT(solved, 100u);
  EXPECT_GT(limited, 20u);
}

/// What is deferred is decided after the rest: perhaps not best, but the bound
/// holds.
TEST(Solver, DeferredNodesKeepTheBound) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RepeatedLayers model(seed);
    model.folded.nodes.back().deferred = true;
    Expected<Solution> oracle = solveExhaustively(model.folded);
    Expected<Solution> found = Solver(model.folded).solve();
    ASSERT_EQ(bool(oracle), bool(found)) << "seed " << seed;
    if (!found) {
      consumeError(oracle.takeError());
      consumeError(found.takeError());
      continue;
    }
    EXPECT_GE(found->seconds, oracle->seconds) << "seed " << seed;
    EXPECT_LE(found->lowerBound, oracle->seconds * (1 + 1e-9))
        << "seed " << seed;
  }
}

} // namespace
