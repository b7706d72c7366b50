//===- ProblemTest.cpp - What a problem checks, verifies and adds up ------===//

#include "RandomProblem.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// Rows say what changes; what each holds is the same, told by changes or
/// whole.
TEST(Problem, RowsHoldWhatHasBegunAndNotEnded) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    std::vector<unsigned> choice;
    for (const ProblemNode &node : problem.nodes)
      choice.push_back(seed % node.choices());
    std::vector<int64_t> held(problem.nodes.size(), 0);
    int64_t most = 0, sum = 0;
    for (size_t index = 0; index < problem.rows.size(); ++index) {
      const MemoryRow &row = problem.rowAt(index);
      for (const MemoryTerm &term : row.begins)
        held[term.index] += term.count;
      int64_t bytes = 0;
      for (const auto &[node, count] : enumerate(held))
        bytes += count * problem.nodes[node].bytes[choice[node]];
      bytes += problem.bytesOf(choice, {{}, row.edges});
      EXPECT_EQ(problem.bytesOf(choice, problem.termsOf(index)), bytes);
      most = std::max(most, bytes);
      sum += bytes;
      for (const MemoryTerm &term : row.ends)
        held[term.index] -= term.count;
    }
    EXPECT_EQ(problem.bytesOf(choice, problem.termsOfAll()), sum);
    EXPECT_EQ(problem.peakBytes(choice),
              problem.persistentBytes(choice) + most);
  }
}

TEST(Problem, NothingEndsThatDidNotBegin) {
  Problem problem;
  problem.nodes = {{"a", {1}, {1}}};
  problem.rowKinds = {{{{0, 1}}, {}, {{0, 1}}}, {{}, {}, {{0, 1}}}};
  problem.rows = {0, 1};
  EXPECT_EQ(toString(problem.check()), "a: ends to be held before it begins");
}

TEST(Problem, CheckAndVerifyComplain) {
  Problem problem;
  problem.nodes.push_back({"a", {1, 2}, {}});
  problem.nodes.push_back({"b", {1}, {}});
  problem.edges.push_back({0, 1, {0}, {}});
  EXPECT_EQ(toString(problem.check()), "a -- b: matrix of another size");
  problem.edges[0].seconds = {0, 5};
  EXPECT_FALSE(bool(problem.check()));
  Solution wrong{{1, 0}, 3, 0, 0};
  EXPECT_EQ(toString(verify(problem, wrong)),
            "seconds are not those of the choices");
}

} // namespace
