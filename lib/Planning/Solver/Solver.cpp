//===- Solver.cpp - The best choices of a problem -------------------------===//

#include "autopar/Planning/Solver/Solver.h"
#include "ChoiceSearch.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

char NothingCheaper::ID = 0;
char NotEnoughMemory::ID = 0;

void NothingCheaper::log(raw_ostream &os) const {
  os << "nothing cheaper than what is known";
}

void NotEnoughMemory::log(raw_ostream &os) const {
  os << "no plan found within the memory limit of " << bytesText(limitBytes)
     << " per device";
  if (leastBytes > 0)
    os << "; the least found is " << bytesText(leastBytes);
  os << ": use more devices or a higher limit";
}

/// Returns the problem of the nodes that are not deferred. It lacks only costs
/// that are never negative, so its lower bound holds for the whole problem.
/// `kept` is set to the numbers of its nodes.
static Problem withoutDeferred(const Problem &problem,
                               std::vector<unsigned> &kept) {
  constexpr unsigned kNone = ~0u;
  Problem part;
  part.memoryLimit = problem.memoryLimit;
  std::vector<unsigned> nodeIndex(problem.nodes.size(), kNone);
  std::vector<unsigned> edgeIndex(problem.edges.size(), kNone);
  for (const auto &[index, node] : enumerate(problem.nodes)) {
    if (node.deferred)
      continue;
    nodeIndex[index] = kept.size();
    kept.push_back(index);
    part.nodes.push_back(node);
  }
  for (const auto &[index, edge] : enumerate(problem.edges)) {
    if (nodeIndex[edge.a] == kNone || nodeIndex[edge.b] == kNone)
      continue;
    edgeIndex[index] = part.edges.size();
    part.edges.push_back(edge);
    part.edges.back().a = nodeIndex[edge.a];
    part.edges.back().b = nodeIndex[edge.b];
  }
  auto append = [](std::vector<MemoryTerm> &to, ArrayRef<MemoryTerm> from,
                   ArrayRef<unsigned> index) {
    for (const MemoryTerm &term : from)
      if (index[term.index] != kNone)
        to.push_back({index[term.index], term.count});
  };
  append(part.persistent, problem.persistent, nodeIndex);
  part.rows = problem.rows;
  part.rowKinds.resize(problem.rowKinds.size());
  for (auto [to, from] : zip_equal(part.rowKinds, problem.rowKinds)) {
    append(to.begins, from.begins, nodeIndex);
    append(to.edges, from.edges, edgeIndex);
    append(to.ends, from.ends, nodeIndex);
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

Solver::Solver(const Problem &problem, const SolverOptions &options,
               std::optional<Evaluator> evaluator)
    : problem(problem), options(options), evaluator(std::move(evaluator)) {
  if (any_of(problem.nodes, [](const auto &node) { return node.deferred; }))
    part = withoutDeferred(problem, kept);
  partEvaluator = evaluatorOfKept();
  relaxation = std::make_unique<Relaxation>(kept.empty() ? problem : part,
                                            this->options);
}

Solver::~Solver() = default;

/// Evaluates choices of the nodes that are not deferred: evaluations depend on
/// these alone.
std::optional<Evaluator> Solver::evaluatorOfKept() const {
  if (!evaluator || kept.empty())
    return evaluator;
  Evaluator ofPart = *evaluator;
  ofPart.evaluate = [this](ArrayRef<unsigned> choice) {
    std::vector<unsigned> all(problem.nodes.size(), 0);
    for (auto [node, c] : zip_equal(kept, choice))
      all[node] = c;
    return evaluator->evaluate(all);
  };
  return ofPart;
}

MemoryQuestion Solver::questionOfKept(double cutoff) const {
  return {kept.empty() ? problem : part, options,
          partEvaluator ? &*partEvaluator : nullptr, cutoff};
}

Solver::Outlook Solver::look(double cutoff) {
  if (Error error = problem.check()) { // solve() returns it
    consumeError(std::move(error));
    return {kIllegal, 0, false};
  }
  MemoryQuestion question = questionOfKept(cutoff);
  SearchWork work;
  const RelaxedResult &relaxed = relaxation->first(question, work);
  bool fits = relaxed.cost < kIllegal &&
              question.fitsRows(relaxed.choice, question.problem.memoryLimit);
  return {relaxed.cost, relaxed.lowerBound, fits};
}

/// Searches the whole problem with a relaxation of its own, without a first
/// look.
static Expected<Solution> searchAnew(const Problem &problem,
                                     const SolverOptions &options,
                                     const Evaluator *evaluator) {
  Relaxation relaxation(problem, options);
  bool isRough = false;
  return searchChoice({problem, options, evaluator, kIllegal}, relaxation,
                      isRough);
}

/// Returns the solution with the best choices of the deferred nodes beside the
/// given choices of the others; nullopt if none of them fits there.
std::optional<Solution> Solver::withDeferred(const Solution &ofKept) const {
  Problem rest = problem;
  if (evaluator)
    rest.memoryLimit = 0;
  for (const auto &[node, choice] : zip_equal(kept, ofKept.choice))
    for (size_t other = 0; other < rest.nodes[node].choices(); ++other)
      if (other != choice)
        rest.nodes[node].seconds[other] = kIllegal;
  Expected<Solution> whole = searchAnew(rest, options, nullptr);
  if (!whole) {
    consumeError(whole.takeError());
    return std::nullopt;
  }
  if (evaluator) {
    whole->seconds = ofKept.seconds;
    whole->peakBytes = ofKept.peakBytes;
    whole->isEvaluated = ofKept.isEvaluated;
  }
  return std::move(*whole);
}

/// Solves the problem of the nodes that are not deferred first; if that fails,
/// so does the whole. Then it chooses the deferred nodes beside them.
Expected<Solution> Solver::solveWhole(double cutoff) {
  part.memoryLimit = problem.memoryLimit;
  Expected<Solution> ofPart =
      searchChoice(questionOfKept(cutoff), *relaxation, rough);
  if (!ofPart || kept.empty())
    return ofPart;
  // If no choices of the deferred nodes fit, the whole problem is searched.
  std::optional<Solution> inTwo = withDeferred(*ofPart);
  Expected<Solution> solution =
      inTwo ? Expected<Solution>(std::move(*inTwo))
            : searchAnew(problem, options, evaluator ? &*evaluator : nullptr);
  if (solution)
    solution->lowerBound = std::min(ofPart->lowerBound, solution->seconds);
  return solution;
}

Expected<Solution> Solver::solve(double cutoff) {
  if (Error error = problem.check())
    return std::move(error);
  Expected<Solution> solution = solveWhole(cutoff);
  if (!solution)
    return solution;
  if (Error error = evaluator ? verifyChoices(problem, *solution)
                              : verify(problem, *solution))
    return std::move(error);
  return solution;
}

Expected<Solution> solveExhaustively(const Problem &problem) {
  if (Error error = problem.check())
    return std::move(error);
  std::optional<Solution> best;
  std::vector<unsigned> choice(problem.nodes.size(), 0);
  while (true) {
    double seconds = problem.secondsOf(choice);
    int64_t bytes = problem.peakBytes(choice);
    bool fits = !problem.memoryLimit || bytes <= problem.memoryLimit;
    if (fits && seconds < (best ? best->seconds : kIllegal))
      best = Solution{choice, seconds, bytes, seconds};
    size_t node = 0;
    while (node < choice.size() &&
           ++choice[node] == problem.nodes[node].choices())
      choice[node++] = 0;
    if (node == choice.size())
      break;
  }
  if (!best)
    return createStringError("no choices fit");
  return *best;
}

} // namespace autopar
