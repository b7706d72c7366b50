//===- MemoryCoreTest.cpp - What is left beside what memory holds ---------===//

#include "lib/Planning/Solver/MemoryCore.h"
#include "RandomGraph.h"
#include "autopar/Planning/Solver/Solver.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// The nodes of `graph`, every third of them held all the time, and its edges,
/// every second the other way round, some of them with copies.
Problem problemOf(const CostGraph &graph, std::mt19937 &random) {
  Problem problem;
  for (const auto &[index, costs] : enumerate(graph.nodes)) {
    ProblemNode &node = problem.nodes.emplace_back();
    node.seconds = costs;
    for (size_t choice = 0; choice < costs.size(); ++choice)
      node.bytes.push_back(random() % 20);
    if (index % 3 == 0)
      problem.persistent.push_back({unsigned(index), 1 + int64_t(index % 2)});
  }
  for (const auto &[index, edge] : enumerate(graph.edges)) {
    ProblemEdge &item = problem.edges.emplace_back();
    bool isTurned = index % 2 == 1;
    item.a = isTurned ? edge.b : edge.a;
    item.b = isTurned ? edge.a : edge.b;
    size_t rows = graph.nodes[item.a].size();
    size_t columns = graph.nodes[item.b].size();
    for (size_t a = 0; a < rows; ++a)
      for (size_t b = 0; b < columns; ++b)
        item.seconds.push_back(
            edge.cells[isTurned ? b * rows + a : a * columns + b]);
    for (size_t cell = 0; index % 3 && cell < item.seconds.size(); ++cell)
      item.bytes.push_back(random() % 10);
  }
  return problem;
}

/// What one moment of the problem holds beside the persistent terms.
MemoryTerms rowOf(const Problem &problem, std::mt19937 &random) {
  MemoryTerms row;
  row.nodes = {{unsigned(random() % problem.nodes.size()), 2}};
  if (!problem.edges.empty())
    row.edges = {{unsigned(random() % problem.edges.size()), 1}};
  return row;
}

CostGraph weigh(const Problem &problem, const MemoryTerms &row,
                double multiplier) {
  std::vector<double> nodes(problem.nodes.size()), edges(problem.edges.size());
  for (const MemoryTerm &term : problem.persistent)
    nodes[term.index] += multiplier * double(term.count);
  for (const MemoryTerm &term : row.nodes)
    nodes[term.index] += multiplier * double(term.count);
  for (const MemoryTerm &term : row.edges)
    edges[term.index] += multiplier * double(term.count);
  return costsOf(problem, nodes, edges);
}

TEST(MemoryCore, MinimisesAsTheWholeGraph) {
  constexpr size_t kCells = size_t(1) << 20;
  unsigned legal = 0, illegal = 0, smaller = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    CostGraph graph = randomGraph(seed, 9, seed % 2 ? 0.3 : 0.5);
    Problem problem = problemOf(graph, random);
    MemoryTerms row = seed % 3 ? rowOf(problem, random) : MemoryTerms();
    MemoryCore core(problem, weigh(problem, {}, 0), row);
    smaller += core.size() < graph.nodes.size();
    for (double multiplier : {0.0, 0.5, 3.0}) {
      bool ofRow = random() % 2;
      MemoryTerms terms = ofRow ? row : MemoryTerms();
      CostGraph weighed = weigh(problem, terms, multiplier);
      std::map<unsigned, unsigned> fixed;
      unsigned node = problem.persistent[random() % 3].index;
      unsigned choice = random() % problem.nodes[node].choices();
      if (random() % 2)
        fixed[node] = choice;
      ASSERT_TRUE(core.mayFix(fixed));
      for (auto [index, kept] : fixed)
        for (size_t other = 0; other < weighed.nodes[index].size(); ++other)
          if (other != kept)
            weighed.nodes[index][other] = kIllegal;
      double least = leastCost(weighed, allChoices(weighed));
      EliminationResult found =
          core.minimise(multiplier, terms, fixed, kCells, kIllegal);
      EXPECT_DOUBLE_EQ(found.cost, least) << "seed " << seed;
      EXPECT_LE(found.lowerBound, least + 1e-9) << "seed " << seed;
      ++(least < kIllegal ? legal : illegal);
      if (found.cost < kIllegal) {
        EXPECT_DOUBLE_EQ(costOf(weighed, found.choice), least);
      }
    }
  }
  EXPECT_GT(legal, 150u);
  EXPECT_GT(illegal, 10u);
  EXPECT_GT(smaller, 50u);
}

