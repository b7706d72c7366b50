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
#include "NeighbourhoodSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// In larger problems branch and bound finds no first outcome that fits; in
/// those that are larger still it proves nothing.
static constexpr size_t kSmallProblem = 100, kMostToProve = 1000;
/// Of edges with more cells the budget pays for a few branches only.
static constexpr size_t kMostCells = size_t(1) << 22;

bool MemorySearch::mayProve() const {
  size_t cells = 0;
  for (const ProblemEdge &edge : problem.edges)
    cells += edge.seconds.size();
  return problem.nodes.size() <= kMostToProve && cells <= kMostCells;
}

MemorySearch::MemorySearch(const Problem &problem, const SolverOptions &options,
                           std::optional<Evaluator> outcomes)
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
  CostGraph graph = costsOf(problem, nodeWeight, edgeWeight);
  for (auto [node, choice] : fixed)
    for (size_t other = 0; other < graph.nodes[node].size(); ++other)
      if (other != choice)
        graph.nodes[node][other] = kIllegal;
  return graph;
}

/// Where several multipliers of the row, or of the persistent terms, are tried.
void MemorySearch::makeCore(size_t row) {
  if (!isSmall() && !mayProve())
    return;
  std::vector<ActiveRow> others = std::exchange(active, {});
  core =
      std::make_unique<MemoryCore>(problem, graphOf({}), activeRow(row).terms);
  active = std::move(others);
  rowOfCore = row;
  work += core->workOfChains();
}

bool MemorySearch::isOfCore(const Fixed &fixed) const {
  bool hasRows = all_of(active, [&](const ActiveRow &row) {
    return row.row == persistentRow() || row.row == rowOfCore;
  });
  return core && active.size() <= 1 && hasRows && core->mayFix(fixed);
}

/// Its lower bound is one for all that fits.
EliminationResult MemorySearch::minimise(size_t cellLimit, const Fixed &fixed,
                                         Effort effort) {
  // What the sum of seconds and multipliers may lose to rounding, which only
  // outcomes, summed up otherwise, tell from nothing.
  double rounding = isExact() ? 0 : 1e-12;
  double allowance = 0; // for what fits
  for (const ActiveRow &row : active)
    allowance += (1 + rounding) * row.multiplier * double(problem.memoryLimit);
  bool ofCore = isOfCore(fixed);
  // Outside of branches what is found counts, too.
  double limit =
      isBound()
          ? (ofCore && isTuning ? enough() : cutoff) / leastShare() + allowance
          : kIllegal;
  EliminationResult result =
      !ofCore ? eliminate(graphOf(fixed), cellLimit, limit, &messages, effort)
      : active.empty()
          ? core->minimise(0, {}, fixed, cellLimit, limit)
          : core->minimise(active.front().multiplier, active.front().terms,
                           fixed, cellLimit, limit);
  // Small tables cost more than their cells; messages take them many times.
  constexpr double kNodeWork = 1000, kMessageWork = 20;
  work += result.work + (ofCore ? kMessageWork * double(core->cells())
                                : kNodeWork * double(problem.nodes.size()));
  isOptimum = result.cost <= result.lowerBound;
  result.lowerBound -= allowance;
  return result;
}

/// Told once per run. What rows find far too full in one stage is so.
Evaluation MemorySearch::outcomeOf(const std::vector<unsigned> &choice) {
  constexpr int64_t kFar = 2; // times the limit
  int64_t bytes = problem.peakBytes(choice);
  bool isFar = problem.memoryLimit && bytes / kFar > problem.memoryLimit;
  if (isExact() || (isFar && leastShare() == 1))
    return {problem.secondsOf(choice), bytes};
  auto [it, isNew] = known.try_emplace(choice);
  if (isNew) {
    constexpr double kNodeWork = 20000;
    work += kNodeWork * double(problem.nodes.size());
    it->second = outcomes->of(choice);
  }
  return it->second;
}

