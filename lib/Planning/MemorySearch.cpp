//===- MemorySearch.cpp - Elimination, multipliers, branch and bound ------===//
//
// Without a memory limit that binds, one elimination is the answer. Else a row
// r of memory gets a multiplier m_r (seconds per byte): the eliminations then
// minimise seconds + sum of m_r * (bytes_r - limit), which is a lower bound for
// all that fits. What gap remains between it and the best that fits, branch and
// bound closes as far as its budget goes.
//
// Where outcomes say what choices really come to, rows lead to choices that fit
// but prove nothing: the bound is that of the persistent terms, which every
// outcome holds. Branch and bound fixes the choices of theirs that weigh most.
//
//===----------------------------------------------------------------------===//

#include "MemorySearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// In larger problems branch and bound finds no first outcome that fits; in
/// those that are larger still it proves nothing.
static constexpr size_t kSmallProblem = 100, kMostToProve = 1000;

bool MemorySearch::mayProve() const {
  return problem.nodes.size() <= kMostToProve;
}

MemorySearch::MemorySearch(const Problem &problem, const SolverOptions &options,
                           std::optional<Outcomes> outcomes)
    : problem(problem), options(options), outcomes(std::move(outcomes)) {}

MemorySearch::ActiveRow MemorySearch::activeRow(size_t row,
                                                double multiplier) const {
  if (row == persistentRow())
    return {row, multiplier, {}};
  return {row, multiplier,
          row == sumOfRows() ? problem.termsOfAll() : problem.termsOf(row)};
}

bool MemorySearch::isSmall() const {
  return problem.nodes.size() <= kSmallProblem;
}

//===----------------------------------------------------------------------===//
// Costs with multipliers
//===----------------------------------------------------------------------===//

/// Adds an edge's matrix, its bytes at `weight` seconds each, to the graph; an
/// edge to itself is a cost of its node.
static void addEdge(CostGraph &graph,
                    std::map<std::pair<unsigned, unsigned>, size_t> &index,
                    const ProblemEdge &edge, double weight) {
  size_t rows = graph.nodes[edge.a].size(),
         columns = graph.nodes[edge.b].size();
  bool isHeld = weight > 0 && !edge.bytes.empty();
  auto costOf = [&](size_t cell) {
    return isHeld ? edge.seconds[cell] + weight * double(edge.bytes[cell])
                  : edge.seconds[cell];
  };
  if (edge.a == edge.b) {
    for (size_t choice = 0; choice < rows; ++choice)
      graph.nodes[edge.a][choice] += costOf(choice * columns + choice);
    return;
  }
  unsigned a = std::min(edge.a, edge.b), b = std::max(edge.a, edge.b);
  auto [it, inserted] = index.try_emplace({a, b}, graph.edges.size());
  if (inserted && edge.a == a && !isHeld) {
    graph.edges.push_back({a, b, edge.seconds});
    return;
  }
  if (inserted)
    graph.edges.push_back({a, b, std::vector<double>(rows * columns, 0)});
  std::vector<double> &sum = graph.edges[it->second].cells;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      sum[edge.a == a ? row * columns + column : column * rows + row] +=
          costOf(row * columns + column);
}

CostGraph MemorySearch::graphOf(const Fixed &fixed) const {
  std::vector<double> nodeWeight(problem.nodes.size(), 0);
  std::vector<double> edgeWeight(problem.edges.size(), 0);
  for (const ActiveRow &row : active) {
    for (const MemoryTerm &term : problem.persistent)
      nodeWeight[term.index] += row.multiplier * term.count;
    for (const MemoryTerm &term : row.terms.nodes)
      nodeWeight[term.index] += row.multiplier * term.count;
    for (const MemoryTerm &term : row.terms.edges)
      edgeWeight[term.index] += row.multiplier * term.count;
  }
  CostGraph graph;
  for (const auto &[index, node] : enumerate(problem.nodes)) {
    graph.nodes.push_back(node.seconds);
    if (nodeWeight[index] > 0 && !node.bytes.empty())
      for (size_t choice = 0; choice < node.choices(); ++choice)
        graph.nodes.back()[choice] += nodeWeight[index] * node.bytes[choice];
  }
  std::map<std::pair<unsigned, unsigned>, size_t> index;
  for (const auto &[position, edge] : enumerate(problem.edges))
    addEdge(graph, index, edge, edgeWeight[position]);
  for (auto [node, choice] : fixed)
    for (size_t other = 0; other < graph.nodes[node].size(); ++other)
      if (other != choice)
        graph.nodes[node][other] = kIllegal;
  return graph;
}

