//===- Incumbent.cpp - The best choice so far and its bounds --------------===//

#include "Incumbent.h"
#include "SolverTuning.h"

using namespace llvm;

namespace autopar {

Evaluation Incumbent::evaluate(const std::vector<unsigned> &choice) {
  const Problem &problem = question.problem;
  int64_t bytes = problem.peakBytes(choice);
  bool isFar = problem.memoryLimit && bytes / kTuning.far > problem.memoryLimit;
  if (question.isExact() || (isFar && question.leastShare() == 1))
    return {problem.secondsOf(choice), bytes};
  auto [it, isNew] = known.try_emplace(choice);
  if (isNew) {
    work.done += kTuning.workPerEvaluatedNode * double(problem.nodes.size());
    it->second = question.evaluator->evaluate(choice);
  }
  return it->second;
}

bool Incumbent::fits(const std::vector<unsigned> &choice) {
  return !question.memoryLimit() ||
         evaluate(choice).bytes <= question.memoryLimit();
}

void Incumbent::offer(const std::vector<unsigned> &choice) {
  double known = solution ? solution->seconds : kIllegal;
  if (solution &&
      question.leastShare() * question.problem.secondsOf(choice) >= known)
    return;
  Evaluation evaluation = evaluate(choice);
  if (evaluation.seconds < kIllegal)
    least = std::min(least.value_or(evaluation.bytes), evaluation.bytes);
  if (fits(choice) && evaluation.seconds < known)
    solution = Solution{choice, evaluation.seconds, evaluation.bytes, 0,
                        !question.isExact()};
}

bool Incumbent::isOpen() const {
  return !solution ||
         solution->seconds - lowerBound > kTuning.equal * solution->seconds;
}

bool Incumbent::isCutOff() const {
  return std::max(lowerBound, question.isSmall() ? 0 : estimate) >=
         question.cutoff;
}

bool Incumbent::nearlyFits() const {
  return !least ||
         double(*least) <= kTuning.near * double(question.memoryLimit());
}

Solution Incumbent::withBound(Solution solution) const {
  solution.lowerBound = std::min(solution.seconds, lowerBound);
  return solution;
}

} // namespace autopar