void MemorySearch::offer(const std::vector<unsigned> &choice) {
  if (best && leastShare() * problem.secondsOf(choice) >= best->seconds)
    return;
  // Branches beside persistent memory have many that cannot fit.
  if (isTuning && problem.persistentBytes(choice) > problem.memoryLimit)
    return;
  Evaluation outcome = outcomeOf(choice);
  if (outcome.seconds < kIllegal)
    leastBytes = std::min(leastBytes.value_or(outcome.bytes), outcome.bytes);
  if (!fits(choice) || outcome.seconds >= (best ? best->seconds : kIllegal))
    return;
  best = Solution{choice, outcome.seconds, outcome.bytes, 0};
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

/// Exactly, or where that is too large as thoroughly as is asked, unless
/// roughly is enough: where memory is short, or little of interest is there.
void MemorySearch::relaxFully() {
  rough = false;
  relax(cutoff);
  double open = relaxed->cost - relaxed->lowerBound;
  bool cutOff = leastShare() * relaxed->lowerBound >= cutoff;
  bool tooLarge = relaxed->largestTable > double(options.cellLimit);
  bool isNear = open <= (tooLarge ? kWorthThorough * relaxed->lowerBound : 0);
  bool tooFull = relaxed->cost < kIllegal && problem.memoryLimit &&
                 problem.peakBytes(relaxed->choice) > problem.memoryLimit;
  if (isNear || cutOff || tooFull)
    return;
  if (!tooLarge || options.effort == Effort::Thorough) {
    EliminationResult before = std::move(*relaxed);
    relaxed = minimise(options.cellLimit, /*fixed=*/{}, options.effort);
    relaxed->lowerBound = std::max(relaxed->lowerBound, before.lowerBound);
    if (before.cost < relaxed->cost) {
      relaxed->cost = before.cost;
      relaxed->choice = std::move(before.choice);
    }
  }
  rough = relaxed->isRough;
}

/// Whether something is not proved yet.
bool MemorySearch::isOpen() const {
  return !best || best->seconds - lowerBound > 1e-9 * best->seconds;
}

/// Whether branch and bound may find a first outcome, or prove something: in
/// larger problems only where it is the persistent terms that bind.
bool MemorySearch::isWorthProof() const {
  if (isExact())
    return isSmall() || !best;
  bool persistentBinds = isBound() && !active.empty();
  return !isHopeless() &&
         (isSmall() || (mayProve() && persistentBinds && (best || isCutOff())));
}

/// Nodes that are chosen anew at once: two that share an edge, or one and those
/// nearest to it, as many as have few choices together.
std::vector<MemorySearch::Group> MemorySearch::groups() const {
  constexpr size_t kMostChoices = 1 << 12;
  std::vector<Group> result;
  Neighbours neighbours(problem.nodes.size());
  for (const ProblemEdge &edge : problem.edges) {
    neighbours[edge.a].push_back(edge.b);
    neighbours[edge.b].push_back(edge.a);
    result.push_back({edge.a, edge.b});
  }
  for (unsigned node = 0; node < problem.nodes.size(); ++node) {
    Group &group = result.emplace_back();
    size_t choices = 1;
    for (unsigned near : nearestFirst(neighbours, node)) {
      choices *= problem.nodes[near].choices();
      if (choices > kMostChoices)
        break;
      group.insert(near);
    }
  }
  return result;
}

/// Offers all choices of a group beside what is best.
void MemorySearch::chooseAnew(const Group &group) {
  std::vector<unsigned> choice = best->choice;
  for (unsigned node : group)
    choice[node] = 0;
  double each = double(problem.nodes.size() + problem.edges.size());
  for (auto node = group.begin(); node != group.end() && work < workLimit;) {
    work += each;
    offer(choice);
    for (node = group.begin();
         node != group.end() &&
         ++choice[*node] == problem.nodes[*node].choices();
         ++node)
      choice[*node] = 0;
  }
}

/// Gives a few nodes other choices, as long as that gains: what takes memory
/// that no row tells of can hide what fits from branches.
void MemorySearch::descend() {
  workLimit = work + options.branchWork;
  std::vector<Group> all = groups();
  double before = kIllegal;
  while (best->seconds < before && work < workLimit) {
    before = best->seconds;
    for (const Group &group : all)
      chooseAnew(group);
  }
}

Expected<Solution> MemorySearch::run(double cutoffSeconds) {
  active.clear();
  core.reset();
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
  if (best &&
      ((leastShare() == 1 && isOutcome) || !isOpen() || !isWorthProof()))
    return withBound(*best);
  if (!fits(relaxed->choice)) {
    rough = false;
    workLimit = work + options.multiplierWork;
    std::vector<unsigned> choice = relaxed->choice;
    isExact() ? findMultipliers(choice) : leadByRows(choice);
  }
  auto nothingFound = [&] { return !(best && best->seconds < cutoff); };
  if (lowerBound >= cutoff && nothingFound())
    return make_error<NothingCheaper>(lowerBound);
  bool isUnlikely = isCutOff();
  if (isOpen() && isWorthProof()) {
    workLimit = work + options.branchWork;
    branch();
    if (best && isOpen() && isSmall())
      descend();
  }
  if ((isUnlikely || (cutoff < kIllegal && lowerBound >= cutoff)) &&
      nothingFound())
    return make_error<NothingCheaper>(lowerBound);
  if (!best)
    return make_error<NotEnoughMemory>(memoryLimit(), leastBytes.value_or(0),
                                       isHopeless() ? kIllegal : lowerBound);
  return withBound(*best);
}

} // namespace autopar