/// Its lower bound is one for all that fits.
EliminationResult MemorySearch::minimise(size_t cellLimit, const Fixed &fixed) {
  // What the sum of seconds and multipliers may lose to rounding, which only
  // outcomes, summed up otherwise, tell from nothing.
  double rounding = isExact() ? 0 : 1e-12;
  double allowance = 0; // for what fits
  for (const ActiveRow &row : active)
    allowance += (1 + rounding) * row.multiplier * double(problem.memoryLimit);
  bool isOfCore = core && isBound() && core->mayFix(fixed);
  double enough = isOfCore && best ? std::min(best->seconds, cutoff) : cutoff;
  double limit = isBound() ? enough / leastShare() + allowance : kIllegal;
  EliminationResult result =
      isOfCore ? core->minimise(active.empty() ? 0 : active.front().multiplier,
                                fixed, cellLimit, limit)
               : eliminate(graphOf(fixed), cellLimit, limit, &messages);
  // Small tables cost more than their cells, and messages more than tables.
  constexpr double kNodeWork = 1000, kCoreNodeWork = 6000;
  work += result.work + (isOfCore ? kCoreNodeWork * double(core->size())
                                  : kNodeWork * double(problem.nodes.size()));
  isOptimum = result.cost <= result.lowerBound;
  result.lowerBound -= allowance;
  return result;
}

/// Told once per run.
Outcome MemorySearch::outcomeOf(const std::vector<unsigned> &choice) {
  if (isExact())
    return {problem.secondsOf(choice), problem.peakBytes(choice)};
  auto [it, isNew] = known.try_emplace(choice);
  if (isNew) {
    constexpr double kNodeWork = 20000;
    work += kNodeWork * double(problem.nodes.size());
    it->second = outcomes->of(choice);
  }
  return it->second;
}

void MemorySearch::offer(const std::vector<unsigned> &choice) {
  if (best && !mayBeBetter(choice))
    return;
  Outcome outcome = outcomeOf(choice);
  if (outcome.seconds < kIllegal)
    leastBytes = std::min(leastBytes.value_or(outcome.bytes), outcome.bytes);
  if (!fits(choice) || outcome.seconds >= (best ? best->seconds : kIllegal))
    return;
  best = Solution{choice, outcome.seconds, outcome.bytes, 0};
}

/// Whether an outcome, which takes no less than its share of the problem's
/// seconds and holds the persistent terms, may be a better one.
bool MemorySearch::mayBeBetter(ArrayRef<unsigned> choice) const {
  return leastShare() * problem.secondsOf(choice) < best->seconds &&
         (problem.memoryLimit == 0 ||
          problem.persistentBytes(choice) <= problem.memoryLimit);
}

//===----------------------------------------------------------------------===//
// Branch and bound
//===----------------------------------------------------------------------===//