TEST(MemoryCore, FixesOnlyWhatIsLeft) {
  CostGraph chain{{{1, 2}, {1, 2}, {1, 2}},
                  {{0, 1, {0, 1, 1, 0}}, {1, 2, {0, 1, 1, 0}}}};
  Problem problem;
  for (const std::vector<double> &seconds : chain.nodes) {
    problem.nodes.emplace_back().seconds = seconds;
    problem.nodes.back().bytes = {1, 0};
  }
  problem.persistent = {{0, 1}};
  MemoryCore core(problem, chain);
  EXPECT_EQ(core.size(), 1u);
  EXPECT_TRUE(core.mayFix({{0, 1}}));
  EXPECT_FALSE(core.mayFix({{1, 1}}));
}

/// Tables of embeddings, each whole on every device, or half of it, for some
/// seconds. A lookup of a half needs the exchange that all of them share,
/// beside the rest of the step.
struct Tables {
  static constexpr unsigned kTables = 26, kRest = 300, kExchange = 40;
  Problem problem;
  std::vector<int64_t> halves;
  std::vector<int> seconds;

  explicit Tables(unsigned seed) {
    std::mt19937 random(seed);
    ProblemNode &exchange = problem.nodes.emplace_back();
    exchange.seconds = {kRest, kRest + kExchange};
    int64_t all = 0;
    for (unsigned table = 0; table < kTables; ++table) {
      halves.push_back(1 + random() % 40);
      seconds.push_back(1 + random() % 10);
      all += 2 * halves.back();
      unsigned before = addTable(table);
      for (unsigned op = 0; op < 4; ++op)
        before = addFollower(before);
      // The exchange is the only way to read a half.
      problem.edges.push_back({0, before, {0, kIllegal, 0, 0}, {}});
    }
    problem.memoryLimit = all * 4 / 5;
  }

  unsigned addTable(unsigned table) {
    ProblemNode &node = problem.nodes.emplace_back();
    node.seconds = {0, double(seconds[table])};
    node.bytes = {2 * halves[table], halves[table]};
    unsigned index = problem.nodes.size() - 1;
    problem.persistent.push_back({index, 1});
    return index;
  }

  /// An op whose choice is that of the one before.
  unsigned addFollower(unsigned before) {
    problem.nodes.emplace_back().seconds = {0, 0};
    unsigned index = problem.nodes.size() - 1;
    problem.edges.push_back({before, index, {0, kIllegal, kIllegal, 0}, {}});
    return index;
  }

  /// The rest, the exchange and a knapsack: the least seconds of halves that
  /// spare what is too much.
  double optimum() const {
    int64_t all = 0;
    for (int64_t half : halves)
      all += 2 * half;
    int64_t excess = all - problem.memoryLimit;
    std::vector<double> least(excess + 1, kIllegal); // per bytes spared
    least[0] = 0;
    for (unsigned table = 0; table < kTables; ++table)
      for (int64_t spared = excess; spared >= 0; --spared) {
        double &reached = least[std::min(excess, spared + halves[table])];
        reached = std::min(reached, least[spared] + seconds[table]);
      }
    return kRest + kExchange + least[excess];
  }
};

/// A multiplier of all tables alone mixes plans with and without the exchange.
TEST(Solver, ProvesWhichPersistentTermsAreSplit) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    Tables tables(seed);
    const Problem &problem = tables.problem;
    Evaluator evaluator;
    evaluator.memoryLimit = problem.memoryLimit;
    evaluator.evaluate = [&](ArrayRef<unsigned> choice) {
      return Evaluation{problem.secondsOf(choice),
                        problem.persistentBytes(choice)};
    };
    Expected<Solution> found = Solver(problem, {}, evaluator).solve();
    ASSERT_TRUE(bool(found)) << toString(found.takeError());
    EXPECT_DOUBLE_EQ(found->seconds, tables.optimum()) << "seed " << seed;
    EXPECT_LT(found->gap(), 1e-9) << "seed " << seed;
  }
}

} // namespace
