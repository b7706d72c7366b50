//===- TwoTables.h - A problem where memory decides -----------------------===//

#ifndef AUTOPAR_TEST_UNIT_PLANNING_SOLVER_TWOTABLES_H
#define AUTOPAR_TEST_UNIT_PLANNING_SOLVER_TWOTABLES_H

#include "lib/Planning/Solver/MemoryQuestion.h"

namespace autopar {

/// Two tables that are held all the time, each whole (choice 0: 0 seconds, 100
/// bytes) or split (choice 1: 10 or 30 seconds, 40 bytes), and work beside them
/// that takes 5 seconds. Of 140 bytes and more the first table alone is split.
inline Problem twoTables(int64_t memoryLimit) {
  Problem problem;
  problem.nodes = {{"first", {0, 10}, {100, 40}},
                   {"second", {0, 30}, {100, 40}},
                   {"work", {5}, {}}};
  problem.edges = {{0, 2, {0, 0}, {}}, {1, 2, {0, 0}, {}}};
  problem.persistent = {{0, 1}, {1, 1}};
  problem.rows = {0};
  problem.rowKinds = {{}};
  problem.memoryLimit = memoryLimit;
  return problem;
}

/// Choices of twoTables.
inline const std::vector<unsigned> kWhole = {0, 0, 0}, kFirstSplit = {1, 0, 0},
                                   kSecondSplit = {0, 1, 0},
                                   kBothSplit = {1, 1, 0};

} // namespace autopar

#endif // AUTOPAR_TEST_UNIT_PLANNING_SOLVER_TWOTABLES_H