/// As minimise(), and where the persistent terms bind, under the multiplier of
/// theirs that bounds best what is left to choose: a few are tried, from
/// `multiplier` on, which becomes that of the bound.
EliminationResult MemorySearch::minimiseFixed(const Fixed &fixed,
                                              double &multiplier) {
  bool isTuned = multiplier > 0 && !isExact() && isBound();
  if (isTuned)
    active = {activeRow(persistentRow(), multiplier)};
  EliminationResult strongest = minimise(options.cellLimit, fixed);
  EliminationResult last = strongest;
  std::optional<Line> full, fit;
  double tried = multiplier;
  constexpr unsigned kTries = 3;
  for (unsigned i = 0; isTuned && i < kTries && last.cost < kIllegal; ++i) {
    if (leastShare() * strongest.lowerBound >=
        std::min(best ? best->seconds : kIllegal, cutoff))
      break;
    Line line = persistentLine(last.choice);
    std::optional<Line> &side = line.excess > 0 ? full : fit;
    if (side == line)
      break; // nothing new comes
    side = line;
    if (tried == 0 && line.excess <= 0)
      break; // nothing binds
    if (!full)
      tried = 0;
    else if (!fit)
      tried *= 2;
    else
      tried = (fit->seconds - full->seconds) / (full->excess - fit->excess);
    if (tried < 0)
      break;
    active = {activeRow(persistentRow(), tried)};
    last = minimise(options.cellLimit, fixed);
    if (last.lowerBound > strongest.lowerBound) {
      strongest = last;
      multiplier = tried;
    }
  }
  return strongest;
}

/// The node whose choices differ most in bytes, or else any that is open: of
/// outcomes, which hold the persistent terms as they are, in theirs first.
std::optional<unsigned> MemorySearch::branchNode(const Fixed &fixed) const {
  std::vector<int64_t> counts(problem.nodes.size(), 0);
  if (!isExact())
    for (const MemoryTerm &term : problem.persistent)
      counts[term.index] = term.count;
  std::optional<unsigned> widest;
  std::pair<int64_t, int64_t> widestRange(-1, -1);
  for (const auto &[index, node] : enumerate(problem.nodes)) {
    if (fixed.count(index) || node.choices() == 1)
      continue;
    int64_t bytes = 0;
    if (!node.bytes.empty())
      bytes = *llvm::max_element(node.bytes) - *llvm::min_element(node.bytes);
    std::pair<int64_t, int64_t> range(counts[index] * bytes, bytes);
    if (range > widestRange) {
      widest = index;
      widestRange = range;
    }
  }
  return widest;
}

