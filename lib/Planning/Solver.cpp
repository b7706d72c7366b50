//===- Solver.cpp - The best choices of a problem -------------------------===//

#include "autopar/Planning/Solver.h"
#include "MemorySearch.h"
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

/// The problem of the nodes that are not deferred: without costs that are never
/// negative, so that its lower bound is one of the whole. `kept` gets their
/// numbers.
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
  for (const MemoryRow &row : problem.rows) {
    MemoryRow &partRow = part.rows.emplace_back();
    partRow.name = row.name;
    append(partRow.nodes, row.nodes, nodeIndex);
    append(partRow.edges, row.edges, edgeIndex);
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

Solver::Solver(const Problem &problem, const SolverOptions &options,
               std::optional<Outcomes> outcomes)
    : problem(problem), options(options), outcomes(std::move(outcomes)) {
  if (any_of(problem.nodes, [](const auto &node) { return node.deferred; }))
    part = withoutDeferred(problem, kept);
  first = std::make_unique<MemorySearch>(kept.empty() ? problem : part,
                                         this->options, ofKept());
}

/// Outcomes of choices of the nodes that are not deferred: they depend on
/// these alone.
std::optional<Outcomes> Solver::ofKept() const {
  if (!outcomes || kept.empty())
    return outcomes;
  Outcomes ofPart = *outcomes;
  ofPart.of = [this](ArrayRef<unsigned> choice) {
    std::vector<unsigned> all(problem.nodes.size(), 0);
    for (auto [node, c] : zip_equal(kept, choice))
      all[node] = c;
    return outcomes->of(all);
  };
  return ofPart;
}

Solver::~Solver() = default;

Solver::Outlook Solver::look(double cutoff) {
  if (Error error = problem.check()) { // solve() says which
    consumeError(std::move(error));
    return {kIllegal, 0};
  }
  const EliminationResult &relaxed = first->relax(cutoff);
  return {relaxed.cost, relaxed.lowerBound};
}

/// First what weighs; then the deferred beside it. nullopt: they do not fit
/// beside it, or the first part has no solution alone; `bound` is of the first
/// part if it has one.
std::optional<Solution> Solver::solveInTwo(double cutoff,
                                           std::optional<double> &bound) {
  part.memoryLimit = problem.memoryLimit;
  Expected<Solution> ofPart = first->run(cutoff);
  if (!ofPart) {
    consumeError(ofPart.takeError());
    return std::nullopt;
  }
  bound = ofPart->lowerBound;
  Problem rest = problem;
  if (outcomes)
    rest.memoryLimit = 0;
  for (const auto &[node, choice] : zip_equal(kept, ofPart->choice))
    for (size_t other = 0; other < rest.nodes[node].choices(); ++other)
      if (other != choice)
        rest.nodes[node].seconds[other] = kIllegal;
  Expected<Solution> second = MemorySearch(rest, options).run(kIllegal);
  if (!second) {
    consumeError(second.takeError());
    return std::nullopt;
  }
  if (outcomes) {
    second->seconds = ofPart->seconds;
    second->peakBytes = ofPart->peakBytes;
  }
  return std::move(*second);
}

Expected<Solution> Solver::solveWhole(double cutoff) {
  if (kept.empty())
    return first->run(cutoff);
  std::optional<double> bound; // of what is not deferred
  std::optional<Solution> inTwo = solveInTwo(cutoff, bound);
  // What is deferred must not cut off a solution.
  Expected<Solution> solution = inTwo ? Expected<Solution>(std::move(*inTwo))
                                      : MemorySearch(problem, options, outcomes)
                                            .run(bound ? kIllegal : cutoff);
  if (solution && bound)
    solution->lowerBound = std::min(*bound, solution->seconds);
  return solution;
}

Expected<Solution> Solver::solve(double cutoff) {
  if (Error error = problem.check())
    return std::move(error);
  Expected<Solution> solution = solveWhole(cutoff);
  if (!solution)
    return solution;
  if (Error error = outcomes ? verifyChoices(problem, *solution)
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
