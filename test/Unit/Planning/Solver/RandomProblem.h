//===- RandomProblem.h - Problems that all solvers are tried on -----------===//

#ifndef AUTOPAR_TEST_UNIT_PLANNING_SOLVER_RANDOMPROBLEM_H
#define AUTOPAR_TEST_UNIT_PLANNING_SOLVER_RANDOMPROBLEM_H

#include "autopar/Planning/Solver/Problem.h"
#include <random>
#include <utility>

namespace autopar {

/// A connected problem of 2 to 8 nodes with 1 to 4 choices each, some pairs
/// illegal; with memory rows and a limit where `memory`. `dense`: of 6 nodes
/// and more, many edges, and so many illegal pairs that few choices are legal.
inline Problem randomProblem(unsigned seed, bool memory, bool dense = false) {
  std::mt19937 random(seed);
  auto number = [&](int low, int high) {
    return low + int(random() % unsigned(high - low + 1));
  };
  Problem problem;
  int nodes = dense ? number(6, 8) : number(2, 8);
  for (int i = 0; i < nodes; ++i) {
    ProblemNode node;
    node.name = "n" + std::to_string(i);
    int choices = dense ? number(3, 4) : number(1, 4);
    for (int c = 0; c < choices; ++c) {
      node.seconds.push_back(number(0, 40));
      node.bytes.push_back(number(0, 30));
    }
    problem.nodes.push_back(std::move(node));
  }
  auto addEdge = [&](unsigned a, unsigned b) {
    ProblemEdge edge{a, b, {}, {}};
    size_t rows = problem.nodes[a].choices(),
           columns = problem.nodes[b].choices();
    for (size_t cell = 0; cell < rows * columns; ++cell) {
      // The first choices are always legal together.
      bool illegal =
          cell != 0 && (dense ? number(0, 4) < 2 : number(0, 9) == 0);
      edge.seconds.push_back(illegal ? kIllegal : number(0, 40));
      edge.bytes.push_back(number(0, 10));
    }
    problem.edges.push_back(std::move(edge));
  };
  for (int i = 1; i < nodes; ++i)
    addEdge(number(0, i - 1), i);
  for (int extra = dense ? number(10, 20) : number(0, 5); extra > 0; --extra) {
    // One after the other: compilers differ in the order of arguments.
    int to = number(0, nodes - 1), from = number(0, nodes - 1);
    addEdge(from, to);
  }
  if (!memory)
    return problem;
  for (int i = 0; i < nodes; i += 3)
    problem.persistent.push_back({unsigned(i), 1});
  std::vector<int64_t> held(nodes, 0);
  for (int r = number(1, 3); r > 0; --r) {
    MemoryRow row;
    for (int i = 0; i < nodes; ++i) {
      int64_t count = number(0, 1) ? number(1, 2) : 0;
      int64_t more = count - std::exchange(held[i], count);
      if (more > 0)
        row.begins.push_back({unsigned(i), more});
      else if (more < 0)
        problem.rowKinds.back().ends.push_back({unsigned(i), -more});
    }
    row.edges.push_back({unsigned(number(0, problem.edges.size() - 1)), 1});
    problem.rows.push_back(problem.rowKinds.size());
    problem.rowKinds.push_back(std::move(row));
  }
  problem.memoryLimit = number(20, 120);
  return problem;
}

} // namespace autopar

#endif // AUTOPAR_TEST_UNIT_PLANNING_SOLVER_RANDOMPROBLEM_H