/// What promises most comes first. Where rows are not exact, their multipliers
/// lead to a first outcome that fits; without them, and with that of the
/// persistent terms, which are exact, bounds hold.
void MemorySearch::branch() {
  bool proves = isExact() || isBound();
  auto isLater = [](const Branch &a, const Branch &b) {
    return a.lowerBound > b.lowerBound;
  };
  std::vector<Branch> open;
  double openBound = kIllegal; // of branches where nothing was found
  auto add = [&](Fixed fixed, double multiplier) {
    EliminationResult result = minimiseFixed(fixed, multiplier);
    double bound = leastShare() * result.lowerBound;
    if (result.cost == kIllegal) { // none there are, or none were found
      openBound = std::min(openBound, bound);
      return;
    }
    if (proves && bound >= std::min(best ? best->seconds : kIllegal, cutoff)) {
      openBound = std::min(openBound, bound);
      return;
    }
    offer(result.choice);
    open.push_back(
        {bound, std::move(fixed), std::move(result.choice), multiplier});
    std::push_heap(open.begin(), open.end(), isLater);
  };
  double multiplier = active.empty() ? 0 : active.front().multiplier;
  if (multiplier > 0 && !isExact() && isBound()) {
    active.clear();
    core = std::make_unique<PersistentCore>(problem, graphOf({}));
  }
  add({}, multiplier);
  while (!open.empty() && work < workLimit && (proves || !best)) {
    std::pop_heap(open.begin(), open.end(), isLater);
    Branch next = std::move(open.back());
    open.pop_back();
    if (best && next.lowerBound >= best->seconds) {
      open.clear();
      break;
    }
    std::optional<unsigned> node = branchNode(next.fixed);
    if (!node)
      continue;
    for (unsigned other = 0; other < problem.nodes[*node].choices(); ++other)
      if (other != next.choice[*node] || multiplier > 0) {
        Fixed fixed = next.fixed;
        fixed[*node] = other;
        add(std::move(fixed),
            next.multiplier > 0 ? next.multiplier : multiplier);
      }
    if (multiplier > 0)
      continue; // under another one its bound may be more
    next.fixed[*node] = next.choice[*node];
    open.push_back(std::move(next));
    std::push_heap(open.begin(), open.end(), isLater);
  }
  for (const Branch &rest : open)
    openBound = std::min(openBound, rest.lowerBound);
  core.reset();
  if (proves)
    lowerBound = std::max(lowerBound,
                          std::min(openBound, best ? best->seconds : kIllegal));
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

const EliminationResult &MemorySearch::relax(double cutoff) {
  if (!relaxed) {
    this->cutoff = cutoff;
    relaxed = minimise(options.roughCellLimit);
  }
  return *relaxed;
}

/// Exactly, unless roughly is enough: where memory is short, or nothing of
/// interest is there.
void MemorySearch::relaxFully() {
  relax(cutoff);
  bool exact = relaxed->cost <= relaxed->lowerBound;
  bool cutOff = leastShare() * relaxed->lowerBound >= cutoff;
  bool tooLarge = relaxed->largestTable > double(options.cellLimit);
  bool tooFull = relaxed->cost < kIllegal && problem.memoryLimit &&
                 problem.peakBytes(relaxed->choice) > problem.memoryLimit;
  if (!exact && !cutOff && !tooLarge && !tooFull)
    relaxed = minimise(options.cellLimit);
}

/// Whether what is not proved yet is worth branch and bound.
bool MemorySearch::isOpen() const {
  if (!best)
    return true;
  return mayProve() && best->seconds - lowerBound > 1e-9 * best->seconds;
}

/// Whether branch and bound may find a first outcome, or prove something: in
/// larger problems only where it is the persistent terms that bind.
bool MemorySearch::isWorthProof() const {
  bool persistentBinds = isBound() && !active.empty();
  return !isHopeless() &&
         (isSmall() || (mayProve() && persistentBinds && (best || isCutOff())));
}

Expected<Solution> MemorySearch::run(double cutoffSeconds) {
  active.clear();
  known.clear();
  best.reset();
  work = 0;
  leastBytes.reset();
  cutoff = cutoffSeconds;
  estimate = 0;
  rowLimit = problem.memoryLimit;
  relaxFully();
  lowerBound = leastShare() * relaxed->lowerBound;
  if (cutoff < kIllegal && (relaxed->cost == kIllegal || isCutOff()))
    return make_error<NothingCheaper>(lowerBound);
  if (relaxed->cost == kIllegal)
    return createStringError(
        "no shardings of the ops fit together on this mesh");
  // Its outcome is of no interest.
  if (!isExact() && leastShare() * relaxed->cost >= cutoff)
    return withBound({relaxed->choice, problem.secondsOf(relaxed->choice),
                      problem.peakBytes(relaxed->choice), 0});
  offer(relaxed->choice);
  // Its outcome may be more: stages send, and lie on slower devices.
  constexpr double kEqual = 1e-9;
  bool isOutcome = best && best->seconds <= (1 + kEqual) * relaxed->cost;
  if (best && ((leastShare() == 1 && isOutcome) || !isOpen()))
    return withBound(*best);
  if (!fits(relaxed->choice)) {
    workLimit = options.multiplierWork;
    std::vector<unsigned> choice = relaxed->choice;
    isExact() ? findMultipliers(choice) : leadByRows(choice);
  }
  auto nothingFound = [&] { return !(best && best->seconds < cutoff); };
  if (lowerBound >= cutoff && nothingFound())
    return make_error<NothingCheaper>(lowerBound);
  bool isUnlikely = isCutOff();
  if (isOpen() && (isExact() || isWorthProof())) {
    workLimit = work + options.branchWork;
    branch();
  }
  if (isUnlikely && nothingFound())
    return make_error<NothingCheaper>(lowerBound);
  if (!best)
    return make_error<NotEnoughMemory>(memoryLimit(), leastBytes.value_or(0),
                                       isHopeless() ? kIllegal : lowerBound);
  return withBound(*best);
}

} // namespace autopar
